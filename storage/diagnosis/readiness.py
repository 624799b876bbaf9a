"""Readiness: what a program lacks for its first credited sale, as gates of which one is the blocker."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import identifier_health, key_rotation
from storage.diagnosis.identifier_health import HealthState, IdentifierHealth
from storage.diagnosis.key_rotation import KeyRotation
from storage.engine.statements import read_statement
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.reports import checklist
from storage.rules.attribution import ProgramStatus
from storage.rules.keys import Rotation, rotation_state
from storage.rules.outcome import State
from storage.tables.columns import Timestamp

ONGOING = timedelta(hours=24)
RECENT = timedelta(days=7)
_REJECTED_KINDS = read_statement("rejected_kinds")
_WRONG_KEYS = read_statement("wrong_keys", first_at=Timestamp, last_at=Timestamp)


class ReadinessGate(NamedTuple):
    """One gate: when it was first proved, and what to do while it is not passed."""

    gate: str
    state: State
    verified_at: datetime | None
    next_action: str | None


class Readiness(NamedTuple):
    """All gates in order; `blocker` is the first that fails, else the first unknown one, None when all pass."""

    ready: bool
    blocker: str | None
    gates: list[ReadinessGate]
    identifier_health: IdentifierHealth
    key_rotation: KeyRotation


def check_readiness(connection: Connection, program_id: int, *, at: datetime, base_url: str) -> Readiness:
    """Return the readiness of a program; `base_url` is the service's URL, for the code to copy. Raises NotFound."""
    program = read_program(connection, program_id)
    health = identifier_health.check_keys(connection, program_id)
    is_active = program.settings.status == ProgramStatus.ACTIVE
    key_problem = None
    is_enrolled = newest_code(connection, program_id) is not None
    if rotation_state(program.rotate_by, at) != Rotation.ACTIVE:
        due = f" before {program.rotate_by:%Y-%m-%d %H:%M} UTC" if program.rotate_by else ""
        key_problem = f"An owner regenerates the program key{due}, and its new value is deployed."
    identifiers = _gate("identifiers_match", health.groups[0].likely_mapping if health.groups else None)
    if health.state == HealthState.UNKNOWN:
        compare = "Send leads and sales with the same customer_key; they are compared once both have arrived."
        identifiers = ReadinessGate("identifiers_match", State.UNKNOWN, None, compare)
    gates = [
        _gate("program_active", None if is_active else "An owner sets the program's status to active."),
        _gate("partner_enrolled", None if is_enrolled else "Enrol a partner, or set one to active."),
        *_integrated(connection, program_id, base_url),
        _gate("program_key_current", key_problem),
        check_key_accepted(connection, program_id, at=at),
        identifiers,
    ]
    failing = [gate.gate for gate in gates if gate.state == State.FAIL]
    waiting = [gate.gate for gate in gates if gate.state == State.UNKNOWN]
    blocker = next(iter(failing + waiting), None)
    rotation = key_rotation.check_rotation(connection, program_id, at=at)
    return Readiness(blocker is None, blocker, gates, health, rotation)


def check_key_accepted(connection: Connection, program_id: int, *, at: datetime) -> ReadinessGate:
    """Return the gate of events lost to a wrong key: failed while they still come, unknown until a week has passed."""
    calls, first_at, last_at = connection.execute(_WRONG_KEYS, {"program_id": program_id}).one()
    if last_at is None or last_at < at - RECENT:
        return _gate("program_key_accepted", None)
    if last_at >= at - ONGOING:
        state = State.FAIL
        fix = "This is still happening: deploy the current program key on every server and job, then send them again."
    else:
        state = State.UNKNOWN
        fix = "None was rejected in the last 24 hours: send the lost events again with the current key."
    events = f"{calls} {'event was' if calls == 1 else 'events were'} rejected because of the program key"
    times = f"since {first_at:%Y-%m-%d %H:%M} UTC, the last at {last_at:%Y-%m-%d %H:%M} UTC"
    return ReadinessGate("program_key_accepted", state, None, f"{events} {times}. {fix}")


def _gate(name: str, problem: str | None) -> ReadinessGate:
    return ReadinessGate(name, State.FAIL if problem else State.PASS, None, problem)


def _integrated(connection: Connection, program_id: int, base_url: str) -> Iterator[ReadinessGate]:
    """Yield the checklist's gates. A live event also proves its test; missing live traffic is unknown, not failed."""
    listed = checklist.list_steps(connection, program_id, base_url=base_url)[len(checklist.FIRST_ACTIONS) :]
    steps = {step.step: step for step in listed}
    tried = set(connection.execute(_REJECTED_KINDS, {"program_id": program_id}).scalars())
    for name, step in steps.items():
        way, _, kind = name.partition("_")
        proof = steps[f"live_{kind}"] if way == "test" and not step.done else step
        if proof.done:
            yield ReadinessGate(name, State.PASS, proof.verified_at, None)
        elif way == "live" and kind not in tried:
            yield ReadinessGate(name, State.UNKNOWN, None, step.next_action)
        else:
            lost = f"Every {kind} was rejected so far: read the program's rejected calls."
            yield ReadinessGate(name, State.FAIL, None, lost if way == "live" else step.next_action)
