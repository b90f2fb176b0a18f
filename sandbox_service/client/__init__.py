"""Clients of the service, blocking (`sync`) and for an event loop (`async_`).

May import `languages`, `schema` and `errors`; knows only the wire.
"""
