"""Who may do what."""

from enum import StrEnum

from sandbox_service.schema.base import Model


class Scope(StrEnum):
    """What a key allows."""

    SUBMIT = "submit"
    """Send submissions and suites, and cancel."""

    READ = "read"
    """Look at results, queues and metrics."""

    ADMIN = "admin"
    """Everything, also what shows all tenants at once."""


class ApiKey(Model):
    """An API key, without its secret."""

    id: str
    """Names the key in logs and commands."""

    tenant: str
    """Whose submissions it sends and sees."""

    scopes: tuple[Scope, ...]
    """What it allows."""

    digest: str
    """SHA-256 of the whole key."""

    created_at: float
    """Seconds since the epoch."""

    note: str = ""
    """What it is for."""

    def allows(self, scope: Scope) -> bool:
        """Tells whether the key has a scope, or all."""
        return scope in self.scopes or Scope.ADMIN in self.scopes
