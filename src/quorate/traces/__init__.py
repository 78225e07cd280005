"""Runs of a protocol, as people and programs read them: text, JSON, replay."""
