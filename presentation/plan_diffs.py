"""The diffs of plans: whether they are the same when a plan is applied, and the steps that take back what they say."""

import json
from collections import ChainMap
from collections.abc import Callable
from itertools import groupby
from typing import Any

from presentation.plan_steps import PlanStep
from storage.lists.plans import Objects


def place(change: dict[str, Any]) -> str:
    """Return what a change is of: two plans that change the same conflict."""
    return json.dumps([change["subject_id"], change["field"] or change["action"]])


def facts(diff: Objects) -> list[str]:
    """Return what must be the same when a plan is applied: not the ids and amounts of what is created only then."""
    stable = ([each[name] for name in ("action", "field", "before")] + [_sets(each) and each["after"]] for each in diff)
    subjects = (each["subject_id"] if each["before"] is not None else None for each in diff)
    return sorted(map(json.dumps, zip(stable, subjects, strict=True)))


def _sets(change: dict[str, Any]) -> bool:
    """Return whether a change gives something that there is a new value."""
    return bool(change["field"]) or change["action"] == "partner.terms"


def reverse(diff: Objects) -> list[PlanStep]:
    """Return the steps that take back what can be taken back, the last change first."""
    by_subject = groupby(diff, lambda each: (each["action"], each["subject_id"] or each["field"]))
    found = [(REVERTED_BY.get(action), subject, [*changes]) for (action, subject), changes in by_subject]
    return [taken_back(subject, changes) for taken_back, subject, changes in reversed(found) if taken_back]


def final(diff: Objects) -> list[str]:
    """Return the actions that cannot be taken back."""
    return list(dict.fromkeys(each["action"] for each in diff if each["action"] not in REVERTED_BY))


def continues(applied: Objects, reverted: Objects) -> bool:
    """Return whether fields still have the values that the applied plan gave them."""
    left = {place(each): each["after"] for each in applied if _sets(each)}
    return all(left.get(place(each), each["before"]) == each["before"] for each in reverted)


def _before(changes: Objects) -> dict[str, Any]:
    return {each["field"]: each["before"] for each in changes}


def _terms(path: str, changes: Objects) -> PlanStep:
    """Return the step that gives a partner, or a group, the own terms and the group that they had, or none."""
    own = [each["before"] or {"commission_rate": None} for each in changes if each["field"] != "group"]
    group = [{"group": each["before"]} for each in changes if each["field"] == "group"]
    return PlanStep("PUT", f"{path}/terms", dict(ChainMap(*own, *group)))


def _move(subject: int, changes: Objects) -> PlanStep:
    before, after = (changes[0][name] for name in ("before", "after"))
    return PlanStep("POST", f"/customers/{subject}/move", after | before)


def _take_back(subject: int, changes: Objects) -> PlanStep:
    given = changes[0]["after"]
    amount = {"partner_id": subject, "amount_cents": -given["amount_cents"]}
    return PlanStep("POST", "/adjustments", amount | {"reason": given["reason"]})


REVERTED_BY: dict[str, Callable[[Any, Objects], PlanStep]] = {  # what takes an action back; others are final
    "program.change": lambda _, changes: PlanStep("PATCH", "", _before(changes)),
    "partner.change": lambda subject, changes: PlanStep("PATCH", f"/partners/{subject}", _before(changes)),
    "partner.enrol": lambda subject, _: PlanStep("PATCH", f"/partners/{subject}", {"status": "inactive"}),
    "partner.adjust": _take_back,
    "partner.terms": lambda subject, changes: _terms(f"/partners/{subject}", changes),
    "partner.group_terms": lambda group, changes: _terms(f"/partner-groups/{group}", changes),
    "coupon.create": lambda subject, _: PlanStep("DELETE", f"/coupons/{subject}", {}),
    "customer.move": _move,
}
