#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--help, the manual page and both completions document the same options.

Options are compared both ways, and for each command.  Events of the completions are compared
with the program's catalogue, and options in the README's examples with the help.

usage: options.py TOP STROBE DUMP
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

COMMANDS = ("live", "report", "record", "export", "annotate", "diff", "archive", "stat", "list", "doctor")
HELP_OPTION = re.compile(r"^ {2}(?:(-\w)(?:, | {2}|$)| {4})(--[a-z-]+)?", re.MULTILINE)
CHOICES = (
    ("report", "--format"), ("list", "--format"), ("diff", "--format"), ("export", "--format"), ("report", "--sort"),
    ("report", "--group"), ("report", "--columns"), ("report", "--percentage"),
    ("annotate", "--format"), ("annotate", "--mode"), ("annotate", "--syntax"), ("diff", "--normalize"), ("stat", "--per"), ("stat", "--format"), ("live", "--color"), ("live", "--scope"),
)
checks = Checks()


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as text:
        return text.read()


def check(name, complaints):
    checks.check(name, not complaints, "; ".join(complaints))


def differ(have, want, where):
    return [f"{option} is missing in {where}" for option in sorted(want - have)] + [
        f"{option} of {where} does not exist" for option in sorted(have - want)
    ]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def help_options(strobe, *command):
    text = run(strobe, *command, "--help")
    return {option for pair in HELP_OPTION.findall(text) for option in pair if option}


def manual_options(page):
    """Return the options that the manual page describes: the heads of its lists."""
    options = set()
    for line in re.findall(r"^\.It (Fl .*)$", page, re.MULTILINE):
        options |= {"-" + name for name in re.findall(r"\bFl (\S+)", line)}
    return options


def manual_values(page, option):
    """Return the values that the manual page marks in the description of an option."""
    text = page[page.index(f".It Fl -{option[2:]} ") + 1 :]
    text = re.split(r"^\.It Fl |^\.S[hs] ", text, flags=re.MULTILINE)[0]
    marked = re.findall(r"^\.(?:It |Pq )?Cm (.*)$", text, re.MULTILINE)
    return set(re.findall(r"[a-z]+", " ".join(marked)))


def bash_completion(top, *words):
    script = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _strobe; '
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    path = os.path.join(top, "doc/completions/strobe.bash")
    return set(run("bash", "-c", script, "bash", path, "strobe", *words).split())


def bash_event(top, line):
    """Return bash's completions after the last colon of a line; bash splits words there."""
    script = (
        'source "$1"; strobe() { printf "%s\\n" sched:sched_switch sched:sched_waking cpu-clock; }; COMP_LINE=$2; '
        'COMP_WORDS=($(sed "s/:/ : /g" <<< "$2")); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _strobe; '
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    return set(run("bash", "-c", script, "bash", os.path.join(top, "doc/completions/strobe.bash"), line).split())


def bash_paths(top, folder, *words):
    """Return bash's completions in a folder; words are split by bash, the last one under the
    cursor."""
    script = (
        'source "$1"; cd "$2"; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE=$*; '
        'COMP_LINE=${COMP_LINE// : /:}; COMP_LINE=${COMP_LINE// = /=}; _strobe; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = os.path.abspath(os.path.join(top, "doc/completions/strobe.bash"))
    return set(run("bash", "-c", script, "bash", path, folder, "strobe", *words).splitlines())


def check_paths(top, folder):
    """Completes files for recordings and files, directories for directories, commands for
    commands."""
    os.mkdir(os.path.join(folder, "place"))
    for name in ("rec.data", "rec two.data", "a:rec.data", "place/rec.data"):
        with open(os.path.join(folder, name), "w", encoding="ascii"):
            pass
    files = {"rec.data", "rec two.data"}
    cases = [((command, "rec"), files) for command in ("report", "export", "annotate", "diff", "archive", "live")]
    cases += [((command, ""), files | {"a:rec.data", "place"}) for command in ("report", "diff", "record", "stat")]
    cases += [(("rec",), files), (("report", "place/"), {"place/rec.data"}), (("report", "./rec."), {"./rec.data"}),
              (("report", "a", ":", "re"), {"rec.data"}),
              (("report", "--rows", "3", "rec.d"), {"rec.data"}), (("report", "rec.data", "rec."), {"rec.data"}),
              (("report", "--input", "=", "rec."), {"rec.data"}), (("live", "--config", "rec t"), {"rec two.data"}),
              (("report", "--symfs", ""), {"place"}), (("record", "./rec."), {"./rec.data"}),
              (("record", "printen"), {"printenv"}), (("stat", "printen"), {"printenv"}), (("report", "printen"), {"printenv"})]
    for words, wanted in cases:
        have = bash_paths(top, folder, *words)
        # Commands and options that begin with "rec" come too.
        check(f"bash completes paths: {' '.join(words)}", [] if wanted <= have and (wanted == have or "rec" in words) else [str(have)])


def zsh_options(text, command):
    """Return the options in the arrays that a command's completion uses."""
    arrays = dict(re.findall(r"^\t(\w+)=\(\n(.*?)^\t\)$", text, re.MULTILINE | re.DOTALL))
    branch = re.search(rf"^\t{command}\)\n(.*?);;", text, re.MULTILINE | re.DOTALL).group(1)
    text = "\n".join(arrays[name] for name in re.findall(r"\$(\w+)", branch)
                     if name in arrays)
    heads = re.sub(r"\[[^\]]*\][^\n]*|\([^)]*\)", " ", text)
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", heads))


def main(top, strobe, dump):
    page = read(top, "doc/strobe.1")
    zsh = read(top, "doc/completions/_strobe")
    bash = read(top, "doc/completions/strobe.bash")
    everything = help_options(strobe)

    check("manual page", differ(manual_options(page), everything, "doc/strobe.1"))
    for command in COMMANDS:
        want = help_options(strobe, command)
        if shutil.which("bash"):
            have = bash_completion(top, command, "-")
            check(f"bash {command}", differ(have - {"--"}, want, f"bash's {command}"))
        else:
            checks.skip(f"bash {command}", "bash is missing")
        check(f"zsh {command}", differ(zsh_options(zsh, command), want, f"zsh's {command}"))
        check(f"synopsis of {command}", [] if f"Cm {command}" in page else ["is missing"])
        check(f"help {command}", sorted(f"{o} is not in --help" for o in want - everything))

    catalogue = [line.split() for line in run(dump, "events").splitlines()]
    names = {names[0] for names in catalogue}
    for shell, text in (("bash", bash), ("zsh", zsh)):
        listed = re.search(r'events=["(](.*?)[")]', text, re.DOTALL).group(1).split()
        check(f"events of {shell}", differ(set(listed), names, f"{shell}'s events"))
    described = page[page.index(".Sh EVENTS") : page.index(".Sh THE SCREEN")]
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", described))
    check("events of the manual page",
          sorted(f"{name} is missing" for names in catalogue for name in names if name not in words))

    if shutil.which("bash"):
        for line, wanted in (("strobe -e sched:sched_sw", {"sched_switch"}),
                             ("strobe -e cpu-clock,sched:sched_w", {"sched_waking"}),
                             ("strobe report -e cpu-c", {"cpu-clock"}),
                             ("strobe -e sched:sched_switch --sort se", {"self"})):
            have = bash_event(top, line)
            check(f"bash completes '{line}'", [] if have == wanted else [str(have)])
        with tempfile.TemporaryDirectory() as folder:
            check_paths(top, folder)

    # The values that the program lists when it refuses another one.
    for command, option in CHOICES:
        refused = subprocess.run([strobe, command, option, "?"], capture_output=True, text=True)
        said = re.search(r"must be (?:one|some) of (.*)", refused.stderr)
        want = set(re.findall(r"[a-z]+", said.group(1))) if said else {"a list of values"}
        check(f"values of {command} {option}", differ(
            bash_completion(top, command, option, ""), want, "bash's completion"))
        check(f"values of {command} {option} in the manual page", sorted(
            f"{value} is missing" for value in want - manual_values(page, option)))

    shown = set()
    for line in re.findall(r"^(?:\$ )?(?:sudo )?strobe [^\n]*", read(top, "README.md"), re.MULTILINE):
        own = line.split(" -- ")[0].split("#")[0]
        shown |= set(re.findall(r"(?<=\s)--?[a-zA-Z][a-z-]*", own))
    check("README", sorted(f"{option} does not exist" for option in shown - everything))

    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
