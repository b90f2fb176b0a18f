"""Talks to the service over HTTP, sync and async. Knows only the wire (`schema`, `errors`)."""
