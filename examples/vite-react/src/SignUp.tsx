import { useState } from "react";
import { useSvc } from "svc-sdk/react";

/** A shop's sign-up form: the tracker is told once the account is there. */
export function SignUp() {
  const svc = useSvc();
  const [said, setSaid] = useState("");

  async function signUp(form: FormData) {
    const email = String(form.get("email"));
    const userId = await createAccount(email);
    const { success, message, error } = await svc.signup(userId, email);
    setSaid(success ? `Welcome. ${message}` : `Welcome. (${message ?? error?.message})`);
  }

  return (
    <form action={signUp}>
      <input name="email" type="email" aria-label="E-mail" required />
      <button>Sign up</button>
      <p role="status">{said}</p>
    </form>
  );
}

/** Your own server's call; it also sends the lead with the program key, and that one settles. */
async function createAccount(email: string): Promise<string> {
  return `user-of-${email}`;
}
