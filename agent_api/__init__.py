"""The scope-checked API of agents (`agt_` keys), under /api/agent/v1."""
