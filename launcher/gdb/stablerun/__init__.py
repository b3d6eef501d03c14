"""gdb at a kept run's addresses: what the run's profile says, and breakpoints set before the
code exists."""
