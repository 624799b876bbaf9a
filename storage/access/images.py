"""Which uploaded images are accepted: small ones of the types that browsers draw and that can contain no script."""

from typing import NamedTuple

from storage.rules.errors import FieldError, ValidationError

LARGEST = 48 * 1024
TOO_LARGE = f"Choose an image of at most {LARGEST // 1024} KB"
_SIGNATURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n", b""),
    "image/jpeg": (b"\xff\xd8\xff", b""),
    "image/webp": (b"RIFF", b"WEBP"),
}
MEDIA_TYPES = tuple(_SIGNATURES)
_FURTHER = 8  # where WEBP follows RIFF and the length


class Image(NamedTuple):
    """An image of one of MEDIA_TYPES."""

    media_type: str
    content: bytes


def accept(content: bytes, *, field: str) -> Image:
    """Return an uploaded file as an image: its first bytes say what it is, not its name. Raises ValidationError."""
    if len(content) > LARGEST:
        raise ValidationError(fields=[FieldError(field, TOO_LARGE)])
    for media_type, (start, further) in _SIGNATURES.items():
        if content.startswith(start) and content[_FURTHER:].startswith(further):
            return Image(media_type, content)
    raise ValidationError(fields=[FieldError(field, "Choose a PNG, JPEG or WebP image")])
