"""Commission rates: people write percent with two decimals, or cents; the database stores basis points, or cents."""

from decimal import Decimal

from storage.rules.commission import CommissionType
from storage.rules.errors import FieldError, ValidationError

MOST_CENTS = 10**9
Number = int | float


def stored(kind: CommissionType, commission_rate: Number) -> int:
    """Return a commission rate as it is stored. Raises ValidationError naming `commission_rate`."""
    if kind == CommissionType.PERCENT:
        return basis_points("commission_rate", commission_rate)
    if commission_rate != int(commission_rate) or not 0 <= commission_rate <= MOST_CENTS:
        wrong = f"Flat: an integer from 0 to {MOST_CENTS}, in cents per sale"
        raise ValidationError(fields=[FieldError("commission_rate", wrong)])
    return int(commission_rate)


def shown(kind: CommissionType, rate: int) -> Number:
    """Return a stored commission rate as people write it."""
    return percent(rate) if kind == CommissionType.PERCENT else rate


def basis_points(field: str, value: Number) -> int:
    """Return a percentage as basis points. Raises ValidationError naming the field: 0 to 100, two decimals."""
    points = Decimal(str(value)) * 100
    if not 0 <= points <= 100 * 100 or points != int(points):
        raise ValidationError(fields=[FieldError(field, "Percent: a number from 0 to 100 with at most two decimals")])
    return int(points)


def percent(bps: int) -> Number:
    """Return basis points as a percentage, whole ones without a point."""
    return bps // 100 if bps % 100 == 0 else bps / 100
