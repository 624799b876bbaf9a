"use client";

import { useState } from "react";
import { SvcProvider, useSvc } from "svc-sdk/react";

const user = { id: "user-in-react", email: "jane@example.com" };

function App() {
  const [said, setSaid] = useState("");
  const svc = useSvc();
  async function signUp() {
    // When a visitor has signed up in the browser:
    await svc.signup(user.id, user.email);
    setSaid("Welcome");
  }
  return <button onClick={signUp}>Sign up {said}</button>;
}

/** The tracker through React's context. */
export default function Page() {
  return (
    <SvcProvider programId={1} baseUrl="https://svc.example"><App /></SvcProvider>
  );
}
