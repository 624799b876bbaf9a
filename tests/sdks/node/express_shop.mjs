/** An Express shop with the installed SDK. */

import express from "express";
import { tracking } from "svc-affiliate/express";

const app = express();
app.use(tracking({ timeout_ms: 500 }));

app.post("/sign-up", async (req, res) => {
  const { status, ok } = await req.track.lead({ customer_key: req.query.user, email: "jane@example.com" });
  res.json({ status, ok });
});

app.post("/buy", async (req, res) => {
  const { user, invoice } = req.query;
  const { status, ok } = await req.track.sale({ customer_key: user, transaction_id: invoice, amount_cents: 4900 });
  res.json({ status, ok });
});

app.post("/refund", async (req, res) => {
  const { status, ok } = await req.track.refund({ transaction_id: req.query.invoice });
  res.json({ status, ok });
});

app.listen(Number(process.argv[2]), "127.0.0.1", () => console.log("ready"));
