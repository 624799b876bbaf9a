"""The store's pages."""

from django.urls import path

from . import views

urlpatterns = [
    path("", views.home),
    path("register", views.register),
    path("account", views.account),
    path("trial", views.start_trial),
    path("pay", views.pay),
    path("refund/<int:order_id>", views.refund_order),
    path("guest", views.buy_as_guest),
]
