"""The sandbox of this project's program, as its logged-in owner reaches it."""

from collections.abc import Callable
from typing import Any

from cli.integrator import programs
from cli.integrator.init import meant
from cli.integrator.output import Failure, Output
from cli.integrator.service import ServiceClient


def find(output: Output) -> tuple[ServiceClient, dict[str, Any]]:
    """Return the service as the account, and the sandbox: the project's program itself, or that program's."""
    service, program_id = meant(None, output)
    for each in programs.every(service):
        if each["sandbox_of"] is not None and program_id in {each["id"], each["sandbox_of"]}:
            return service, each | {"program_id": each["id"]}
    raise Failure("no_sandbox", f"Program {program_id} has no sandbox.", "Create it with `svc init --sandbox`.")


def delivery(service: ServiceClient, sandbox_id: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return how an event of Stripe's is delivered to a sandbox, without a signature."""

    def deliver(event: dict[str, Any]) -> dict[str, Any]:
        return service.call("POST", f"/api/programs/{sandbox_id}/sandbox/payment-events", event)

    return deliver
