"""Sign-up, trial, purchase, refund and guest checkout; each reports to the affiliate program what it has to."""

from types import SimpleNamespace

from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from .affiliate import track
from .models import Order, Trial, User


def home(request):
    """Show the landing page."""
    return render(request, "home.html")


def register(request):
    """Create the account; a referred visitor becomes a lead."""
    if request.method != "POST":
        return render(request, "register.html")
    user = User.objects.create_user(f"user{User.objects.count() + 1}", request.POST["email"])
    login(request, user)
    # In your sign-up view, when the account exists:
    click_id = request.COOKIES.get("svc_click_id")
    if click_id:
        user.click_id = click_id  # keep it with the user, in a column of your own
        user.save()
        track("lead", click_id=click_id, customer_key=str(user.id), email=user.email)
    return redirect("/account")


@login_required(login_url="/register")
def account(request):
    """Show the account."""
    plan = "paid" if request.user.orders.exists() else "trial" if hasattr(request.user, "trial") else "none"
    return render(request, "account.html", {"plan": plan})


@require_POST
@login_required(login_url="/register")
def start_trial(request):
    """Start the trial: there is no sale to report."""
    Trial.objects.get_or_create(user=request.user)
    return redirect("/account")


@require_POST
@login_required(login_url="/register")
def pay(request):
    """Take a payment: the first after the trial, or another."""
    user = request.user
    order = Order.objects.create(user=user)
    invoice = SimpleNamespace(id=f"order-{order.id}")
    # When a payment has succeeded:
    sale = {"transaction_id": invoice.id, "amount_cents": 4900, "currency": "USD"}
    track("sale", click_id=user.click_id, customer_key=str(user.id), **sale)
    return redirect("/account")


@require_POST
@login_required(login_url="/register")
def refund_order(request, order_id):
    """Give a part of an order's price back."""
    order = get_object_or_404(Order, id=order_id, user=request.user)
    order.is_refunded = True
    order.save()
    invoice, refund = SimpleNamespace(id=f"order-{order.id}"), SimpleNamespace(id=f"refund-{order.id}")
    # When a payment was refunded:
    track("refund", transaction_id=invoice.id, refund_id=refund.id, refund_amount_cents=900)
    return redirect("/account")


@require_POST
def buy_as_guest(request):
    """Sell to a guest: without an account there is no lead and no customer_key, so the click names the customer."""
    order = Order.objects.create()
    click_id = request.COOKIES.get("svc_click_id")
    if click_id:
        track("sale", click_id=click_id, transaction_id=f"order-{order.id}", amount_cents=4900, currency="USD")
    return render(request, "thanks.html")
