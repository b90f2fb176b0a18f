"""Logs, metrics and traces. May import `settings`, `schema`, `errors`."""
