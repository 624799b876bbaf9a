import Script from "next/script";

/** The tracker from the service's own URL. */
export default function Page() {
  return <Script src="https://svc.example/js/svc-tracker.js" data-svc-program-id="1" strategy="afterInteractive" />;
}
