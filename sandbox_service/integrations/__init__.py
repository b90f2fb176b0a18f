"""Thin adapters from training frameworks to the client."""
