import { randomUUID } from "node:crypto";
import { cookies } from "next/headers";

const accounts = (globalThis.accounts ??= new Map()); // a real shop has a table

/** Create an account, and sign its user in. */
export async function create(email) {
  const user = { id: `user-${randomUUID()}`, email, plan: "none", invoices: [] };
  accounts.set(user.id, user);
  (await cookies()).set("session", user.id, { httpOnly: true, sameSite: "lax" });
  return user;
}

/** Return the signed-in user. */
export async function current() {
  return accounts.get((await cookies()).get("session")?.value);
}
