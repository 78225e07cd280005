"""What everything else rests on: errors, values, places in the source, files."""
