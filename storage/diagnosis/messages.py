"""The message of each outcome: what it means, and the smallest change that would have credited the sale."""

import tomllib
from pathlib import Path

from storage.rules.errors import BY_CODE
from storage.rules.outcome import OutcomeMessage

_TEXTS = tomllib.loads(Path(__file__).with_name("messages.toml").read_text(encoding="utf-8"))
MESSAGES = {code: OutcomeMessage(error.message, error.hint) for code, error in BY_CODE.items()} | {
    outcome: OutcomeMessage(said["text"], said.get("change")) for outcome, said in _TEXTS["outcomes"].items()
}
PAYMENT_CHANGES: dict[str, str] = _TEXTS["payment_changes"]
