"""Results and runs for people: text, charts, pages, exports."""
