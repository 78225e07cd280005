"""Speed and memory of Quorate, alone and against Spin on the same instances. Run with `python -m benchmarks`."""
