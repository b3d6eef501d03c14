"""A JSON reader and writer by hand: recursive descent over the characters of a string.

Usage: json_parse.py [RECORDS]; 60 in the tests
"""

import sys

ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
UNESCAPES = {character: "\\" + letter for letter, character in ESCAPES.items() if letter != "/"}


class ParseError(ValueError):
    def __init__(self, message, position):
        super().__init__(f"{message} at character {position}")
        self.position = position


class Parser:
    def __init__(self, text):
        self.text = text
        self.position = 0

    def error(self, message):
        raise ParseError(message, self.position)

    def peek(self):
        """The next character that is no space; '' at the end."""
        text = self.text
        while self.position < len(text):
            character = text[self.position]
            if character not in " \t\r\n":
                return character
            self.position += 1
        return ""

    def expect(self, character):
        if self.peek() != character:
            self.error(f"expected {character!r}")
        self.position += 1

    def document(self):
        value = self.value()
        if self.peek():
            self.error("unexpected text")
        return value

    def value(self):
        character = self.peek()
        if character == "{":
            return self.object()
        if character == "[":
            return self.array()
        if character == '"':
            return self.string()
        if character == "-" or character.isdigit():
            return self.number()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.position):
                self.position += len(word)
                return value
        self.error("expected a value")

    def object(self):
        result = {}
        self.expect("{")
        if self.peek() == "}":
            self.position += 1
            return result
        while True:
            if self.peek() != '"':
                self.error("expected a name")
            name = self.string()
            self.expect(":")
            result[name] = self.value()
            if self.peek() != ",":
                break
            self.position += 1
        self.expect("}")
        return result

    def array(self):
        result = []
        self.expect("[")
        if self.peek() == "]":
            self.position += 1
            return result
        while True:
            result.append(self.value())
            if self.peek() != ",":
                break
            self.position += 1
        self.expect("]")
        return result

    def string(self):
        text = self.text
        self.position += 1
        start = self.position
        parts = []
        while True:
            if self.position >= len(text):
                self.error("unterminated string")
            character = text[self.position]
            if character == '"':
                parts.append(text[start : self.position])
                self.position += 1
                return "".join(parts)
            if character == "\\":
                parts.append(text[start : self.position])
                parts.append(self.escape())
                start = self.position
            else:
                self.position += 1

    def escape(self):
        letter = self.text[self.position + 1 : self.position + 2]
        if letter == "u":
            digits = self.text[self.position + 2 : self.position + 6]
            try:
                character = chr(int(digits, 16))
            except ValueError:
                self.error("bad escape")
            self.position += 6
            return character
        if letter not in ESCAPES:
            self.error("bad escape")
        self.position += 2
        return ESCAPES[letter]

    def number(self):
        text = self.text
        start = self.position
        self.position += 1
        while self.position < len(text) and text[self.position] in "0123456789.eE+-":
            self.position += 1
        digits = text[start : self.position]
        try:
            return int(digits)
        except ValueError:
            pass
        try:
            return float(digits)
        except ValueError:
            self.error("bad number")


def write(value, parts):
    if value is None:
        parts.append("null")
    elif value is True:
        parts.append("true")
    elif value is False:
        parts.append("false")
    elif isinstance(value, str):
        parts.append('"')
        for character in value:
            if character in UNESCAPES:
                parts.append(UNESCAPES[character])
            elif character < " " or character > "~":
                parts.append(f"\\u{ord(character):04x}")
            else:
                parts.append(character)
        parts.append('"')
    elif isinstance(value, (int, float)):
        parts.append(repr(value))
    elif isinstance(value, list):
        separator = "["
        for item in value:
            parts.append(separator)
            write(item, parts)
            separator = ","
        parts.append("]" if value else "[]")
    else:
        separator = "{"
        for name, item in value.items():
            parts.append(separator)
            write(name, parts)
            parts.append(":")
            write(item, parts)
            separator = ","
        parts.append("}" if value else "{}")


def make(records):
    return [
        {
            "id": i,
            "name": f'n\u00e4me "{i}"\t\u20ac',
            "price": i * 1.25 - 3,
            "tags": [f"t{i % 7}", f"u{i % 11}", None],
            "nested": {"even": i % 2 == 0, "odd": i % 2 == 1, "empty": {}, "none": []},
            "big": 10**20 + i,
        }
        for i in range(records)
    ]


def main(records=9000):
    data = make(records)
    parts = []
    write(data, parts)
    text = "".join(parts)
    again = Parser(text).document()
    print(len(text), again == data, sum(record["price"] for record in again))
    refused = 0
    for cut in range(1, min(len(text), 200)):
        try:
            Parser(text[:cut]).document()
        except ParseError as error:
            refused += error.position
    print(refused)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
