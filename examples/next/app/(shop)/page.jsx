import Link from "next/link";
import { Decorated } from "./decorated";

/** The landing page. */
export default function Page() {
  return (
    <main>
      <h1>The shop</h1>
      <Link href="/register">Sign up</Link>
      <Decorated href="http://checkout.example/" />
    </main>
  );
}
