#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys in the manual page equal those of the program's table, to the letter.

usage: keys.py TOP DUMP            compare
       keys.py TOP DUMP --write    put the table into doc/strobe.1
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

BEGIN = '.\\" keys: begin (made by tests/docs/keys.py from the table in tui/controls/keys.c)\n'
END = '.\\" keys: end\n'


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha")
    return "\\&" + text if text[0] in ".'?!,;:()[]|" else text


def section(dump):
    """Return the table as mdoc, from lines of "section<TAB>keys<TAB>help"."""
    lines, title = [], None
    for line in dump.splitlines():
        where, keys, sentence = line.split("\t")
        if where != title:
            lines += [".El"] if title else []
            lines += [f".Ss {where[0].upper() + where[1:]}", ".Bl -tag -width Ds"]
            title = where
        words = keys.split(" ") if ".." not in keys else [keys.replace(" ", "")]
        lines.append(".It Ic " + " ".join(escape(word) for word in words))
        lines.append(escape(sentence) + ".")
    return "\n".join(lines + [".El"]) + "\n"


def main(top, dumper, *write):
    dump = subprocess.run([dumper, "keys"], capture_output=True, text=True, check=True).stdout
    path = os.path.join(top, "doc/strobe.1")
    with open(path, encoding="utf-8") as page:
        text = page.read()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    if write == ("--write",):
        with open(path, "w", encoding="utf-8") as page:
            page.write(text[:begin] + section(dump) + text[end:])
        return
    checks = Checks()
    have, want = text[begin:end].splitlines(), section(dump).splitlines()
    wrong = [f"not in the page: {line}" for line in want if line not in have]
    wrong += [f"only in the page: {line}" for line in have if line not in want]
    if have != want and not wrong:
        wrong = ["the order differs"]
    checks.check("keys of the manual page", not wrong, "; ".join(wrong[:12]))
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
