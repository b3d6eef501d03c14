"""What this gdb session knows: the run it is laid over, and what it waits for."""

from . import pending as pending_module
from .run import Trouble

program = None  # path of the stablerun program, for its subcommands
run = None  # run.Run, or None
pending = pending_module.Pending("__import__('stablerun.session').session.pending")


def need_run():
    if run is None:
        raise Trouble("no run is loaded: `stablerun load RUN`")
    return run
