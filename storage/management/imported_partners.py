"""Whom the lines of an import name: partners of the files and of the program, by code, by id and by e-mail address."""

import re
from collections import defaultdict
from itertools import chain, count
from typing import Any

from sqlalchemy import select

from storage.management import partners
from storage.management.import_report import Importing
from storage.rules.attribution import PartnerStatus, code_key
from storage.rules.tool_exports import FileKind, ImportLine
from storage.tables import partners as rows

LONGEST_MADE = 50


class ImportedPartners:
    """Enrols the partners of an import, and finds those whom its lines name.

    `_theirs` are the codes by the ids and addresses in the files, which come before the program's own (`_ours`).
    """

    def __init__(self, work: Importing) -> None:
        row = rows.c
        here = select(row.id, row.code, row.name, row.email, row.status).where(row.program_id == work.program.id)
        self._work = work
        self._known: dict[str, Any] = {}  # the partners of the program, by the key of their code
        self._ours, self._theirs = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        self._listed, self._disputed = set[str](), set[str]()
        self._to_end: dict[int, PartnerStatus] = {}
        for each in work.connection.execute(here.order_by(row.id)):
            key = code_key(each.code)
            self._known.setdefault(key, each)
            if each.email:
                self._ours[each.email.lower()].add(key)

    def enrol(self, line: ImportLine) -> None:
        """Enrol the partner whom a line describes, unless they are there. Raises LeftOutError, ServiceError."""
        email = line.partner_email.lower()
        of_address = [*sorted(self._theirs.get(email, ())), *sorted(self._ours.get(email, ()))]
        code = line.code or next((self._known[key].code for key in of_address), "")
        code = code or self._new_code(line.name or email.partition("@")[0])
        key = code_key(code)
        known = self._known.get(key)
        for name in filter(None, (line.partner_id, email)):
            self._theirs[name].add(key)
        if known is not None and _is_other(known, line):
            self._disputed.add(key)
            self._work.conflict(line, _belongs(known))
        if known is not None and key not in self._listed:
            self._work.report.there[FileKind.PARTNERS] += 1
        elif known is None:
            work, name = self._work, line.name or code
            about: dict[str, Any] = {"email": line.partner_email or None, "joined_at": line.at, "actor": work.actor}
            partner = partners.enrol(work.connection, work.program.id, name=name, code=code, **about, at=work.at)
            about = {"email": line.partner_email, "status": line.partner_status, "at": line.at}
            work.report.add(FileKind.PARTNERS, code=code, name=name, **about)
            work.ids["partners"].append(partner.id)
            if line.partner_status != PartnerStatus.ACTIVE:
                self._to_end[partner.id] = line.partner_status
            self._known[key] = partner
        self._listed.add(key)

    def named(self, line: ImportLine) -> Any:
        """Return the partner whom a line names. Raises LeftOutError, ValueError."""
        email = line.partner_email.lower()
        by_code = {code_key(line.code)} & self._known.keys() if line.code else set()
        by_address = self._theirs.get(email) or self._ours.get(email)
        found = [each for each in (by_code, self._theirs.get(line.partner_id), by_address) if each]
        if not found:
            name = next(filter(None, (line.code, email, line.partner_id)))
            raise ValueError(f"no partner {name[:64]!r}: import the partners' file too")
        chosen = set.intersection(*found) or found[0]
        partner = self._known[min(chosen)]
        if len(chosen) > 1 or not set.intersection(*found):
            codes = ", ".join(sorted(set.union(*found)))
            self._work.conflict(line, f"it names several partners: {codes}")
        elif chosen & self._disputed or _is_other(partner, line):
            self._work.conflict(line, _belongs(partner))
        if partner.status == PartnerStatus.INACTIVE:
            raise ValueError(f"the partner {partner.code!r} has left: activate them first")
        return partner

    def end(self) -> dict[int, str]:
        """Let those who have left leave, after their history is there; return the codes of all partners by id."""
        work = self._work
        for partner_id, status in self._to_end.items():
            changes = {"status": status}
            partners.change(work.connection, work.program.id, partner_id, changes, actor=work.actor, at=work.at)
        return {partner.id: partner.code for partner in self._known.values()}

    def _new_code(self, name: str) -> str:
        """Return a code that no partner has, made of a name."""
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_MADE] or "partner"
        return next(code for code in chain([base], (f"{base}-{n}" for n in count(2))) if code not in self._known)


def _belongs(known: Any) -> str:
    return f"the code {known.code!r} belongs to {known.name!r} {(known.email or '').lower()}".strip()


def _is_other(known: Any, line: ImportLine) -> bool:
    """Return whether a line describes someone else: by another address or, where one is missing, by another name."""
    if known.email and line.partner_email:
        return str(known.email).lower() != line.partner_email.lower()
    return bool(line.name) and known.name.lower() != line.name.lower()
