#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the comments of all sources by the rules that a program can see.

A comment ends by column 100, and a sentence has at most 25 words.  No sentence begins with a word
that makes a reader look for its noun.  CONTRIBUTING.md has the whole rule.

usage: comments.py [--suspects] TOP [FILE...]

--suspects   lists also the words that most often make a sentence hard to follow
"""

import io
import os
import re
import sys
import tokenize

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import style  # noqa: E402

WIDTH_MAX = 100
WORDS_MAX = 25
BEGINNINGS = re.compile(r"(of|as|the same|whose|what|where|behind|whom)\b", re.IGNORECASE)
SUSPECTS = re.compile(
    r"\b(tells?|told|telling|anew|whom|whose|what|where there (?:is|are)|of them|of those|thereof|"
    r"behind|beside|such (?:is|are|that)|for want of|stands? for|by now|is nothing|for (?:its|the) "
    r"sake|whoever|whatever|whichever|somebody|nobody|one of its|is to be|are to be)\b",
    re.IGNORECASE,
)
C_TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)


def c_comments(text):
    """Yields the line and the lines of each comment; line comments in sequence are one."""
    held, begun, last = [], 0, -2
    for match in C_TOKEN.finditer(text):
        token = match.group()
        if token[0] in "\"'":
            continue
        line = text.count("\n", 0, match.start()) + 1
        if token.startswith("//"):
            if line != last + 1:
                if held:
                    yield begun, held
                held, begun = [], line
            held.append(token[2:])
            last = line
        else:
            yield line, [re.sub(r"^\s*\*(?= |$)", "", part) for part in token[2:-2].split("\n")]
    if held:
        yield begun, held


def python_comments(text):
    held, begun, last, fresh = [], 0, -2, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            if line != last + 1:
                if held:
                    yield begun, held
                held, begun = [], line
            held.append(token.string.lstrip("#!"))
            last = line
        elif token.type == tokenize.STRING and fresh and token.string.startswith('"""'):
            yield line, token.string[3:-3].split("\n")
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    if held:
        yield begun, held


def shell_comments(text):
    held, begun = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            begun = begun if held else number
            held.append(line.lstrip().lstrip("#!"))
        elif held:
            yield begun, held
            held = []
    if held:
        yield begun, held


def comments(path, text):
    if path.endswith((".c", ".h", ".cc", ".S")):
        return c_comments(text)
    if path.endswith(".py") or text.startswith("#!/usr/bin/env python3"):
        return python_comments(text)
    return shell_comments(text)


def is_table(line):
    """Columns, usage lines and listings are not sentences."""
    return bool(re.search(r"\S(   +|\t+)\S", line)) or line.startswith(("    ", "\t\t", "     "))


def sentences(lines):
    """Splits a comment into sentences; blank lines, tables and list items end one too."""
    paragraphs = [[]]
    for line in lines:
        bare = line.strip()
        if not bare or is_table(line.lstrip(" ")) or "SPDX-License" in bare or "usage:" in bare:
            paragraphs.append([])
            continue
        if re.match(r"[-*] |\d+\. |--?\w", bare):
            paragraphs.append([])
        paragraphs[-1].append(bare)
    for paragraph in paragraphs:
        text = re.sub(r"^[-*] |^\d+\. ", "", " ".join(paragraph))
        text = re.sub(r"^[\w/.-]+ - ", "", text)
        yield from (part for part in re.split(r"(?<=[.!?;:])\s+", text) if part)


def faults(path, text, suspects=False):
    found = []
    width = WIDTH_MAX
    for begun, lines in comments(path, text):
        whole = text.split("\n")[begun - 1 : begun - 1 + len(lines)]
        for number, line in enumerate(whole, begun):
            if len(line.expandtabs(8)) > width and "://" not in line:
                found.append((number, f"ends behind column {width}"))
        for sentence in sentences(lines):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            shown = " ".join(sentence.split())[:90]
            if len(words) > WORDS_MAX:
                found.append((begun, f"has a sentence of {len(words)} words: {shown}"))
            if BEGINNINGS.match(sentence):
                found.append((begun, f"begins with '{words[0]}': {shown}"))
            if suspects and SUSPECTS.search(sentence):
                found.append((begun, f"may be hard to follow: {shown}"))
    return found


def sources(top):
    yield from style.sources(top)
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not style.SKIPPED_FOLDERS.match(name))
        if "meson.build" in files:
            yield os.path.join(folder, "meson.build")


def finds_violations():
    """Returns True if planted violations are found, and plain comments are not."""
    planted = (("a.c", "/* Of the ring. */\n", 1), ("a.c", "int a; // What is left.\n", 1),
               ("a.c", "/* " + "word " * 26 + "*/\n", 2), ("a.c", 'char *a = "/* Of it */";\n', 0),
               ("a.py", '"""As it is."""\n# Whose?\n', 2), ("a.sh", "# Where it is.\n", 1),
               ("a.c", "/* Returns the ring.  NULL: none. */\n", 0))
    return all(len(faults(path, text)) == n for path, text, n in planted)


def main(arguments):
    suspects = "--suspects" in arguments
    top, *files = [word for word in arguments if not word.startswith("--")]
    bad = read = 0
    for path in files or sources(top):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        read += 1
        found = faults(path, text, suspects)
        bad += 1 if found else 0
        for line, fault in found:
            print(f"{os.path.relpath(path, top)}:{line}: {fault}")
    print(f"{read - bad} files are clean, {bad} are not")
    if not finds_violations():
        print("planted violations are not found")
        return 1
    return 1 if bad or not read else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
