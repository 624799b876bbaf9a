import { Track } from "svc-affiliate";

const track = new Track({ timeout_ms: 500 });

/** A sale is refunded, as a webhook of the payment processor may report it: there is no visitor. */
export async function POST(request) {
  const invoice = { id: new URL(request.url).searchParams.get("invoice") };
  const refund = { id: `re-${invoice.id}` };
  const { status, ok } = await track.refund({ transaction_id: invoice.id, refund_id: refund.id });
  return Response.json({ status, ok });
}
