"""A Flask shop with the installed SDK."""

import sys
from typing import Any
from wsgiref.simple_server import make_server

from flask import Flask, request
from svc_affiliate.flask import track

app = Flask(__name__)
app.config["SVC_AFFILIATE"] = {"timeout_seconds": 0.5}


@app.post("/sign-up")
def sign_up() -> dict[str, Any]:
    """A visitor signs up."""
    result = track().lead(customer_key=request.args["user"], email="jane@example.com")
    return {"status": result.status, "ok": result.ok}


@app.post("/buy")
def buy() -> dict[str, Any]:
    """A customer pays."""
    invoice = request.args["invoice"]
    result = track().sale(customer_key=request.args["user"], transaction_id=invoice, amount_cents=4900)
    return {"status": result.status, "ok": result.ok}


@app.post("/refund")
def refund() -> dict[str, Any]:
    """A sale is refunded."""
    result = track().refund(transaction_id=request.args["invoice"])
    return {"status": result.status, "ok": result.ok}


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, app)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
