"""A little language: tokens by one regular expression, a Pratt parser, a tree walker.

Usage: tokenizer.py [ROUNDS]; 40 in the tests
"""

import re
import sys
from collections import Counter
from typing import NamedTuple

TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<number>\d+(?:\.\d+)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator>\*\*|[<>=!]=|[-+*/%()<>=?:,;])
    """,
    re.VERBOSE,
)

SOURCE = """
# Some arithmetic with names
a = 3 + 4 * 2; b = (a - 1) ** 2 % 97;
c = a < b ? b - a : a - b;     # the distance
d = max(a, b, c) * min(a, 2.5) - -c;
e = a == 11 ? (b != 3 ? d : 0) : 1;
total = total + a + b * c - d / 4 + e;
"""


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def tokens_of(text):
    position = 0
    line = 1
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise SyntaxError(f"line {line}: unexpected {text[position]!r}")
        kind = match.lastgroup
        value = match.group()
        if kind != "space":
            yield Token(kind, value, line)
        line += value.count("\n")
        position = match.end()
    yield Token("end", "", line)


BINDING = {
    "?": 1, "==": 2, "!=": 2, "<": 3, ">": 3, "<=": 3, ">=": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "**": 7,
}


class Parser:
    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.token = next(self.tokens)

    def advance(self):
        token = self.token
        if token.kind != "end":
            self.token = next(self.tokens)
        return token

    def accept(self, text):
        if self.token.text == text and self.token.kind == "operator":
            self.advance()
            return True
        return False

    def expect(self, text):
        if not self.accept(text):
            raise SyntaxError(f"line {self.token.line}: expected {text!r}")

    def program(self):
        statements = []
        while self.token.kind != "end":
            name = self.advance()
            self.expect("=")
            statements.append((name.text, self.expression(0)))
            self.expect(";")
        return statements

    def expression(self, binding):
        left = self.prefix()
        while True:
            operator = self.token.text
            strength = BINDING.get(operator, 0)
            if self.token.kind != "operator" or strength <= binding:
                return left
            self.advance()
            if operator == "?":
                middle = self.expression(0)
                self.expect(":")
                left = ("if", left, middle, self.expression(strength - 1))
            else:
                right = self.expression(strength - 1 if operator == "**" else strength)
                left = (operator, left, right)

    def prefix(self):
        token = self.advance()
        if token.kind == "number":
            return ("number", float(token.text) if "." in token.text else int(token.text))
        if token.kind == "name":
            if not self.accept("("):
                return ("name", token.text)
            arguments = [self.expression(0)]
            while self.accept(","):
                arguments.append(self.expression(0))
            self.expect(")")
            return ("call", token.text, arguments)
        if token.text == "-":
            return ("negative", self.expression(6))
        if token.text == "(":
            inside = self.expression(0)
            self.expect(")")
            return inside
        raise SyntaxError(f"line {token.line}: unexpected {token.text!r}")


FUNCTIONS = {"max": max, "min": min}
OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def evaluate(node, names):
    match node:
        case ("number", value):
            return value
        case ("name", name):
            return names[name]
        case ("negative", inner):
            return -evaluate(inner, names)
        case ("if", condition, yes, no):
            return evaluate(yes if evaluate(condition, names) else no, names)
        case ("call", name, arguments):
            return FUNCTIONS[name](*[evaluate(argument, names) for argument in arguments])
        case (operator, left, right):
            return OPERATORS[operator](evaluate(left, names), evaluate(right, names))


def main(rounds=1900):
    kinds = Counter()
    names = {"total": 0}
    for _ in range(rounds):
        kinds.update(token.kind for token in tokens_of(SOURCE))
        for name, tree in Parser(SOURCE).program():
            names[name] = evaluate(tree, names)
    print(sorted(kinds.items()))
    print(sorted(names.items()))
    for wrong in ("a = 3 +;", "a = $;", "a = (1;", "\n\na 3;"):
        try:
            Parser(wrong).program()
        except SyntaxError as error:
            print(error)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
