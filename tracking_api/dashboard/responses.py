"""The bodies that the dashboard's calls answer with, as models for the OpenAPI document."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from presentation.resources import Commission
from storage.access.workspaces import Role
from web.error_model import FieldProblem


class SignedInUser(BaseModel):
    """The account that is signed in."""

    id: int
    email: str


class Workspace(BaseModel):
    """A workspace, and what the account is in it."""

    id: int
    name: str
    role: Role


class SignedIn(BaseModel):
    """Who is signed in, until when, and where."""

    expires_at: datetime
    user: SignedInUser
    workspaces: list[Workspace]


class NewSession(SignedIn):
    """A session; `token` is shown here alone."""

    token: str


class DeviceAsked(BaseModel):
    """A login that waits for approval (RFC 8628, 3.2); seconds."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class Integration(BaseModel):
    """What `svc init` writes: Markdown for coding agents, without a secret."""

    program_id: int
    base_url: str
    agents_md: str


class SignedOut(BaseModel):
    """The session is over."""

    success: Literal[True]


class NewKey(BaseModel):
    """A program's new key; `api_token` is shown here alone."""

    api_token: str
    api_token_masked: str


class Regenerated(BaseModel):
    """The key was replaced."""

    data: NewKey


class Problem(BaseModel):
    """Why one commission was not decided."""

    code: str
    message: str
    hint: str = ""
    fields: list[FieldProblem] = []


class Undecided(BaseModel):
    """A commission that stays as it was."""

    id: int
    error: Problem


class Decided(BaseModel):
    """One result for each commission, by id."""

    data: list[Commission | Undecided]
