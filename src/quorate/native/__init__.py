"""The bridge to the native core."""
