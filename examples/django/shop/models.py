"""Users, and orders: what an account, or a guest, has paid."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A user, with the click that brought them."""

    click_id = models.CharField(max_length=64, null=True)


class Order(models.Model):
    """A paid order."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="orders")
    is_refunded = models.BooleanField(default=False)


class Trial(models.Model):
    """A trial, which costs nothing."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
