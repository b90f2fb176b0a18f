"""Submissions on their way, in Redis: RQ carries them, this stores and finds them.

May import `telemetry`, `settings`, `schema`, `errors`.
"""
