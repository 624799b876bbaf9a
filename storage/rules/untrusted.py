"""Marks in a row's type the text that strangers wrote: assistants get it cleaned, and their schemas say so."""

from typing import Annotated, Any

UNTRUSTED = "untrusted"
Untrusted = Annotated[str, UNTRUSTED]
UntrustedValues = Annotated[dict[str, Any], UNTRUSTED]
