"use server";

import { randomUUID } from "node:crypto";
import { revalidatePath } from "next/cache";
import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { after } from "next/server";
import { track } from "../affiliate.mjs";
import { stripe } from "../stripe";
import { create, current } from "./accounts";

/** Create the account; a referred visitor becomes a lead. */
export async function signUp(form) {
  const user = await create(String(form.get("email")));
  const clickId = (await cookies()).get("svc_click_id")?.value;
  if (clickId) {
    user.clickId = clickId; // keep it with the user, in a column of your own
    after(() => track("lead", { click_id: clickId, customer_key: String(user.id), email: user.email }));
  }
  redirect("/account");
}

/** Subscribe with Stripe's checkout: a trial costs nothing, and Stripe reports the first payment after it to the service. */
export async function startTrial() {
  const user = await current();
  const clickId = (await cookies()).get("svc_click_id")?.value ?? "";
  const metadata = { svc_click_id: clickId, svc_customer_key: String(user.id), program_id: process.env.SERVICE_PROGRAM_ID };
  const session = await stripe().checkout.sessions.create({
    mode: "subscription",
    line_items: [{ price: "price_monthly", quantity: 1 }],
    metadata,
    subscription_data: { metadata, trial_period_days: 14 },
    success_url: `http://${(await headers()).get("host")}/account`,
  });
  user.plan = "trial";
  redirect(session.url);
}

/** Take a payment of the shop's own billing. */
export async function pay() {
  const user = await current();
  const invoice = { id: `inv-${randomUUID()}`, isRefunded: false };
  user.plan = "paid";
  user.invoices.push(invoice);
  const sale = { transaction_id: invoice.id, amount_cents: 4900, currency: "USD" };
  after(() => track("sale", { click_id: user.clickId, customer_key: String(user.id), ...sale }));
  revalidatePath("/account");
}

/** Give a part of a payment back. */
export async function refundInvoice(id) {
  const user = await current();
  const invoice = user.invoices.find((each) => each.id === id);
  const refund = { id: `re-${randomUUID()}` };
  invoice.isRefunded = true;
  after(() => track("refund", { transaction_id: invoice.id, refund_id: refund.id, refund_amount_cents: 900 }));
  revalidatePath("/account");
}
