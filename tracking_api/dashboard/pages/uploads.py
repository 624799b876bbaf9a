"""Posted forms with one file, which must be small: the whole body is read before it is taken apart."""

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from storage.rules.errors import FieldError, ValidationError
from tracking_api.dashboard.pages import forms
from tracking_api.dashboard.pages.forms import Form
from web import body

MULTIPART = "multipart/form-data"
_AROUND = 8 * 1024  # the other fields, and what separates the parts


async def read_upload(request: Request, field: str, *, largest: int) -> tuple[Form, bytes]:
    """Return the form that a signed-in visitor posted, and the content of its file; no chosen file is empty.

    Raises Forbidden without the token of the visitor's session, UnsupportedMediaType, PayloadTooLarge, BodyTooSlow,
    ValidationError.
    """
    limits = {"largest": largest + _AROUND, "seconds": request.app.state.settings.body_seconds}
    sent = await body.read_body(request.scope, request.receive, media_type=MULTIPART, **limits)
    whole = Request(request.scope, body.replay(bytes(sent), request.receive))
    try:
        async with whole.form(max_files=1, max_fields=forms.MOST_FIELDS) as parts:
            texts = [(name, value) for name, value in parts.multi_items() if isinstance(value, str)]
            file = parts.get(field)
            content = await file.read() if isinstance(file, UploadFile) else b""
    except HTTPException:
        raise ValidationError(fields=[FieldError(field, "The file could not be read")]) from None
    form = Form({name: [value for other, value in texts if other == name] for name, _ in texts})
    forms.require_token(request, form)
    return form, content
