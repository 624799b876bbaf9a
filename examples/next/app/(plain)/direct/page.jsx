import Script from "next/script";

const BASE = process.env.SERVICE_BASE_URL || "https://svc.example";
const PROGRAM = process.env.SERVICE_PROGRAM_ID || "1";

/** The tracker from the service's own URL. */
export default function Page() {
  return (
    <Script src={`${BASE}/js/svc-tracker.js`} data-svc-program-id={PROGRAM} strategy="afterInteractive" />
  );
}
