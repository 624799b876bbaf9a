import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { SvcProvider } from "svc-sdk/react";
import { SignUp } from "./SignUp";

const { VITE_SVC_BASE_URL, VITE_SVC_PROGRAM_ID } = import.meta.env;

createRoot(document.getElementById("app")!).render(
  <StrictMode>
    <SvcProvider programId={Number(VITE_SVC_PROGRAM_ID ?? 1)} baseUrl={VITE_SVC_BASE_URL ?? "http://127.0.0.1:8000"} debug>
      <SignUp />
    </SvcProvider>
  </StrictMode>,
);
