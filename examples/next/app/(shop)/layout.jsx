import Script from "next/script";

/** Every page of the shop: the tracker comes from the shop's own domain, under names of its own. */
export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        {children}
        <Script src="/assets/visit/app.js" data-svc-program-id="1" data-svc-calls="/assets/visit/" strategy="afterInteractive" />
      </body>
    </html>
  );
}
