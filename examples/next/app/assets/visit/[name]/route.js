// app/assets/visit/[name]/route.js
const SERVICE = process.env.SERVICE_BASE_URL || "https://svc.example";
const TARGETS = { "app.js": "js/svc-tracker.js" };
for (const call of ["click", "lead", "handover", "redeem"]) TARGETS[call] = `api/v1/track/${call}`;
const FORWARDED = ["content-type", "user-agent", "origin", "purpose", "sec-purpose", "x-forwarded-for"];
const RETURNED = ["content-type", "cache-control", "etag", "retry-after"];

const only = (names, headers) => names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []));

async function forward(request, { params }) {
  const { name } = await params;
  if (!Object.hasOwn(TARGETS, name)) return new Response("Not found", { status: 404 });
  const url = `${SERVICE}/${TARGETS[name]}${new URL(request.url).search}`;
  const body = request.method === "POST" ? await request.arrayBuffer() : undefined;
  const headers = only(FORWARDED, request.headers);
  try {
    const answer = await fetch(url, { method: request.method, headers, body, signal: AbortSignal.timeout(5000) });
    return new Response(answer.body, { status: answer.status, headers: only(RETURNED, answer.headers) });
  } catch {
    return new Response("The service does not respond", { status: 502 });
  }
}

export { forward as GET, forward as POST };
