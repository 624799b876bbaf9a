"use client";

import { useState } from "react";
import { SvcProvider, useSvc } from "svc-sdk/react";

const user = { id: "user-in-react", email: "jane@example.com" };

function App() {
  const [times, setTimes] = useState(0);
  const svc = useSvc();
  function signUp() {
    // When a visitor has signed up in the browser; your page does not wait:
    svc.signup(user.id, user.email);
    setTimes(times + 1);
  }
  return <button onClick={signUp}>Sign up, Welcome {times}</button>;
}

/** The tracker through React's context. */
export default function Page() {
  return (
    <SvcProvider><App /></SvcProvider>
  );
}
