"""The tables, a file for each subject; `metadata` is what migrations and models agree on."""

from storage.tables.columns import metadata as metadata
from storage.tables.event import *
from storage.tables.integration import *
from storage.tables.payout import *
from storage.tables.portal import *
from storage.tables.program import *
from storage.tables.workspace import *
