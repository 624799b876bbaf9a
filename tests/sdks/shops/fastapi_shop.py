"""A FastAPI shop with the installed SDK."""

import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from svc_affiliate.fastapi import Tracking

app = FastAPI()
app.state.svc_affiliate = {"timeout_seconds": 0.5}


@app.post("/sign-up")
async def sign_up(user: str, track: Tracking) -> dict[str, Any]:
    """A visitor signs up."""
    result = await track.lead(customer_key=user, email="jane@example.com")
    return {"status": result.status, "ok": result.ok}


@app.post("/buy")
async def buy(user: str, invoice: str, track: Tracking) -> dict[str, Any]:
    """A customer pays."""
    result = await track.sale(customer_key=user, transaction_id=invoice, amount_cents=4900)
    return {"status": result.status, "ok": result.ok}


@app.post("/refund")
async def refund(invoice: str, track: Tracking) -> dict[str, Any]:
    """A sale is refunded."""
    result = await track.refund(transaction_id=invoice)
    return {"status": result.status, "ok": result.ok}


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_config=None)).run(sockets=[listening])
