import { tracking } from "svc-affiliate/next";

/** A customer pays. */
export async function POST(request) {
  const query = new URL(request.url).searchParams;
  const [user, invoice] = [{ id: query.get("user") }, { id: query.get("invoice") }];
  const track = await tracking({ timeout_ms: 500 });
  const { status, ok } =
    await track.sale({ customer_key: user.id, transaction_id: invoice.id, amount_cents: 4900, currency: "USD" });
  return Response.json({ status, ok });
}
