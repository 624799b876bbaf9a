"use client";

import { useEffect } from "react";
import { loadSvc } from "svc-sdk";

/** A page that loads the tracker of program 1 from NEXT_PUBLIC_SERVICE_BASE_URL. */
export default function Page() {
  useEffect(() => {
    loadSvc(1); // the URL of the service comes from SERVICE_BASE_URL
  }, []);
  return <h1>The shop</h1>;
}
