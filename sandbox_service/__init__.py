"""Secure code execution for verifiable rewards."""
