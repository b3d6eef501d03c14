"""Random small Python programs for the jit, and what makes them small again.

A program is a tree of nodes: a node is a line with the block under it. Generating fills in
functions, classes, loops and statements over variables whose types are roughly known, so
that most operations do something; some deliberately do not fit and raise. Every program
ends; it prints as it goes, so that two Pythons can be compared by their output.
"""

import random

INDENT = "    "


class Node:
    """A line and the lines below it, one level deeper."""

    __slots__ = ("line", "body")

    def __init__(self, line, body=None):
        self.line = line
        self.body = body


def render(nodes, depth=0):
    lines = []
    for node in nodes:
        lines.append(INDENT * depth + node.line)
        if node.body is not None:
            inner = render(node.body, depth + 1)
            lines.extend(inner or [INDENT * (depth + 1) + "pass"])
    return lines


# Integers where representations change: the sign, one digit (2**30), machine words, and what
# the compact forms of an engine might choose.
INTEGERS = [
    0, 1, 2, 3, 5, 7, 10, 30, 31, 63, 64, 100, 255, 256, 257,
    2**15, 2**29, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**32, 2**53, 2**60 - 1, 2**60,
    2**61, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**20, 2**90,
]
FLOATS = [
    "0.0", "-0.0", "1.0", "-1.5", "0.1", "3.0", "2.5", "1e308", "-1e308", "5e-324", "1e16",
    "9007199254740993.0", "float('nan')", "float('inf')", "float('-inf')", "1e-7", "123456.789",
]
STRINGS = ["''", "'a'", "'bc'", "'\\u00e9'", "'\\U0001f600x'", "'a b c'", "'12'", "'%s'", "('xyz' * 3)"]

ARITHMETIC = ["+", "-", "*", "//", "%", "&", "|", "^"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]

PRELUDE = '''\
import builtins
import gc
import sys
import traceback
import weakref

# When a collection comes depends on what was allocated before: only where the program asks.
gc.disable()
gc.freeze()
# Right at the limit, what counts as a call depends on what the interpreter has specialised: the
# budget is spent before.
sys.setrecursionlimit(5000)

g1 = 5
g2 = 0.75
length = len


def show(*values):
    """Prints values so that -0.0, nan and types can be told apart."""
    print(*[render(value) for value in values])


def render(value, depth=0):
    if depth > 3:
        return "..."
    if type(value) is float:
        return value.hex()
    if type(value) is int and not -(10**40) < value < 10**40:
        return "int:%d bits, %d" % (value.bit_length(), value % 1000003)
    if type(value) in (list, tuple):
        return type(value).__name__ + "[" + ", ".join(
            render(item, depth + 1) for item in value[:20]) + "]"
    if type(value) is dict:
        return "{" + ", ".join(
            render(key, depth + 1) + ": " + render(item, depth + 1)
            for key, item in list(value.items())[:20]) + "}"
    if type(value) is set:
        return "set" + render(sorted(map(repr, value)), depth + 1)
    if type(value) in (int, bool, str, type(None), complex, bytes):
        text = repr(value)
        return text if len(text) < 200 else text[:100] + "...%d" % len(text)
    return "<" + type(value).__name__ + ">"


def where(error):
    """The exception and the lines it came through, as a traceback would tell."""
    entries = traceback.extract_tb(error.__traceback__)
    path = ["%s:%d:%s-%s" % (e.name, e.lineno, e.colno, e.end_colno) for e in entries]
    if isinstance(error, UnboundLocalError):
        # Which load of a pair is blamed depends on what the interpreter has run how often, and
        # that on the mode: programs/unbound.py has it.
        path[-1] = entries[-1].name
    text = str(error)
    print(type(error).__name__, text[:120], "|", " ".join(path[:8]))
    if error.__context__ is not None:
        print("  during", type(error.__context__).__name__)


class Noisy:
    """Says when it goes, so that reference counts show."""

    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name)

    def __add__(self, other):
        return self.name + other

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, error, trace):
        print("exit", self.name, kind and kind.__name__)
        return kind is KeyError


def mix(value):
    """A hash that is no address: None, a nan and objects have such."""
    return hash(value) if type(value) in (int, bool, str) or value == value + 0 else 0


def look():
    """The caller's frame as a debugger has it."""
    frame = sys._getframe(1)
    names = sorted(name for name in frame.f_locals if not name.startswith("_"))
    if frame.f_code.co_name == "<module>":
        names = []
    values = [render(frame.f_locals[name]) for name in names[:9]]
    print("at", frame.f_code.co_name, frame.f_lineno, frame.f_back is not None, names, values)


def watch(events=9):
    """Traces the caller from here on, for some events."""

    def tracer(frame, event, argument):
        nonlocal events
        if frame.f_code.co_name in PRIVATE or events <= 0:
            return None
        events -= 1
        if not events:
            sys.settrace(None)
        print("trace", event, frame.f_code.co_name, frame.f_lineno, event != "line" and render(argument))
        return tracer

    sys.settrace(tracer)
    sys._getframe(1).f_trace = tracer


def profile(events=9):
    """Counts calls and returns from here on, for some events."""

    def profiler(frame, event, argument):
        nonlocal events
        if frame.f_code.co_name in PRIVATE or not event.startswith(("call", "return")):
            return
        events -= 1
        if not events:
            sys.setprofile(None)
        print("profile", event, frame.f_code.co_name, frame.f_lineno)

    sys.setprofile(profiler)


PRIVATE = {"mix", "show", "render", "where", "look", "watch", "profile", "spend", "<listcomp>", "<genexpr>"}


def change_builtin():
    """len() is another function every second time."""
    builtins.len = (lambda x: length(x) + 1) if builtins.len is length else length


def drive(generator, value):
    """Everything that one can do to a generator."""
    try:
        show("next", next(generator), next(generator))
        show("send", generator.send(value))
        show("throw", generator.throw(KeyError("thrown")))
    except Exception as error:
        where(error)
    generator.close()
    show("closed", generator.gi_frame is None)


def attempt(function, *arguments):
    """What it gives or raises; attempts at changes that are not allowed."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__


def any_arguments(a, b=2, *rest, c=3, **more):
    a = b = None
    return (c, rest, sorted(more.items()))


budget = 3000


def spend():
    """Ends a program that turns too long."""
    global budget
    budget -= 1
    if budget < 0:
        raise SystemExit("budget spent")


'''


class Scope:
    """Names that are assigned at this point, by their kind."""

    def __init__(self, outer=None):
        self.names = {}
        self.outer = outer
        self.in_loop = False
        self.is_generator = False
        self.in_function = False

    def add(self, name, kind):
        self.names[name] = kind

    def of_kind(self, kind):
        return [name for name, k in self.names.items() if k == kind or kind == "any"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counter = 0
        self.functions = []  # (name, parameter kinds, result kind)
        self.generators = []
        self.classes = []  # (name, attributes {name: kind}, methods [(name, kinds, result)])

    # -- choosing

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(items)

    def fresh(self, prefix):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def kind(self):
        return self.random.choices(
            ["int", "float", "str", "bool", "list", "tuple", "dict", "object", "none"],
            [34, 24, 8, 6, 10, 4, 6, 7, 1],
        )[0]

    # -- expressions

    def expression(self, kind, scope, depth=0):
        """An expression that is probably of the kind."""
        if self.chance(0.015):
            kind = self.kind()
        names = scope.of_kind(kind)
        if names and self.chance(0.55 if depth else 0.25):
            return self.pick(names)
        if depth > 3:
            return self.constant(kind)
        makers = {
            "int": self.integer,
            "float": self.floating,
            "str": self.string,
            "bool": self.boolean,
            "list": self.list_,
            "tuple": self.tuple_,
            "dict": self.dict_,
            "object": self.object_,
            "none": lambda scope, depth: "None",
            "any": lambda scope, depth: self.expression(self.kind(), scope, depth),
        }
        if self.functions and self.chance(0.08) and depth < 3:
            call = self.call(kind, scope, depth)
            if call:
                return call
        return makers[kind](scope, depth + 1)

    def constant(self, kind):
        if kind in ("int", "float") and self.chance(0.03):
            return self.pick(["g1", "g2"])
        if kind == "int":
            if self.chance(0.6):
                return str(self.random.randint(-9, 20))
            value = self.pick(INTEGERS) + self.random.randint(-1, 1)
            return f"({-value})" if self.chance(0.3) else str(value)
        if kind == "float":
            return self.pick(FLOATS)
        if kind == "str":
            return self.pick(STRINGS)
        if kind == "bool":
            return self.pick(["True", "False"])
        if kind == "list":
            return self.pick(["[]", "[1, 2, 3]", "[0.5, 2.0, -0.0]", "[1, 2.5, 'x', None]"])
        if kind == "tuple":
            return self.pick(["()", "(1, 2)", "(0.0, 'q', 3)"])
        if kind == "dict":
            return self.pick(["{}", "{'a': 1, 'b': 2}", "{1: 'x', 2.5: 3}"])
        if kind == "object" and self.classes:
            return self.instance(self.pick(self.classes), None, 9)
        return "None"

    def integer(self, scope, depth):
        e = lambda kind="int": self.expression(kind, scope, depth)
        choice = self.random.randrange(17)
        if choice < 7:
            operator = self.pick(ARITHMETIC)
            if operator == "*":
                # Of two growing factors one is cut, so that loops do not square numbers.
                return f"({e()} * ({e()} & {self.pick(['0xFF', '0x7FFFFFFF', '0xFFFFFFFFFF'])}))"
            return f"({e()} {operator} {e()})"
        if choice == 7:
            return f"({e()} {self.pick(['<<', '>>'])} {self.random.randint(0, 70)})"
        if choice == 8:
            return f"({self.pick(['-', '~', '+'])}{e()})"
        if choice == 9:
            return f"len({e(self.pick(['list', 'str', 'tuple', 'dict']))})"
        if choice == 10:
            return f"({e()} if {e('bool')} else {e()})"
        if choice == 11:
            lists = scope.of_kind("list")
            if lists:
                return f"{self.pick(lists)}[{e()} % 3]"
            return f"abs({e()})"
        if choice == 12:
            return f"int({e('float')})" if self.chance(0.3) else f"mix({e()})"
        if choice == 13:
            return f"sum([{e()} for {self.bound(scope)} in range({self.random.randint(0, 6)})])"
        if choice == 14:
            return self.attribute("int", scope, depth)
        if choice == 15:
            return f"divmod({e()}, {e()})[{self.random.randint(0, 1)}]"
        return f"({e()} {self.pick(['and', 'or'])} {e()})"

    def floating(self, scope, depth):
        e = lambda kind="float": self.expression(kind, scope, depth)
        choice = self.random.randrange(12)
        if choice < 5:
            return f"({e()} {self.pick(['+', '-', '*', '/'])} {e()})"
        if choice == 5:
            return f"({e()} {self.pick(['//', '%', '/'])} {e()})"
        if choice == 6:
            return f"({e('int')} {self.pick(['/', '*', '+', '-'])} {e()})"
        if choice == 7:
            return f"(-{e()})"
        if choice == 8:
            return f"({e()} if {e('bool')} else {e()})"
        if choice == 9:
            return self.attribute("float", scope, depth)
        if choice == 10:
            return f"{self.pick(['abs', 'float'])}({e()})"
        return f"({e()} ** {self.pick(['2', '0.5', '-1', '2.0'])})"

    def string(self, scope, depth):
        e = lambda kind="str": self.expression(kind, scope, depth)
        choice = self.random.randrange(9)
        if choice < 2:
            return f"({e()} + {e()})[-50:]"
        if choice == 2:
            return f"({e()}[:9] * {self.random.randint(-1, 4)})"
        if choice == 3:
            return f"{e()}[{self.slice()}]"
        if choice == 4:
            inside = e("int")
            if self.chance(0.3) and not set(inside) & set("'{\\"):
                return f"f'{{{inside}!r:>4}}'"
            return f"str({inside})"
        if choice == 5:
            return f"({e()}).{self.pick(['upper()', 'strip()', 'title()', 'swapcase()'])}"
        if choice == 6:
            return f"{e()}[{e('int')}]"
        if choice == 7:
            return f"'-'.join([str({e('int')}) for {self.bound(scope)} in range(3)])"
        return f"('%s/%r' % ({e('int')}, {e('float')}))"

    def boolean(self, scope, depth):
        e = lambda kind: self.expression(kind, scope, depth)
        choice = self.random.randrange(10)
        if choice < 3:
            return f"({e('int')} {self.pick(COMPARISONS)} {e('int')})"
        if choice < 5:
            return f"({e('float')} {self.pick(COMPARISONS)} {e(self.pick(['float', 'int']))})"
        if choice == 5:
            return f"(not {e('any')})"
        if choice == 6:
            return f"({e('any')} {self.pick(['is', 'is not'])} None)"
        if choice == 7:
            return f"({e('int')} {self.pick(['in', 'not in'])} {e(self.pick(['list', 'tuple', 'dict']))})"
        if choice == 8:
            return f"({e('int')} < {e('int')} <= {e('int')})"
        return f"isinstance({e('any')}, {self.pick(['int', 'float', '(int, str)', 'list', 'object'])})"

    def list_(self, scope, depth):
        e = lambda kind: self.expression(kind, scope, depth)
        choice = self.random.randrange(10)
        if choice < 3:
            kind = self.pick(["int", "int", "float", "any"])
            return "[" + ", ".join(e(kind) for _ in range(self.random.randint(1, 4))) + "]"
        if choice == 3:
            return f"({e('list')} + {e('list')})[-20:]"
        if choice == 4:
            name = self.bound(scope)
            condition = self.pick(["", f" if {name} % 2", f" if {name} != {e('int')}"])
            inner = Scope(scope)
            inner.names = dict(scope.names)
            inner.add(name, "int")
            body = self.expression(self.pick(["int", "float"]), inner, depth + 1)
            return f"[{body} for {name} in range({self.random.randint(0, 7)}){condition}]"
        if choice == 5:
            return f"{e('list')}[{self.slice()}]"
        if choice == 6:
            return f"sorted({e('list')}, key=repr)"
        if choice == 7 and self.generators:
            name, kinds, _ = self.pick(self.generators)
            return f"list({name}({', '.join(e(kind) for kind in kinds)}))"
        if choice == 8:
            return f"list({e('tuple')})"
        return f"[*{e('list')}, *{e('tuple')}][:20]"

    def tuple_(self, scope, depth):
        e = lambda kind: self.expression(kind, scope, depth)
        if self.chance(0.7):
            return "(" + ", ".join(e("any") for _ in range(self.random.randint(1, 3))) + ",)"
        return f"tuple({e('list')})"

    def dict_(self, scope, depth):
        e = lambda kind: self.expression(kind, scope, depth)
        if self.chance(0.5):
            pairs = [
                f"{e(self.pick(['int', 'str', 'float']))}: {e('any')}"
                for _ in range(self.random.randint(1, 3))
            ]
            return "{" + ", ".join(pairs) + "}"
        if self.chance(0.5):
            name = self.bound(scope)
            return f"{{{name}: {name} * {e('int')} for {name} in range({self.random.randint(0, 5)})}}"
        return f"{{**{e('dict')}, 'k': {e('int')}}}"

    def object_(self, scope, depth):
        if not self.classes:
            return f"Noisy({self.random.randint(0, 99)})"
        if self.chance(0.15):
            return f"Noisy('n{self.random.randint(0, 99)}')"
        return self.instance(self.pick(self.classes), scope, depth)

    def instance(self, cls, scope, depth):
        scope = scope or Scope()
        arguments = [self.expression(kind, scope, depth + 1) for kind in cls["init"]]
        return f"{cls['name']}({', '.join(arguments)})"

    def attribute(self, kind, scope, depth):
        """An attribute or method call of the kind on an object in scope."""
        objects = scope.of_kind("object")
        if not objects or not self.classes:
            return self.constant(kind)
        target = self.pick(objects)
        cls = self.pick(self.classes)
        methods = [m for m in cls["methods"] if m[2] == kind]
        if methods and self.chance(0.5):
            name, kinds, _ = self.pick(methods)
            arguments = [self.expression(k, scope, depth + 1) for k in kinds]
            return f"{target}.{name}({', '.join(arguments)})"
        names = [name for name, k in cls["attributes"].items() if k == kind]
        return f"{target}.{self.pick(names)}" if names else self.constant(kind)

    def call(self, kind, scope, depth):
        functions = [f for f in self.functions if f[2] == kind]
        if not functions:
            return None
        name, kinds, _ = self.pick(functions)
        arguments = [self.expression(k, scope, depth + 1) for k in kinds]
        if len(arguments) > 1 and self.chance(0.15):
            return f"{name}(*({', '.join(arguments)},))"
        if arguments and self.chance(0.15):
            arguments[-1] = f"p{len(arguments) - 1}={arguments[-1]}"
        return f"{name}({', '.join(arguments)})"

    def bound(self, scope):
        return self.fresh("c")

    def slice(self):
        part = lambda: self.pick(["", str(self.random.randint(-3, 4))])
        return f"{part()}:{part()}" + (f":{self.pick(['-1', '2', '1'])}" if self.chance(0.3) else "")

    # -- statements

    def block(self, scope, size, depth):
        nodes = []
        for _ in range(size):
            nodes.extend(self.statement(scope, depth))
        return nodes

    def statement(self, scope, depth):
        choices = [
            (self.assign, 30),
            (self.augment, 16),
            (self.print_, 10),
            (self.store_item, 6),
            (self.store_attribute, 5),
            (self.mutate, 4),
            (self.swap, 3),
            (self.delete, 2),
            (self.upheaval, 7),
            (self.raise_, 2),
        ]
        if depth < 3:
            choices += [
                (self.for_range, 12),
                (self.for_items, 7),
                (self.while_, 5),
                (self.if_, 14),
                (self.try_, 8),
                (self.with_, 3),
                (self.closure, 4),
                (self.match, 2),
            ]
        if scope.in_loop:
            choices.append((self.leave_loop, 4))
        if scope.is_generator:
            choices.append((self.yield_, 14))
        elif scope.in_function:
            choices.append((self.return_, 2))
        makers, weights = zip(*choices)
        return self.random.choices(makers, weights)[0](scope, depth)

    def target(self, scope, kind):
        """A variable to assign: mostly one that exists, sometimes of another kind."""
        names = scope.of_kind(kind if self.chance(0.93) else "any")
        if names and self.chance(0.6):
            return self.pick(names)
        return self.fresh("v")

    def assign(self, scope, depth):
        kind = self.kind()
        value = self.expression(kind, scope)
        name = self.target(scope, kind)
        if self.chance(0.06):
            other = self.fresh("v")
            scope.add(other, kind)
            scope.add(name, kind)
            return [Node(f"{other} = {name} = {value}")]
        scope.add(name, kind)
        return [Node(f"{name} = {value}")]

    def augment(self, scope, depth):
        kind = self.pick(["int", "int", "float", "float", "str", "list"])
        names = scope.of_kind(kind)
        if not names:
            return self.assign(scope, depth)
        operator = {
            "int": ARITHMETIC, "float": ["+", "-", "*", "/"], "str": ["+"], "list": ["+"],
        }[kind]
        operator = self.pick(operator)
        # What grows by itself grows by constants only.
        grows = kind in ("str", "list") or (kind == "int" and operator == "*")
        value = self.constant(kind) if grows else self.expression(kind, scope)
        return [Node(f"{self.pick(names)} {operator}= {value}")]

    def print_(self, scope, depth):
        names = scope.of_kind("any")
        if not names:
            return [Node(f"show({self.expression('any', scope)})")]
        chosen = self.random.sample(names, min(len(names), self.random.randint(1, 3)))
        return [Node(f"show({', '.join(chosen)})")]

    def store_item(self, scope, depth):
        lists = scope.of_kind("list")
        if lists and self.chance(0.7):
            index = self.pick([f"{self.expression('int', scope)} % 3", "0", "-1"])
            value = self.expression(self.pick(["int", "float", "any"]), scope)
            return [Node(f"{self.pick(lists)}[{index}] = {value}")]
        dicts = scope.of_kind("dict")
        if dicts:
            key = self.expression(self.pick(["int", "str"]), scope)
            return [Node(f"{self.pick(dicts)}[{key}] = {self.expression('any', scope)}")]
        return self.assign(scope, depth)

    def store_attribute(self, scope, depth):
        objects = scope.of_kind("object")
        if not objects or not self.classes:
            return self.assign(scope, depth)
        cls = self.pick(self.classes)
        if not cls["attributes"]:
            return self.assign(scope, depth)
        name = self.pick(list(cls["attributes"]))
        kind = cls["attributes"][name] if self.chance(0.9) else self.kind()
        operator = "+=" if kind in ("int", "float") and self.chance(0.4) else "="
        return [Node(f"{self.pick(objects)}.{name} {operator} {self.expression(kind, scope)}")]

    def mutate(self, scope, depth):
        lists = scope.of_kind("list")
        if lists:
            name = self.pick(lists)
            action = self.pick([
                f"append({self.expression('any', scope)})", "pop()", "reverse()", "clear()",
                f"insert(0, {self.expression('int', scope)})", "extend((1, 2.0))",
            ])
            return [Node(f"{name}.{action}")]
        return self.assign(scope, depth)

    def swap(self, scope, depth):
        kind = self.kind()
        names = scope.of_kind(kind)
        if len(names) < 2:
            return self.assign(scope, depth)
        a, b = self.random.sample(names, 2)
        if self.chance(0.3):
            rest = self.fresh("v")
            scope.add(rest, "list")
            return [Node(f"{a}, *{rest}, {b} = {b}, 1, 2.5, {a}")]
        return [Node(f"{a}, {b} = {b}, {a}")]

    def delete(self, scope, depth):
        names = scope.of_kind("any")
        if len(names) < 3:
            return self.assign(scope, depth)
        # The name stays in the scope: a later use raises, which is the point.
        return [Node(f"del {self.pick(names)}")] if self.chance(0.4) else self.print_(scope, depth)

    def upheaval(self, scope, depth):
        """Something that compiled code around it may have relied upon, or that looks at it."""
        e = lambda kind: self.expression(kind, scope)
        objects = scope.of_kind("object")
        form = self.random.randrange(22)
        if form == 0:
            return [Node("look()")]
        if form == 1:
            return [Node(f"watch({self.random.randint(1, 12)})")]
        if form == 2:
            return [Node(f"profile({self.random.randint(1, 12)})")]
        if form == 3:
            return [Node(f"globals()[{self.pick(['g1', 'g2'])!r}] = {e(self.pick(['int', 'float']))}")]
        if form == 4:
            return [Node(f"show(g1, g2 if {e('bool')} else g1)")]
        if form == 5:
            return [Node("change_builtin()")]
        if form == 6 and self.functions:
            a, b = self.pick(self.functions)[0], self.pick(self.functions)[0]
            return [Node(f"show(attempt(setattr, {a}, '__code__', {b}.__code__))")]
        if form == 7 and self.functions:
            name, kinds, _ = self.pick(self.functions)
            values = ", ".join(self.constant(kind) for kind in kinds[-1:])
            return [Node(f"{name}.__defaults__ = ({values},)" if values else f"{name}.__defaults__ = None")]
        if form == 8 and self.generators:
            name, kinds, _ = self.pick(self.generators)
            return [Node(f"drive({name}({', '.join(e(k) for k in kinds)}), {e('int')})")]
        if form == 9:
            a, b, c = e("any"), e("int"), e("float")
            return [Node(self.pick([
                f"show(any_arguments({a}, c={b}))", f"show(any_arguments(b={b}, a={a}, z={c}))",
                f"show(any_arguments({a}, {b}, {c}, {b}, y={c}))", f"show(attempt(any_arguments))",
                f"show(any_arguments(*({a}, {b}, {c}), **{{'c': {b}}}))"]))]
        if form == 10:
            names = scope.of_kind("any")
            if names:
                return [Node(f"show(sys.getrefcount({self.pick(names)}) < 1000)")]
        if form == 11:
            numbers = scope.of_kind("float") + scope.of_kind("int")
            if numbers:
                name, copy = self.pick(numbers), self.fresh("v")
                return [Node(f"{copy} = {name}"), Node(f"show({copy} is {name}, {copy} in [{name}])")]
        if form == 12:
            lists = scope.of_kind("list")
            if lists:
                items, name = self.pick(lists), self.fresh("x")
                inside = self.inner(scope)
                inside.in_loop = True
                inside.add(name, "any")
                body = [Node("spend()"), Node(f"if len({items}) > 30:", [Node("break")])]
                body += self.block(inside, 1, depth + 2) + self.mutate(inside, depth)
                return [Node(f"for {name} in {items}:", body)]
        if form == 13:
            return [Node("gc.collect(0)")]
        if form >= 14 and self.classes:
            return [Node(self.change_class(scope, objects))]
        return [Node("look()")]

    def change_class(self, scope, objects):
        """A change of a class or of an object's shape."""
        cls = self.pick(self.classes)
        names = list(cls["attributes"]) or ["a"]
        name, value = self.pick(names), self.expression(self.pick(["int", "float"]), scope)
        methods = [m[0] for m in cls["methods"]] or ["m"]
        choices = [
            f"attempt(setattr, {cls['name']}, {name!r}, {value})",
            f"{cls['name']}.{self.pick(methods)} = lambda self, *a: {self.constant('int')}",
            f"attempt(delattr, {cls['name']}, {self.pick(methods + names)!r})",
            f"{cls['name']}.__getattr__ = lambda self, name: attempt(int, name)",
        ]
        if objects:
            target = self.pick(objects)
            choices += [
                f"attempt(delattr, {target}, {name!r})",
                f"attempt(setattr, {target}, 'n{self.random.randint(0, 40)}', {value})",
                f"attempt(setattr, {target}, '__class__', {cls['name']})",
                f"attempt(setattr, {target}, {self.pick(methods)!r}, lambda *a: {value})",
                f"attempt(lambda o: o.__dict__.update({name}=2.5), {target})",
                f"attempt(lambda o: setattr(o, '__dict__', {{{name!r}: 1}}), {target})",
                f"show(attempt(lambda o: weakref.ref(o)() is o, {target}))",
                f"show(sys.getrefcount({target}))",
            ]
        return self.pick(choices)

    def raise_(self, scope, depth):
        error = self.pick(["ValueError(1)", "KeyError('k')", "ZeroDivisionError", "IndexError('i')",
                           "StopIteration", "RuntimeError('r')"])
        condition = self.expression("bool", scope)
        return [Node(f"if {condition}:", [Node(f"raise {error}")])]

    def inner(self, scope):
        """A block's scope: what it assigns may not be there afterwards, and that is said."""
        inside = Scope(scope.outer)
        inside.names = dict(scope.names)
        inside.in_loop = scope.in_loop
        inside.is_generator = scope.is_generator
        inside.in_function = scope.in_function
        return inside

    def for_range(self, scope, depth):
        name = self.fresh("i")
        inside = self.inner(scope)
        inside.in_loop = True
        inside.add(name, "int")
        bounds = self.pick([
            str(self.random.randint(0, 12)), f"{self.random.randint(-3, 3)}, 9",
            f"10, {self.random.randint(-2, 3)}, -{self.random.randint(1, 3)}",
            f"{2**62 - 2}, {2**62 + 2}", f"{2**30 - 3}, {2**30 + 3}", f"{2**63 - 2}, {2**63 + 2}",
            "25",
        ])
        body = [Node("spend()")] + self.block(inside, self.random.randint(1, 4), depth + 1)
        nodes = [Node(f"for {name} in range({bounds}):", body)]
        if self.chance(0.1):
            nodes.append(Node("else:", self.block(self.inner(scope), 1, depth + 1)))
        return nodes

    def for_items(self, scope, depth):
        name = self.fresh("x")
        inside = self.inner(scope)
        inside.in_loop = True
        source = self.random.randrange(5)
        if source == 0 and self.generators:
            function, kinds, kind = self.pick(self.generators)
            items = f"{function}({', '.join(self.expression(k, scope) for k in kinds)})"
            inside.add(name, kind)
        elif source == 1:
            items = f"{self.expression('dict', scope)}.items()"
            key, value = self.fresh("k"), self.fresh("w")
            inside.add(key, "int")
            inside.add(value, "int")
            name = f"{key}, {value}"
        elif source == 2:
            items = f"enumerate({self.expression('list', scope)})"
            index, value = self.fresh("n"), self.fresh("w")
            inside.add(index, "int")
            inside.add(value, self.pick(["int", "float"]))
            name = f"{index}, {value}"
        elif source == 3:
            items = self.expression("str", scope)
            inside.add(name, "str")
        else:
            # A copy: the body may grow the list.
            items = f"{self.expression('list', scope)}[:12]"
            inside.add(name, self.pick(["int", "float"]))
        body = [Node("spend()")] + self.block(inside, self.random.randint(1, 3), depth + 1)
        return [Node(f"for {name} in {items}:", body)]

    def while_(self, scope, depth):
        name = self.fresh("t")
        inside = self.inner(scope)
        inside.in_loop = True
        inside.add(name, "int")
        step = self.random.randint(1, 3)
        start = self.random.randint(2, 20)
        body = [Node("spend()"), Node(f"{name} -= {step}")]
        body += self.block(inside, self.random.randint(1, 3), depth + 1)
        extra = f" and {self.expression('bool', scope)}" if self.chance(0.2) else ""
        return [Node(f"{name} = {start}"), Node(f"while {name} > 0{extra}:", body)]

    def if_(self, scope, depth):
        nodes = [
            Node(
                f"if {self.expression('bool' if self.chance(0.8) else 'any', scope)}:",
                self.block(self.inner(scope), self.random.randint(1, 3), depth + 1),
            )
        ]
        if self.chance(0.4):
            nodes.append(Node("else:", self.block(self.inner(scope), 1, depth + 1)))
        return nodes

    def try_(self, scope, depth):
        inside = self.inner(scope)
        nodes = [Node("try:", self.block(inside, self.random.randint(1, 3), depth + 1))]
        form = self.random.randrange(4)
        if form != 3:
            kind = self.pick(["Exception", "ZeroDivisionError", "(TypeError, ValueError)",
                              "(IndexError, KeyError)", "Exception", "Exception"])
            name = self.fresh("e")
            handler = [Node(f"where({name})")]
            handler += self.block(self.inner(scope), self.random.randint(0, 2), depth + 1)
            if self.chance(0.1):
                handler.append(Node("raise"))
            nodes.append(Node(f"except {kind} as {name}:", handler))
            if self.chance(0.15):
                nodes.append(Node("else:", self.block(self.inner(scope), 1, depth + 1)))
        if form >= 2:
            finale = self.inner(scope)
            finale.in_loop = False
            nodes.append(Node("finally:", self.block(finale, 1, depth + 2)))
        return nodes

    def with_(self, scope, depth):
        label = self.random.randint(0, 99)
        inside = self.inner(scope)
        name = self.fresh("o")
        inside.add(name, "object")
        body = self.block(inside, self.random.randint(1, 3), depth + 1)
        return [Node(f"with Noisy({label}) as {name}:", body)]

    def closure(self, scope, depth):
        name = self.fresh("g")
        numbers = scope.of_kind("int")
        parameter = self.fresh("q")
        inside = Scope(scope)
        inside.names = {n: k for n, k in scope.names.items() if k != "object"}
        inside.add(parameter, "int")
        if numbers and self.chance(0.5) and scope.in_function:
            captured = self.pick(numbers)
            body = [
                Node(f"nonlocal {captured}"),
                Node(f"{captured} = {captured} + {parameter}"),
                Node(f"return {captured}"),
            ]
        else:
            body = [Node(f"return {self.expression('int', inside)}")]
        result = self.fresh("v")
        call = f"{name}({self.expression('int', scope)})"
        if self.chance(0.3):
            call = f"{name}({name}({self.expression('int', scope)}))"
        scope.add(result, "int")
        lines = [Node(f"def {name}({parameter}):", body), Node(f"{result} = {call}")]
        if self.chance(0.2):
            lines[0] = Node(f"{name} = lambda {parameter}: {self.expression('int', inside)}")
        return lines

    def match(self, scope, depth):
        subject = self.expression("any", scope)
        cases = [
            Node("case int(n) if n > 3:", [Node("show('int', n)")]),
            Node("case [a, *rest]:", [Node("show('list', a, rest)")]),
            Node("case {'a': a}:", [Node("show('dict', a)")]),
            Node("case str() | None:", self.block(self.inner(scope), 1, depth + 1)),
            Node("case 0 | 1.5 | 'bc':", [Node("show('literal')")]),
        ]
        self.random.shuffle(cases)
        cases = cases[: self.random.randint(1, 4)]
        cases.append(Node("case _:", [Node("show('other')")]))
        return [Node(f"match {subject}:", cases)]

    def leave_loop(self, scope, depth):
        word = self.pick(["break", "continue"])
        return [Node(f"if {self.expression('bool', scope)}:", [Node(word)])]

    def yield_(self, scope, depth):
        kind = self.pick(["int", "int", "float"])
        if self.chance(0.15) and self.generators:
            name, kinds, _ = self.pick(self.generators)
            return [Node(f"yield from {name}({', '.join(self.expression(k, scope) for k in kinds)})")]
        if self.chance(0.2):
            name = self.fresh("v")
            scope.add(name, "none")
            return [Node(f"{name} = yield {self.expression(kind, scope)}")]
        return [Node(f"yield {self.expression(kind, scope)}")]

    def return_(self, scope, depth):
        value = self.expression("any", scope)
        return [Node(f"if {self.expression('bool', scope)}:", [Node(f"return {value}")])]

    # -- definitions

    def function(self, generator=False, coroutine=False):
        name = self.fresh("gen" if generator else "f")
        kinds = [self.kind() for _ in range(self.random.randint(0, 4))]
        scope = Scope()
        scope.in_function = True
        scope.is_generator = generator
        for i, kind in enumerate(kinds):
            scope.add(f"p{i}", kind)
        body = [Node("spend()")] + self.block(scope, self.random.randint(2, 7), 0)
        result = self.pick(["int", "int", "float", "float", "any", "list", "str"])
        if generator:
            body.append(Node(f"yield {self.expression('int', scope)}"))
        else:
            body.append(Node(f"return {self.expression(result, scope)}"))
        parameters = [f"p{i}" for i in range(len(kinds))]
        if kinds and self.chance(0.2):
            parameters[-1] += f"={self.constant(kinds[-1])}"
        node = Node(f"def {name}({', '.join(parameters)}):", body)
        if generator:
            self.generators.append((name, kinds, "int"))
        else:
            self.functions.append((name, kinds, result))
        return [node, Node(""), Node("")]

    def recursive(self):
        """A function that calls itself a bounded number of times."""
        name = self.fresh("r")
        scope = Scope()
        scope.in_function = True
        scope.add("p0", "int")
        scope.add("p1", self.pick(["int", "float"]))
        kind = scope.names["p1"]
        body = [
            Node("spend()"),
            Node("if p0 <= 0 or p0 > 8:", [Node(f"return {self.expression(kind, scope)}")]),
        ]
        body += self.block(scope, self.random.randint(0, 3), 1)
        inner = f"{name}(p0 - 1, {self.expression(kind, scope)})"
        if self.chance(0.4):
            inner += f" {self.pick(['+', '-'])} {name}(p0 - 2, {self.expression(kind, scope)})"
        body.append(Node(f"return {inner}"))
        self.functions.append((name, ["int", kind], kind))
        return [Node(f"def {name}(p0, p1):", body), Node(""), Node("")]

    def class_(self):
        name = self.fresh("C")
        base = self.pick(self.classes) if self.classes and self.chance(0.45) else None
        own = {
            self.pick(["a", "b", "c", "d", "e"]): self.pick(["int", "int", "float", "float", "list", "any"])
            for _ in range(self.random.randint(1, 3))
        }
        attributes = {**(base["attributes"] if base else {}), **own}
        kinds = list(attributes.values())
        cls = {"name": name, "attributes": attributes, "init": kinds,
               "methods": list(base["methods"]) if base else []}
        body = []
        slots = base is None and self.chance(0.25)
        if slots:
            body.append(Node(f"__slots__ = {tuple(attributes)!r}"))
        elif self.chance(0.3):
            body.append(Node(f"shared = {self.constant('int')}"))
        parameters = ", ".join(["self"] + [f"p{i}" for i in range(len(kinds))])
        init = [Node("spend()")]
        if base and self.chance(0.7):
            count = len(base["init"])
            init.append(Node(f"super().__init__({', '.join(f'p{i}' for i in range(count))})"))
        init += [Node(f"self.{attr} = p{i}") for i, attr in enumerate(attributes)]
        body.append(Node(f"def __init__({parameters}):", init))
        self.classes.append(cls)
        for _ in range(self.random.randint(1, 3)):
            body.append(self.method(cls))
        if self.chance(0.25):
            scope = Scope()
            scope.add("self", "object")
            body.append(Node("@property"))
            body.append(Node("def prop(self):", [
                Node("spend()"), Node(f"return {self.expression('int', scope)}")]))
            cls["attributes"] = {**attributes, "prop": "int"}
        if self.chance(0.3):
            operator = self.pick(["__add__", "__mul__", "__eq__", "__lt__", "__getitem__", "__call__"])
            scope = Scope()
            scope.add("self", "object")
            scope.add("other", "int")
            body.append(Node(f"def {operator}(self, other):", [
                Node("spend()"), Node(f"return {self.expression('int', scope)}")]))
            if operator == "__eq__":
                body.append(Node("__hash__ = object.__hash__"))
        if self.chance(0.15):
            body.append(Node("def __getattr__(self, name):", [
                Node("spend()"),
                Node("if name.startswith('_'):", [Node("raise AttributeError(name)")]),
                Node("return len(name)")]))
        if self.chance(0.2):
            body.append(Node("def __del__(self):", [Node(f"print('del {name}')")]))
        heading = f"class {name}({base['name']}):" if base else f"class {name}:"
        return [Node(heading, body), Node(""), Node("")]

    def method(self, cls):
        name = self.pick(["m", "n", "o", "step"])
        kinds = [self.pick(["int", "float"]) for _ in range(self.random.randint(0, 2))]
        result = self.pick(["int", "float"])
        scope = Scope()
        scope.in_function = True
        scope.add("self", "object")
        for i, kind in enumerate(kinds):
            scope.add(f"p{i}", kind)
        body = [Node("spend()")] + self.block(scope, self.random.randint(0, 3), 1)
        body.append(Node(f"return {self.expression(result, scope)}"))
        cls["methods"] = [m for m in cls["methods"] if m[0] != name] + [(name, kinds, result)]
        parameters = ", ".join(["self"] + [f"p{i}" for i in range(len(kinds))])
        return Node(f"def {name}({parameters}):", body)

    def coroutine(self):
        """An async function that awaits itself to a depth, run by hand."""
        name = self.fresh("co")
        scope = Scope()
        scope.add("p0", "int")
        scope.in_function = True
        body = [Node("spend()")] + self.block(scope, self.random.randint(1, 3), 1)
        body.append(Node("if 0 < p0 < 6:", [Node(f"return await {name}(p0 - 1)")]))
        body.append(Node(f"return {self.expression('int', scope)}"))
        runner = self.fresh("f")
        run = [
            Node("spend()"),
            Node("try:", [Node(f"{name}(p0).send(None)")]),
            Node("except StopIteration as stop:", [Node("return stop.value")]),
        ]
        self.functions.append((runner, ["int"], "int"))
        return [Node(f"async def {name}(p0):", body), Node(""), Node(""),
                Node(f"def {runner}(p0):", run), Node(""), Node("")]

    def hot_loop(self):
        """A function of unboxed arithmetic: what an optimiser likes most."""
        name = self.fresh("h")
        scope = Scope()
        scope.in_function = True
        scope.in_loop = True
        nodes = []
        for prefix, kind in (("a", "int"), ("b", "int"), ("x", "float"), ("y", "float")):
            variable = self.fresh(prefix)
            scope.add(variable, kind)
            nodes.append(Node(f"{variable} = {self.constant(kind)}"))
        if self.chance(0.5):
            variable = self.fresh("l")
            scope.add(variable, "list")
            values = ", ".join(self.constant(self.pick(["int", "float"])) for _ in range(4))
            nodes.append(Node(f"{variable} = [{values}]"))
        index = self.fresh("i")
        scope.add(index, "int")
        body = [Node("spend()")]
        for _ in range(self.random.randint(2, 6)):
            kind = self.pick(["int", "int", "float", "float"])
            names = scope.of_kind(kind)
            form = self.random.randrange(4)
            if form == 0:
                body += self.augment(scope, 3)
            elif form == 1:
                body.append(Node(f"{self.pick(names)} = {self.expression(kind, scope, 2)}"))
            elif form == 2:
                condition = self.expression("bool", scope, 2)
                body.append(Node(f"if {condition}:", self.block(self.inner(scope), 1, 3)))
            else:
                body += self.statement(scope, 3)
        nodes.append(Node(f"for {index} in range({self.pick([5, 17, 40, 90])}):", body))
        names = ", ".join(scope.of_kind("int")[:2] + scope.of_kind("float")[:2])
        nodes.append(Node(f"show({names})"))
        nodes.append(Node(f"return {self.pick(scope.of_kind('int'))}"))
        self.functions.append((name, [], "int"))
        return [Node(f"def {name}():", nodes), Node(""), Node("")]

    def main(self):
        """Calls everything, guarded, several times: cold, warm and with other types."""
        nodes = []
        scope = Scope()
        callables = [(name, kinds, False) for name, kinds, _ in self.functions]
        callables += [(name, kinds, True) for name, kinds, _ in self.generators]
        for name, kinds, generator in callables:
            variants = [
                f"({', '.join(self.expression(kind, scope) for kind in kinds)}"
                + ("," if len(kinds) == 1 else "") + ")"
                for _ in range(self.random.randint(1, 3))
            ]
            if kinds and self.chance(0.3):
                other = [self.expression(self.kind(), scope) for _ in kinds]
                variants.append(f"({', '.join(other)},)")
            times = self.pick([1, 2, 5])
            call = f"list({name}(*args))" if generator else f"{name}(*args)"
            loop = self.fresh("z")
            guarded = Node(f"for args in [{', '.join(variants)}] * {times}:", [
                Node("try:", [
                    Node("spend()"),
                    Node(f"show({call})"),
                ]),
                Node(f"except Exception as {loop}:", [Node(f"where({loop})")]),
            ])
            nodes += [
                Node("try:", [guarded]),
                Node(f"except Exception as {loop}:", [Node(f"where({loop})")]),
                Node("args = None"),
            ]
        for cls in self.classes:
            nodes += self.exercise(cls, scope)
        return nodes

    def exercise(self, cls, scope):
        """Makes objects of a class, calls their methods, shows and drops them."""
        name = self.fresh("v")
        error = self.fresh("z")
        body = [Node("spend()"), Node(f"{name} = {self.instance(cls, scope, 1)}")]
        for method, kinds, _ in cls["methods"]:
            arguments = ", ".join(self.expression(kind, scope, 1) for kind in kinds)
            body.append(Node(f"show({name}.{method}({arguments}))"))
        for attribute in cls["attributes"]:
            body.append(Node(f"show({name}.{attribute})"))
        for text in (f"{name} + 3", f"{name}(4)", f"{name}[5]", f"{name} == {name}"):
            if self.chance(0.3):
                body.append(Node(f"show({text})"))
        return [
            Node(f"for {self.fresh('i')} in range({self.pick([1, 3, 8])}):", [
                Node("try:", body),
                Node(f"except Exception as {error}:", [Node(f"where({error})")]),
            ]),
            Node(f"{name} = None"),
        ]

    def program(self):
        nodes = []
        for _ in range(self.random.randint(0, 3)):
            nodes += self.class_()
        for _ in range(self.random.randint(2, 5)):
            form = self.random.randrange(10)
            if form < 4:
                nodes += self.function()
            elif form == 4:
                nodes += self.function(generator=True)
            elif form == 5:
                nodes += self.recursive()
            elif form == 6:
                nodes += self.coroutine()
            else:
                nodes += self.hot_loop()
        return nodes + self.main() + [Node("print('end', budget)")]


def text_of(nodes):
    return PRELUDE + "\n".join(render(nodes)) + "\n"


def generate(seed):
    """The tree of the program with this number; the same for every Python 3.11."""
    return Generator(seed).program()


def removals(nodes):
    """Smaller variants of a tree, the largest cuts first: what a shrinker tries."""
    places = []

    def walk(body):
        for node in body:
            if node.body is not None:
                places.append(node.body)
                walk(node.body)

    places.append(nodes)
    walk(nodes)
    for body in places:
        size = len(body)
        while size >= 1:
            start = 0
            while start < len(body):
                yield body, start, min(size, len(body) - start)
                start += size
            size //= 2
