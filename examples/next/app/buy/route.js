import { tracking } from "svc-affiliate/next";

/** A customer pays. */
export async function POST(request) {
  const query = new URL(request.url).searchParams;
  const track = await tracking({ timeout_ms: 500 });
  const sale = { customer_key: query.get("user"), transaction_id: query.get("invoice"), amount_cents: 4900 };
  const { status, ok } = await track.sale(sale);
  return Response.json({ status, ok });
}
