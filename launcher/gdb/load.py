"""Loads the Stablerun commands into gdb: `source load.py`. `stablerun gdb` does it by itself."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import stablerun.commands  # noqa: E402

stablerun.commands.register()
