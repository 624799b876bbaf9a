"""Pure decisions: values in, values out; no database, no HTTP, no clock. Standard library only."""
