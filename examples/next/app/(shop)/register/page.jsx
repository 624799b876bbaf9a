import { signUp } from "../actions";

/** The sign-up. */
export default function Page() {
  return (
    <form action={signUp}>
      <input name="email" type="email" aria-label="E-mail" required />
      <button>Sign up</button>
    </form>
  );
}
