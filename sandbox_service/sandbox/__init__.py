"""Where programs run: engines start sandboxes, a pool keeps them warm.

May import `telemetry`, `languages`, `settings`, `schema`, `errors`; the only home of docker.
"""
