"""Text and dictionaries: making a text, counting its words, an index, caesar and run lengths.

Usage: words.py [WORDS]; 9000 in the tests
"""

import sys

SYLLABLES = (
    "ka lo mi ren tu sha vel or in da pe qui zan ber foll ist ma ne ro thu wick yar gel u"
).split()


def make_words(count, seed=7):
    words = []
    state = seed
    for i in range(count):
        parts = []
        state = (state * 69069 + 1) & 0xFFFFFFFF
        for _ in range(1 + (state >> 28) % 3):
            state = (state * 69069 + 1) & 0xFFFFFFFF
            parts.append(SYLLABLES[(state >> 16) % len(SYLLABLES)])
        word = "".join(parts)
        if i % 11 == 0:
            word = word.capitalize()
        if i % 17 == 16:
            word += "."
        elif i % 7 == 6:
            word += ","
        words.append(word)
    return words


def normalize(word):
    return word.strip(".,").lower()


def count_words(text):
    counts = {}
    for line in text.splitlines():
        for word in line.split():
            word = normalize(word)
            if word in counts:
                counts[word] += 1
            else:
                counts[word] = 1
    return counts


def index_lines(text):
    index = {}
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.split():
            index.setdefault(normalize(word), []).append(number)
    return index


def caesar(text, shift):
    result = ""
    for letter in text:
        if "a" <= letter <= "z":
            letter = chr((ord(letter) - 97 + shift) % 26 + 97)
        result += letter
    return result


def run_lengths(text):
    runs = []
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or text[i] != text[start]:
            runs.append((text[start], i - start))
            start = i
    return runs


def wrap(words, width=72):
    lines = []
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return "\n".join(lines)


def main(count=250000):
    words = make_words(count)
    text = wrap(words)
    counts = count_words(text)
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    print(len(text), len(counts), " ".join(f"{word}={n}" for word, n in common))
    index = index_lines(text)
    print(sum(len(lines) for lines in index.values()), max(len(word) for word in index))
    secret = caesar(text[: len(text) // 3], 13)
    print(secret[:40].replace("\n", "/"), len(run_lengths(secret)))
    print(caesar(secret, 13) == "".join(
        letter for letter in text[: len(text) // 3]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
