"""What travels on the wires, as frozen pydantic models. No I/O.

May import `errors` only.
"""
