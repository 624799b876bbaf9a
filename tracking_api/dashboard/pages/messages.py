"""What is wrong with a field, in the words of the person who filled it in: the APIs' messages are for programs."""

import re

EXAMPLES = {"currency": "Enter three letters such as USD", "email": "Enter an e-mail address such as anna@shop.example"}
EXAMPLES |= {"code": "Use letters, digits, dots, dashes and underscores only"}
MALFORMED = "Malformed, or with control characters in it"
_WORDS = [
    (r"Input should be a valid integer.*", "Enter a whole number such as 20"),
    (r"Input should be a valid number.*", "Enter a number such as 20"),
    (r"Input should be a finite number.*", "Enter a number such as 20"),
    (r"Input should be greater than or equal to (\S+)", r"Enter \1 or more"),
    (r"Input should be less than or equal to (\S+)", r"Enter \1 or less"),
    (r"String should have at least 1 character", "Fill in this field"),
    (r"String should have at most (\d+) characters?", r"Enter at most \1 characters"),
    (r"(?:Value error, )?Must not be blank", "Fill in this field"),
    (r"Field required", "Fill in this field"),
    (r"Input should be '.*", "Choose one of the list"),
    (re.escape(MALFORMED), "This has characters that cannot be used here"),
    (r"(?:Value error, )?Must be (an? .*)", r"Enter \1"),
    (r"Value error, (.*)", r"\1"),
]


def for_people(field: str, message: str) -> str:
    """Return a field's message as an instruction: `Enter a number such as 20`."""
    if field.endswith("_cents"):
        return "Enter an amount such as 2.50"
    if message in {MALFORMED, "String should have at most 3 characters"} and field in EXAMPLES:
        return EXAMPLES[field]
    matches = ((re.fullmatch(pattern, message), words) for pattern, words in _WORDS)
    return next((found.expand(words) for found, words in matches if found), message)
