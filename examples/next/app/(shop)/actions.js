"use server";

import { randomUUID } from "node:crypto";
import { revalidatePath } from "next/cache";
import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { after } from "next/server";
import { track } from "../affiliate.mjs";
import { create, current } from "./accounts";

/** Create the account; a referred visitor becomes a lead. */
export async function signUp(form) {
  const user = await create(String(form.get("email")));
  const clickId = (await cookies()).get("svc_click_id")?.value;
  if (clickId) after(() => track("lead", { click_id: clickId, customer_key: String(user.id), email: user.email }));
  redirect("/account");
}

/** Start the trial, which costs nothing: there is no sale to report. */
export async function startTrial() {
  const user = await current();
  user.plan = "trial";
  revalidatePath("/account");
}

/** Take a payment: the first after the trial, or a renewal. */
export async function pay() {
  const user = await current();
  const invoice = { id: `inv-${randomUUID()}`, isRefunded: false };
  user.plan = "paid";
  user.invoices.push(invoice);
  after(() => track("sale", { customer_key: String(user.id), transaction_id: invoice.id, amount_cents: 4900, currency: "USD" }));
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
