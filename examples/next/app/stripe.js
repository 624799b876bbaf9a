import Stripe from "stripe";

/** Return Stripe's client. With STRIPE_API_URL, a stand-in gets its calls. */
export function stripe() {
  const api = process.env.STRIPE_API_URL && new URL(process.env.STRIPE_API_URL);
  const elsewhere = api ? { host: api.hostname, port: api.port, protocol: api.protocol.slice(0, -1) } : {};
  return new Stripe(process.env.STRIPE_SECRET_KEY, { ...elsewhere, telemetry: false });
}
