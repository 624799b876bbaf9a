"""Errors about program keys and agent keys."""

from storage.rules.errors.service_error import ServiceError


class InvalidKey(ServiceError):
    code = "invalid_key"
    message = "The key is malformed or belongs to no program."
    hint = "Send Authorization: Bearer <program key>. A regenerated key replaces the old one at once."


class ApiKeyRotationRequired(ServiceError):
    code = "api_key_rotation_required"
    message = "The rotation deadline of this program key has passed."
    hint = "Ask an owner to regenerate the key under Settings, Developers, API keys. Then deploy the new key."


class WrongKeyType(ServiceError):
    code = "wrong_key_type"
    message = "This is not an agent key."
    hint = "Send a key that starts with agt_."


class InsufficientScope(ServiceError):
    code = "insufficient_scope"
    message = "The key lacks the scope that this request needs."
    hint = "Ask the operator of the service for a key with the scope in error.required_scope."


class ProgramNotAllowed(ServiceError):
    code = "program_not_allowed"
    message = "This key cannot reach a program with this id."
    hint = "List the programs that this key can reach: GET /api/agent/v1/programs, or list_programs over MCP."
