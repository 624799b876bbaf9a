import { tracking } from "svc-affiliate/next";

/** A visitor signs up: a route handler. The click id comes from the visitor's cookie. */
export async function POST(request) {
  const user = { id: new URL(request.url).searchParams.get("user"), email: "jane@example.com" };
  const track = await tracking({ timeout_ms: 500 });
  const { status, ok } = await track.lead({ customer_key: user.id, email: user.email });
  return Response.json({ status, ok });
}
