// affiliate.mjs
const BASE = process.env.SERVICE_BASE_URL || "https://svc.example";

/** Report to the affiliate program. It never throws or rejects, and gives up after 2 seconds. */
export async function track(call, body) {
  try {
    const response = await fetch(`${BASE}/api/v1/track/${call}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.SERVICE_API_KEY}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(2000),
    });
    const { error } = await response.json();
    // Nothing is wrong if the sale is already recorded, or no partner sent this customer.
    if (error && !error.same_payload && error.code !== "customer_not_found")
      console.warn(`affiliate ${call}: ${error.code}: ${error.message}`, body.transaction_id ?? "");
  } catch (problem) {
    console.warn(`affiliate ${call} not sent: ${problem}`, body?.transaction_id ?? "");
  }
}
