"""Every program setting, walked from its declaration: table, APIs, OpenAPI document, form and MCP agree."""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from sqlalchemy import String

from storage.rules.setting_kinds import Kind, Setting
from storage.rules.settings import SETTINGS
from storage.tables import commission_terms, programs
from storage.tracking import currencies
from tests.documented import DOCUMENT
from tests.security import operations
from tests.tracking_api.dashboard.reading import Fields, form_of
from tests.world import NOW

OWNER, AGENT = "/api", "/api/agent/v1"
OTHER = {
    Kind.TEXT: ("Renamed", "Acme partners"),
    Kind.HOST: ("renamed.example", "acme.example"),
    Kind.HOSTS: ("pay.example b.example:8443", "c.example"),
    Kind.CURRENCY: ("EUR", "USD"),
    Kind.CENTS: (1234, 0),
    Kind.IBAN: ("DE89370400440532013000", "NL91ABNA0417164300"),
    Kind.SWITCH: (True, False),
    Kind.PERCENT: (12.5, 20),
    Kind.COMMISSION_RATE: (33, 20),
}
WRONG: dict[Kind, list[Any]] = {
    Kind.TEXT: ["", "  "],
    Kind.HOST: ["//"],
    Kind.HOSTS: ["a.example //"],
    Kind.CURRENCY: ["US"],
    Kind.IBAN: ["DE00"],
    Kind.CHOICE: ["none of them"],
    Kind.PERCENT: [-1, 0.001],
    Kind.COMMISSION_RATE: [-1, 100.01, 0.125, 1e300],
}


class Surfaces(NamedTuple):
    """The service over a program of Acme's, with a key for each API."""

    client: httpx.AsyncClient
    program_id: int
    keys: dict[str, str]

    async def program(self) -> Any:
        return (await self.call("GET", OWNER)).json()

    async def call(self, method: str, api: str, body: Fields | None = None, path: str = "") -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.keys[api]}"}
        return await self.client.request(method, f"{api}/programs/{self.program_id}{path}", json=body, headers=headers)

    async def page(self, form: Fields | None = None) -> httpx.Response:
        """Return the settings page, or what follows when its form is posted."""
        cookie = {"Cookie": f"svc_session={self.keys[OWNER]}"}
        headers = cookie | {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
        method, path = ("POST" if form else "GET"), f"/programs/{self.program_id}/settings"
        return await self.client.request(method, path, data=form, headers=headers)


@pytest.fixture
async def surfaces(sqlite_url: str) -> AsyncIterator[Surfaces]:
    async with operations.serving(sqlite_url) as service:
        service.client.event_hooks = {}  # pages are not in the document
        program = await service.scene.acme.beside()
        await program.store.write(currencies.load, [(NOW.date(), "USD", "1.1")])
        keys = {OWNER: service.scene.sessions["owner"], AGENT: (await program.issue()).secret}
        yield Surfaces(service.client, program.program_id, keys)


def another(setting: Setting, current: Any) -> Any:
    """Return a valid value of a setting that is not the current one, as the APIs write it."""
    if setting.kind == Kind.CHOICE:
        values: tuple[Any, ...] = tuple(option.value for option in setting.options)
    elif setting.kind == Kind.NUMBER:
        values = (setting.highest, setting.lowest)
    else:
        values = OTHER[setting.kind]
    return next(value for value in values if value != current)


def typed(setting: Setting, value: Any) -> str:
    """Return a value as people type it."""
    if setting.kind == Kind.SWITCH:
        return str(value).lower()
    return f"{value / 100:.2f}" if setting.kind == Kind.CENTS else str(value)


def body_of(setting: Setting, value: Any) -> dict[str, Any]:
    """Return the body that changes a setting: a new commission type needs a rate."""
    rate = {"commission_rate": 20} if setting.name == "commission_type" else {}
    return {setting.public_name: value, **rate}


def test_every_column_that_describes_a_program_is_a_setting_in_table_and_database(sqlite_template: Path):
    others = {"id", "workspace_id", "sandbox_of", "terms_version", "revision", "created_at"}
    of_terms = {"program_id", "version", "created_at", "by_agent", "partner_id", "partner_group", "ended_at"}
    for table, is_term, besides in ((programs, False, others), (commission_terms, True, of_terms)):
        settings = [setting for setting in SETTINGS if setting.is_term is is_term]
        with closing(sqlite3.connect(sqlite_template)) as connection:
            required = {row[1]: bool(row[3]) for row in connection.execute(f"PRAGMA table_info({table.name})")}

        assert {column.name for column in table.c} - besides == {setting.name for setting in settings}
        for setting in settings:
            column = table.c[setting.name]
            assert (column.nullable, required[setting.name]) == (setting.is_nullable, not setting.is_nullable), setting
            assert isinstance(column.type, String) == isinstance(another(setting, None), str), setting


async def test_an_owner_changes_it_alone_as_the_log_says_and_a_wrong_value_is_named_and_changes_nothing(
    surfaces: Surfaces,
):
    changes: set[tuple[str, str, str]] = set()
    for rate in ({}, {"commission_rate": 1.5}):
        await rejected(surfaces, "commission_rate", {"commission_type": "flat", **rate})
    for setting in SETTINGS:
        before = await surfaces.program()
        value = another(setting, before[setting.public_name])

        for wrong in WRONG.get(setting.kind, [-1]):
            await rejected(surfaces, setting.public_name, {setting.public_name: wrong})
        unchanged, new = await surfaces.program(), body_of(setting, value)
        changed = await surfaces.call("PATCH", OWNER, {**before, **new, "unknown": 1})
        changes |= {(name, str(before[name]), str(new[name])) for name in new if new[name] != before[name]}

        assert unchanged == before, setting
        assert (changed.status_code, changed.json()[setting.public_name]) == (200, value), setting
        assert await surfaces.program() == {**before, **new}, setting
    log = (await surfaces.call("GET", OWNER, path="/audit-log?limit=200")).json()["data"]
    assert {(each["field"], str(each["before"]), str(each["after"])) for each in log} == changes


async def rejected(surfaces: Surfaces, name: str, body: Fields) -> None:
    answer = await surfaces.call("PATCH", OWNER, body)
    assert answer.status_code == 400, body
    assert [field["field"] for field in answer.json()["error"]["fields"]] == [name]


async def test_an_agent_changes_it_unless_it_is_the_owners(surfaces: Surfaces):
    assert (await surfaces.call("PATCH", OWNER, {"frozen_settings": []}, "/agent-caps")).status_code == 200
    for setting in SETTINGS:
        value = another(setting, (await surfaces.program())[setting.public_name])

        changed = await surfaces.call("PATCH", AGENT, body_of(setting, value))

        assert changed.status_code == 200, setting
        assert (changed.json()[setting.public_name] == value) is not setting.owner_only, setting


async def test_the_settings_page_shows_it_and_saves_it(surfaces: Surfaces):
    fixed = {"commission_type": "percent", "commission_rate": 20, "lead_auth_policy": "server_required"}
    for setting in SETTINGS:
        await surfaces.call("PATCH", OWNER, fixed)
        value = another(setting, (await surfaces.program())[setting.public_name])
        page = (await surfaces.page()).text
        texts = (setting.label, setting.description, setting.unit, setting.if_empty)

        saved = await surfaces.page(form_of(page, "Save settings")[1] | {setting.form_name: typed(setting, value)})

        assert [text for text in texts if escape(text, quote=False) not in page.replace("&#39;", "'")] == [], setting
        assert saved.status_code == 303, (setting, saved.text)
        assert (await surfaces.program())[setting.public_name] == value, setting


def test_the_openapi_document_and_assistants_describe_it():
    schemas = DOCUMENT["components"]["schemas"]
    published = {name: schemas[name]["properties"] for name in ("Program", "ProgramChange", "NewProgram")}
    for setting in SETTINGS:
        name = setting.public_name
        changed = published["ProgramChange"][name]
        names_default = f"New programs have {json.dumps(setting.default)}." in changed["description"]

        assert all(setting.description in fields[name]["description"] for fields in published.values()), name
        assert (name in schemas["AgentProgramChange"]["properties"]) is not setting.owner_only, name
        assert (name in schemas["NewProgram"]["required"]) is setting.is_required, name
        assert names_default is not setting.is_required, name
