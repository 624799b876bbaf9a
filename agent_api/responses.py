"""The bodies that only the agent API answers with, as models for the OpenAPI document."""

from datetime import datetime

from pydantic import BaseModel

from storage.rules.scope import Scope


class Me(BaseModel):
    """The presented key; `programs` null reaches every program of the workspace."""

    id: int
    name: str
    workspace_id: int
    scopes: list[Scope]
    programs: list[int] | None
    expires_at: datetime | None
    created_at: datetime
