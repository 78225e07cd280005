"""One search by many processes, on one machine or on many: docs/cluster.md."""
