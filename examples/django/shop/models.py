"""Orders: what an account, or a guest, has paid."""

from django.conf import settings
from django.db import models


class Order(models.Model):
    """A paid order."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="orders")
    is_refunded = models.BooleanField(default=False)


class Trial(models.Model):
    """A trial, which costs nothing."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
