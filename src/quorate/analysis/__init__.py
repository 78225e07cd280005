"""From a definition to the tables of the native core."""
