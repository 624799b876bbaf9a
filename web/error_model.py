"""The error body as models: what `web.errors` sends, for the OpenAPI documents and their readers."""

from datetime import datetime

from pydantic import BaseModel, Field


class FieldProblem(BaseModel):
    """One field that is wrong, and why."""

    field: str
    message: str


class ExistingSale(BaseModel):
    """The sale that already has the transaction_id."""

    eventId: int  # noqa: N815 - the specification's name
    recorded_at: datetime


class RotationWarning(BaseModel):
    """The program key must be replaced before `rotate_by`."""

    code: str = Field(pattern="^api_key_rotation_required$")
    message: str
    hint: str
    rotate_by: datetime
    docs_url: str


class EmailWarning(BaseModel):
    """The lead's `email` is not an e-mail address and was not stored."""

    code: str = Field(pattern="^email_ignored$")
    message: str
    hint: str


class ErrorObject(BaseModel):
    """What was rejected and why; only `code` and `message` are always present."""

    code: str
    message: str
    hint: str = ""
    fields: list[FieldProblem] = []
    required_scope: str = ""
    cap: str = ""
    retry_after_seconds: int = Field(default=1, ge=1)
    existing: ExistingSale | None = None
    same_payload: bool = False
    flags: list[str] = []


class Error(BaseModel):
    """The body of every error."""

    error: ErrorObject
    request_id: str
    warnings: list[RotationWarning] = []
