"use client";

import { useEffect, useState } from "react";
import { loadSvc } from "svc-sdk";

const user = { id: "user-of-sdk", email: "jane@example.com" };

/** A page that loads the tracker of program 1 from NEXT_PUBLIC_SERVICE_BASE_URL. */
export default function Page() {
  const [times, setTimes] = useState(0);
  useEffect(() => void loadSvc(), []);
  function signUp() {
    const svc = loadSvc(); // the program and the URL come from SERVICE_PROGRAM_ID and SERVICE_BASE_URL
    svc.signup(user.id, user.email);
    setTimes(times + 1);
  }
  return <button onClick={signUp}>Sign up, Welcome {times}</button>;
}
