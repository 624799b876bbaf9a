import { redirect } from "next/navigation";
import { tracking } from "svc-affiliate/next";

/** A visitor signs up with a form: a server action. */
async function join(form) {
  "use server";
  const track = await tracking({ timeout_ms: 500 });
  const { status } = await track.lead({ customer_key: form.get("user") });
  redirect(`/join?status=${status}`);
}

/** The form, which works without JavaScript too. */
export default async function Page({ searchParams }) {
  const { status } = await searchParams;
  return (
    <form action={join}>
      <input name="user" required />
      <button>Join</button>
      <p>{status}</p>
    </form>
  );
}
