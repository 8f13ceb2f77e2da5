"""Shared source of the metric modules."""
