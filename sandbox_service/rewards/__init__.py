"""Turns results into scalars and completions into code. Pure. May import `schema` and `errors`."""
