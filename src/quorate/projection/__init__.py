"""Any number of servers: a constant-size subsystem that stands for all of them (docs/registers.md)."""
