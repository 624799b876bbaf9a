import { pay, refundInvoice, startTrial } from "../actions";
import { current } from "../accounts";

/** The account: a trial, payments and refunds. */
export default async function Page() {
  const user = await current();
  if (!user) return <p>Please sign up.</p>;
  return (
    <main>
      <h1>Welcome</h1>
      <p id="user">{user.id}</p>
      <p id="plan">{user.plan}</p>
      <form action={startTrial}><button>Start the trial</button></form>
      <form action={pay}><button>Pay</button></form>
      <ul>
        {user.invoices.map((invoice) => (
          <li key={invoice.id}>
            <span className="invoice">{invoice.id}</span> <span>{invoice.isRefunded ? "refunded" : "paid"}</span>
            <form action={refundInvoice.bind(null, invoice.id)}><button>Refund</button></form>
          </li>
        ))}
      </ul>
    </main>
  );
}
