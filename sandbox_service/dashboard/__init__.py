"""What an operator sees: figures read from Redis now and then, and the page that shows them.

May import `queue`, `telemetry`, `schema` and `errors`.
"""
