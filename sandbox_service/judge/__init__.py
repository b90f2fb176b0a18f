"""Decides from reports what was right. Pure: no I/O, no clock, no randomness.

May import `schema` and `errors`.
"""
