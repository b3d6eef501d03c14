"""An operating system's scheduler in small: tasks, packets and queues, all dynamic calls.

The workload of Martin Richards' well-known benchmark (an idler, a worker, two handlers and
two devices, passing packets), written anew as a set of cooperating classes.

Usage: richards.py [RUNS [TURNS]]; 2 4000 in the tests
"""

import sys

IDLER, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = range(6)
DEVICE_PACKET, WORK_PACKET = range(2)
PACKET_WORDS = 4


class Packet:
    def __init__(self, following, owner, kind):
        self.following = following
        self.owner = owner
        self.kind = kind
        self.datum = 0
        self.words = [0] * PACKET_WORDS

    def append_to(self, queue):
        """Puts this packet last in the linked list `queue` and returns its head."""
        self.following = None
        if queue is None:
            return self
        packet = queue
        while packet.following is not None:
            packet = packet.following
        packet.following = self
        return queue


class Task:
    """A task with its queue. It may run unless held, or waiting without a packet."""

    def __init__(self, scheduler, ident, priority, queue, waiting):
        self.scheduler = scheduler
        self.ident = ident
        self.priority = priority
        self.queue = queue
        self.held = False
        self.waiting = waiting
        self.next_task = scheduler.tasks
        scheduler.tasks = self
        scheduler.table[ident] = self

    def must_rest(self):
        return self.held or (self.waiting and self.queue is None)

    def run(self):
        """Takes a packet if one was waited for, works, and returns the task to run next."""
        packet = None
        if self.waiting:
            packet = self.queue
            self.queue = packet.following
            self.waiting = False
        return self.work(packet)

    def work(self, packet):
        raise NotImplementedError

    def accept(self, packet, sender):
        """Queues a packet; returns the task that should go on."""
        was_empty = self.queue is None
        self.queue = packet.append_to(self.queue)
        if was_empty and self.priority > sender.priority:
            return self
        return sender

    def wait(self):
        self.waiting = True
        return self

    def hold(self):
        self.scheduler.holds += 1
        self.held = True
        return self.next_task

    def release(self, ident):
        task = self.scheduler.find(ident)
        task.held = False
        return task if task.priority > self.priority else self

    def send(self, packet):
        target = self.scheduler.find(packet.owner)
        self.scheduler.sent += 1
        packet.following = None
        packet.owner = self.ident
        return target.accept(packet, self)


class Idler(Task):
    """Releases one of the devices by a shift register's bits, so many times."""

    def __init__(self, scheduler, turns):
        super().__init__(scheduler, IDLER, 0, None, False)
        self.control = 1
        self.turns = turns

    def work(self, packet):
        self.turns -= 1
        if self.turns == 0:
            return self.hold()
        if self.control & 1 == 0:
            self.control >>= 1
            return self.release(DEVICE_A)
        self.control = (self.control >> 1) ^ 0xD008
        return self.release(DEVICE_B)


class Worker(Task):
    def __init__(self, scheduler, queue):
        super().__init__(scheduler, WORKER, 1000, queue, True)
        self.target = HANDLER_A
        self.letter = 0

    def work(self, packet):
        if packet is None:
            return self.wait()
        self.target = HANDLER_B if self.target == HANDLER_A else HANDLER_A
        packet.owner = self.target
        packet.datum = 0
        for i in range(PACKET_WORDS):
            self.letter = self.letter % 26 + 1
            packet.words[i] = 64 + self.letter
        return self.send(packet)


class Handler(Task):
    def __init__(self, scheduler, ident, priority, queue):
        super().__init__(scheduler, ident, priority, queue, True)
        self.work_in = None
        self.device_in = None

    def work(self, packet):
        if packet is not None:
            if packet.kind == WORK_PACKET:
                self.work_in = packet.append_to(self.work_in)
            else:
                self.device_in = packet.append_to(self.device_in)
        work = self.work_in
        if work is None:
            return self.wait()
        if work.datum >= PACKET_WORDS:
            self.work_in = work.following
            return self.send(work)
        device = self.device_in
        if device is None:
            return self.wait()
        self.device_in = device.following
        device.datum = work.words[work.datum]
        work.datum += 1
        return self.send(device)


class Device(Task):
    def __init__(self, scheduler, ident, priority):
        super().__init__(scheduler, ident, priority, None, True)
        self.pending = None

    def work(self, packet):
        if packet is not None:
            self.pending = packet
            self.scheduler.trace = (self.scheduler.trace * 31 + packet.datum) % 65521
            return self.hold()
        packet = self.pending
        if packet is None:
            return self.wait()
        self.pending = None
        return self.send(packet)


class Scheduler:
    def __init__(self):
        self.tasks = None
        self.table = [None] * 6
        self.holds = 0
        self.sent = 0
        self.turns = 0
        self.trace = 1

    def find(self, ident):
        task = self.table[ident]
        if task is None:
            raise LookupError(f"no task {ident}")
        return task

    def run(self):
        task = self.tasks
        while task is not None:
            if task.must_rest():
                task = task.next_task
            else:
                self.turns += 1
                task = task.run()


def packets(count, owner, kind):
    queue = None
    for _ in range(count):
        queue = Packet(queue, owner, kind)
    return queue


def simulate(idle_turns):
    scheduler = Scheduler()
    Idler(scheduler, idle_turns)
    Worker(scheduler, packets(2, WORKER, WORK_PACKET))
    Handler(scheduler, HANDLER_A, 2000, packets(3, DEVICE_A, DEVICE_PACKET))
    Handler(scheduler, HANDLER_B, 3000, packets(3, DEVICE_B, DEVICE_PACKET))
    Device(scheduler, DEVICE_A, 4000)
    Device(scheduler, DEVICE_B, 5000)
    scheduler.run()
    return scheduler


def main(runs=32, idle_turns=10000):
    for _ in range(runs):
        scheduler = simulate(idle_turns)
    print(scheduler.sent, scheduler.holds, scheduler.turns, scheduler.trace)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
