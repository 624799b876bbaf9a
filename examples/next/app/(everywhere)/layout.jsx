import { SvcTracker } from "svc-sdk/next";

/** Every page under it has the tracker. */
export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        {children}
        <SvcTracker scriptUrl="/assets/visit/app.js" callsUrl="/assets/visit/" />
      </body>
    </html>
  );
}
