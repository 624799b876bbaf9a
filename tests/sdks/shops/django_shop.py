"""A Django shop with the installed SDK: an ordinary and an asynchronous view."""

import sys
from types import SimpleNamespace
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="of the tests", SVC_AFFILIATE={"timeout_seconds": 0.5}
)
django.setup()

from svc_affiliate.django import atrack, track  # noqa: E402 - a real shop's settings are a module


async def sign_up(request: HttpRequest) -> JsonResponse:
    """A visitor signs up."""
    user = SimpleNamespace(id=request.GET["user"], email="jane@example.com")
    result = await atrack(request).lead(customer_key=user.id, email=user.email)
    return JsonResponse({"status": result.status, "ok": result.ok})


def buy(request: HttpRequest) -> JsonResponse:
    """A customer pays."""
    user, invoice = SimpleNamespace(id=request.GET["user"]), SimpleNamespace(id=request.GET["invoice"])
    result = track(request).sale(customer_key=user.id, transaction_id=invoice.id, amount_cents=4900, currency="USD")
    return JsonResponse({"status": result.status, "ok": result.ok})


def refund(request: HttpRequest) -> JsonResponse:
    """A sale is refunded."""
    invoice = SimpleNamespace(id=request.GET["invoice"])
    refund = SimpleNamespace(id=f"re-{invoice.id}")
    result = track(request).refund(transaction_id=invoice.id, refund_id=refund.id)
    return JsonResponse({"status": result.status, "ok": result.ok})


urlpatterns = [path("sign-up", sign_up), path("buy", buy), path("refund", refund)]

if __name__ == "__main__":
    server = make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application())
    sys.stdout.write("ready\n")
    server.serve_forever()
