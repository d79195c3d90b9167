#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports of a real recording, read by the programs they are made for.

speedscope by its schema, gecko by its structure, callgrind by callgrind_annotate, pprof by a
decoder in this file, the flame graph by a headless browser: a click zooms, a search marks and
sums, hostile names stay names.

usage: exports.py STROBE SHARES NAMES [CASE...]
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()

# The parts of https://www.speedscope.app/file-format-schema.json about sampled profiles.
SPEEDSCOPE = {
    "type": "object",
    "required": ["$schema", "shared", "profiles"],
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "name": {"type": "string"}, "exporter": {"type": "string"}, "activeProfileIndex": {"type": "number"},
        "shared": {"type": "object", "required": ["frames"], "properties": {"frames": {"type": "array", "items": {
            "type": "object", "required": ["name"], "additionalProperties": False, "properties": {
                "name": {"type": "string"}, "file": {"type": "string"}, "line": {"type": "number"},
                "col": {"type": "number"}}}}}},
        "profiles": {"type": "array", "minItems": 1, "items": {
            "type": "object",
            "required": ["type", "name", "unit", "startValue", "endValue", "samples", "weights"],
            "properties": {
                "type": {"const": "sampled"}, "name": {"type": "string"},
                "unit": {"enum": ["bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"]},
                "startValue": {"type": "number"}, "endValue": {"type": "number"},
                "samples": {"type": "array", "items": {"type": "array", "items": {"type": "number", "minimum": 0}}},
                "weights": {"type": "array", "items": {"type": "number"}}}}},
    },
}


def run(command, **options):
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **options)


class Recording:
    """A recording, and its contents by strobe's own report."""

    def __init__(self, strobe, path):
        self.strobe, self.path = strobe, path
        report = run([strobe, "report", path, "--format", "json"])
        self.report = json.loads(report.stdout)
        self.weights = {event["name"]: event["weight"] for event in self.report["events"]}
        self.samples = {event["name"]: event["samples"] for event in self.report["events"]}

    def export(self, form, *options):
        found = run([self.strobe, "export", self.path, "--format", form, *options])
        if found.returncode:
            raise RuntimeError(f"{form}: status {found.returncode}: {found.stderr[-300:]}")
        return found.stdout

    def event(self):
        return next(name for name in self.weights if name.startswith("cpu-clock"))


def speedscope(recording):
    try:
        import jsonschema
    except ImportError:
        checks.skip("speedscope: schema", "python3-jsonschema is not installed")
        return
    file = json.loads(recording.export("speedscope"))
    try:
        jsonschema.validate(file, SPEEDSCOPE)
        wrong = ""
    except jsonschema.ValidationError as error:
        wrong = str(error)[:300]
    checks.check("speedscope: schema", not wrong, wrong)
    frames = len(file["shared"]["frames"])
    good = all(frame < frames for profile in file["profiles"] for stack in profile["samples"] for frame in stack)
    checks.check("speedscope: every frame is there", good)
    sums = {"nanoseconds": 0, "none": 0}
    for profile in file["profiles"]:
        sums[profile["unit"]] += sum(profile["weights"])
    event = recording.event()
    others = sum(weight for name, weight in recording.weights.items() if name != event)
    checks.check("speedscope: sums", sums == {"nanoseconds": recording.weights[event], "none": others},
                 f"{sums}, {recording.weights}")


def gecko(recording):
    file = json.loads(recording.export("gecko", "-e", recording.event()))
    wrong = []
    count = 0
    for thread in file["threads"]:
        for table in ("samples", "stackTable", "frameTable", "markers"):
            width = len(thread[table]["schema"])
            if any(len(row) != width for row in thread[table]["data"]):
                wrong.append(f"{table}: width")
        samples, stacks, frames = (thread[table]["data"] for table in ("samples", "stackTable", "frameTable"))
        count += len(samples)
        if any(not 0 <= row[0] < len(stacks) for row in samples):
            wrong.append("samples: stack")
        if any(later[1] < row[1] for row, later in zip(samples, samples[1:])):
            wrong.append("samples: time")
        if any((row[0] is not None and not 0 <= row[0] < i) or not 0 <= row[1] < len(frames)
               for i, row in enumerate(stacks)):
            wrong.append("stackTable")
        if any(not 0 <= row[0] < len(thread["stringTable"]) or row[6] >= len(file["meta"]["categories"])
               for row in frames):
            wrong.append("frameTable")
    checks.check("gecko: every number points at something", file["threads"] and not wrong, wrong)
    gecko_times(recording, file)
    checks.check("gecko: a row for each sample", count == recording.samples[recording.event()],
                 f"{count}, {recording.samples}")


def gecko_times(recording, file):
    """Each sample has perf script's time, relative to the first sample."""
    found, wanted = {}, {}
    for thread in file["threads"]:
        found.setdefault(thread["tid"], []).extend(round(row[1] * 1e6) for row in thread["samples"]["data"])
    text = run(["perf", "script", "-i", recording.path, "-F", "tid,time,event", "--ns"], text=True).stdout
    rows = [re.match(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s+(\S+):", line) for line in text.splitlines()]
    rows = [(int(row.group(1)), int(row.group(2) + row.group(3)), row.group(4)) for row in rows if row]
    for tid, time, event in rows:
        if event == recording.event():
            wanted.setdefault(tid, []).append(time - min(time for _, time, _ in rows[:100]))
    checks.check("gecko: times are those of perf script",
                 wanted and {tid: sorted(times) for tid, times in found.items()} ==
                 {tid: sorted(times) for tid, times in wanted.items()} and "extra" not in file["meta"],
                 {tid: (sorted(times)[:3], sorted(wanted.get(tid, []))[:3]) for tid, times in found.items()})


def callgrind_lines(recording, text):
    """The source that callgrind_annotate shows has costs at its lines; their sum is the function's
    cost in a report."""
    hot = next(row for event in recording.report["events"] if event["name"] == recording.event()
               for row in event["rows"] if row["symbol"] == "shares_hot")
    costs = re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*:shares_hot\b", text, re.MULTILINE)
    own = sum(int(cost.replace(",", "")) for cost in costs)
    checks.check("callgrind: a function has what it has in a report", own == hot["self_weight"] if "self_weight" in hot
                 else abs(own - hot["self_percent"] / 100 * recording.weights[recording.event()]) < 1e5, (own, hot))
    annotated = re.search(r"-- Auto-annotated source: (\S*shares\S*\.[ch])\n.*?\n((?:.|\n)*?)(?=\n-{60}\n|\Z)", text)
    lines = re.findall(r"^\s*([\d,]+) \([ \d.]+%\)  (.+)$", annotated.group(2), re.MULTILINE) if annotated else []
    checks.check("callgrind: source lines with their costs", len(lines) >= 1 and
                 sum(int(cost.replace(",", "")) for cost, _ in lines) > own / 2, (annotated and annotated.group(1), lines[:3]))


def callgrind(recording, folder):
    if not shutil.which("callgrind_annotate"):
        checks.skip("callgrind", "callgrind_annotate (valgrind) is not installed")
        return
    path = os.path.join(folder, "callgrind.out")
    with open(path, "wb") as out:
        out.write(recording.export("callgrind", "-e", recording.event()))
    found = run(["callgrind_annotate", "--threshold=100", path], text=True)
    total = re.search(r"^\s*([\d,]+) \(100\.0%\)\s+PROGRAM TOTALS", found.stdout, re.MULTILINE)
    checks.check("callgrind: read without a word of complaint", found.returncode == 0 and not found.stderr,
                 found.stderr[-300:])
    checks.check("callgrind: total", total and int(total.group(1).replace(",", "")) ==
                 recording.weights[recording.event()], found.stdout[:600])
    rows = re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*:", found.stdout, re.MULTILINE)
    own = sum(int(row.replace(",", "")) for row in rows)
    checks.check("callgrind: sum of the functions", own == recording.weights[recording.event()],
                 f"{own}, {recording.weights}")
    callgrind_lines(recording, found.stdout)
    tree = run(["callgrind_annotate", "--inclusive=yes", "--tree=both", path], text=True)
    checks.check("callgrind: calls", tree.returncode == 0 and "shares_hot" in tree.stdout, tree.stderr[-300:])


def fields(data):
    """Yield (number, value) for each field of a protocol buffer: integers, and bytes."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        elif key & 7 == 2:
            size, at = varint(at)
            value = data[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def numbers(value):
    """Return the values of a packed repeated field."""
    if isinstance(value, int):
        return [value]
    out, number, shift = [], 0, 0
    for byte in value:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(number)
            number = shift = 0
    return out


def pprof(recording):
    event = recording.event()
    packed = recording.export("pprof", "-e", event)
    found = {}
    for number, value in fields(gzip.decompress(packed)):
        found.setdefault(number, []).append(value)
    strings = [value.decode() for value in found[6]]
    types = [dict(fields(value)) for value in found[1]]
    named = [(strings[value[1]], strings[value[2]]) for value in types]
    checks.check("pprof: sample types", named == [("samples", "count"), (event, "nanoseconds")], named)
    sums = [0, 0]
    used = set()
    keys = set()
    for sample in found[2]:
        for number, value in fields(sample):
            if number == 1:
                used.update(numbers(value))
            elif number == 2:
                sums = [a + b for a, b in zip(sums, numbers(value))]
            elif number == 3:
                keys.add(strings[dict(fields(value))[1]])
    checks.check("pprof: sums", sums == [recording.samples[event], recording.weights[event]], sums)
    checks.check("pprof: labels", keys == {"pid", "tid", "comm"}, keys)
    first = dict(fields(found[3][0]))
    checks.check("pprof: the main program is the first mapping", strings[first[5]].endswith("/shares"), strings[first[5]])
    functions = {dict(fields(value))[1]: strings[dict(fields(value))[2]] for value in found[5]}
    mappings = {dict(fields(value))[1]: dict(fields(value)) for value in found[3]}
    locations = {dict(fields(value))[1]: dict(fields(value)) for value in found[4]}
    checks.check("pprof: locations", used <= set(locations))
    inside = all(mappings[place[2]].get(2, 0) <= place.get(3, 0) < mappings[place[2]][3]
                 for place in locations.values() if place.get(2))
    lines = all(dict(fields(place[4]))[1] in functions for place in locations.values())
    checks.check("pprof: addresses lie in their mappings, lines in functions", inside and lines)
    checks.check("pprof: functions", "shares_hot" in functions.values())
    ids = {strings[mapping[5]]: strings[mapping.get(6, 0)] for mapping in mappings.values()}
    program = next((name for name in ids if name.endswith("/shares")), None)
    notes = run(["readelf", "-n", program], text=True).stdout if program else ""
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    checks.check("pprof: build-id", program and build_id and ids[program] in (build_id.group(1), ""),
                 f"{ids}, {build_id and build_id.group(1)}")


def symbol_range(path, name):
    """Return the start and end of a function in its file; (0, 0) if it is not there."""
    for line in run(["nm", "-S", "--defined-only", path], text=True).stdout.splitlines():
        word = line.split()
        if len(word) == 4 and word[3] == name:
            return int(word[0], 16), int(word[0], 16) + int(word[1], 16)
    return 0, 0


def segments(path):
    """Return (offset, address, length) of the segments loaded as code."""
    text = run(["readelf", "-lW", path], text=True).stdout
    return [(int(word[1], 16), int(word[2], 16), int(word[4], 16))
            for word in (line.split() for line in text.splitlines()) if word[:1] == ["LOAD"] and "E" in word[6:-1]]


def pprof_places(recording, name, packed):
    """Addresses lead into the files: by the mapping's offset, and in the main program directly."""
    found = {}
    for number, value in fields(gzip.decompress(packed)):
        found.setdefault(number, []).append(value)
    strings = [value.decode() for value in found[6]]
    functions = {dict(fields(value))[1]: strings[dict(fields(value))[2]] for value in found[5]}
    mappings = [dict(fields(value)) for value in found[3]]
    by_id = {mapping[1]: mapping for mapping in mappings}
    wrong, seen = [], set()
    for value in found[4]:
        lines = [dict(fields(line)) for number, line in fields(value) if number == 4]
        place = dict(fields(value))
        mapping, function = by_id.get(place.get(2)), functions[lines[-1][1]]
        path = strings[mapping[5]] if mapping else ""
        # nm lists no entries of a PLT.
        if not function.startswith("shares_") or "@" in function or not os.path.exists(path):
            continue
        offset = place[3] - mapping[2] + mapping.get(4, 0)
        address = next((offset - at + address for at, address, size in segments(path) if 0 <= offset - at < size), 0)
        low, high = symbol_range(path, function)
        seen.add(os.path.basename(path))
        if not low <= address < high or (mapping is mappings[0] and place[3] != address):
            wrong.append((function, path, hex(place[3]), hex(address), hex(low)))
    checks.check(f"pprof: addresses of {name} are those of the files", len(seen) >= 1 and not wrong, (seen, wrong[:3]))
    return seen


def pprof_code(recording, folder):
    """go tool pprof finds the code, of programs at any address and at a fixed one."""
    seen = pprof_places(recording, "shares", recording.export("pprof", "-e", recording.event()))
    checks.check("pprof: of the program and its library", len(seen) >= 2, seen)
    source, fixed = os.path.join(folder, "fixed.c"), os.path.join(folder, "fixed")
    with open(source, "w", encoding="ascii") as out:
        out.write("volatile unsigned long sum;\n"
                  "__attribute__((noinline)) void shares_fixed(unsigned long n)\n{\n"
                  "\twhile (n--)\n\t\tsum += n;\n}\n"
                  "int main(void)\n{\n\tfor (int i = 0; i < 300; i++)\n\t\tshares_fixed(1000000);\n\treturn 0;\n}\n")
    made = run(["cc", "-O1", "-g", "-no-pie", "-o", fixed, source])
    if made.returncode:
        checks.skip("pprof: a program at a fixed address", made.stderr[-200:])
        return
    path, why = record(folder, "fixed", fixed)
    if not path:
        checks.skip("pprof: a program at a fixed address", why)
        return
    packed = os.path.join(folder, "fixed.pb.gz")
    exported = Recording(recording.strobe, path)
    with open(packed, "wb") as out:
        out.write(exported.export("pprof", "-e", exported.event()))
    with open(packed, "rb") as data:
        pprof_places(exported, "a program at a fixed address", data.read())
    if not shutil.which("go"):
        checks.skip("pprof: go tool pprof", "go (golang-go) is not installed")
        return
    environment = dict(os.environ, HOME=folder, PPROF_TMPDIR=folder)
    listed = run(["go", "tool", "pprof", "-disasm", "shares_fixed", packed], text=True, env=environment)
    checks.check("pprof: go tool pprof -disasm", "ROUTINE" in listed.stdout and
                 f"{symbol_range(fixed, 'shares_fixed')[0]:x}:" in listed.stdout, (listed.stdout + listed.stderr)[-300:])
    page = os.path.join(folder, "fixed.html")
    run(["go", "tool", "pprof", "-weblist", "shares_fixed", "-output", page, packed], env=environment)
    with open(page, encoding="utf-8") if os.path.exists(page) else open(os.devnull, encoding="ascii") as text:
        html = text.read()
    checks.check("pprof: go tool pprof -weblist", "sum += n;" in html, html[-200:])


def first_mapping(strobe, path):
    """Return the file name of the first mapping."""
    packed = Recording(strobe, path).export("pprof")
    values = list(fields(gzip.decompress(packed)))
    strings = [value.decode() for number, value in values if number == 6]
    first = next(dict(fields(value)) for number, value in values if number == 3)
    return strings[first[5]] if first[2] < first[3] else "an empty mapping"


def pprof_program(strobe, folder):
    """The first mapping is the program, even if all its time is spent in a library."""
    library, program = os.path.join(folder, "libwork.so"), os.path.join(folder, "caller")
    sources = ((library, ["-shared", "-fPIC"], "void work(volatile long n)\n{\n\twhile (n--)\n\t\t;\n}\n"),
               (program, [library, "-Wl,-rpath," + folder],
                "void work(long n);\nint main(void)\n{\n\twork(300000000);\n\treturn 0;\n}\n"))
    for out, options, text in sources:
        with open(out + ".c", "w", encoding="ascii") as source:
            source.write(text)
        made = run(["cc", "-O1", "-o", out, out + ".c", *options])
        if made.returncode:
            checks.skip("pprof: a program without samples", made.stderr[-200:])
            return
    script_path = os.path.join(folder, "loop")
    with open(script_path, "w", encoding="ascii") as out:
        out.write(f"#!{sys.executable}\nfor i in range(3000000):\n    pass\n")
    os.chmod(script_path, 0o755)
    python = os.path.realpath(sys.executable)
    for name, command, wanted in (("a program", program, program), ("a script", script_path, python)):
        for recorder in (["perf", "record", "-q", "-e", "cpu-clock:u"], [strobe, "record", "-e", "cpu-clock:u"]):
            path = os.path.join(folder, "program.data")
            found = run([*recorder, "-o", path, "--", command])
            first = first_mapping(strobe, path) if found.returncode == 0 else found.stderr[-200:]
            checks.check(f"pprof: {name} is the first mapping, {os.path.basename(recorder[0])}", first == wanted,
                         first)


def script(recording):
    event = recording.event()
    text = recording.export("script", "-e", event).decode()
    heads = [line for line in text.splitlines() if re.match(r"^\S", line)]
    parsed = [re.match(r"^(.+?)\s+(\d+) (?:\[\d{3}\] )?\s*(\d+\.\d{6}):\s+(\d+) (\S+): $", line) for line in heads]
    if not checks.check("script: every head is one", heads and all(parsed),
                        next((line for line, good in zip(heads, parsed) if not good), "")):
        return
    times = [float(found.group(3)) for found in parsed]
    checks.check("script: in order of time", times == sorted(times))
    checks.check("script: samples", len(heads) == recording.samples[event], len(heads))
    checks.check("script: periods", sum(int(found.group(4)) for found in parsed) == recording.weights[event])
    with open(recording.path, "rb") as data:
        piped = run([recording.strobe, "export", "-", "--format", "script", "-e", event], stdin=data)
    checks.check("script: standard input", piped.stdout.decode() == text, piped.stderr[-300:])
    with subprocess.Popen(["cat", recording.path], stdout=subprocess.PIPE) as cat:
        piped = run([recording.strobe, "export", "-", "--format", "script", "-e", event], stdin=cat.stdout)
    checks.check("script: from a pipe", piped.stdout.decode() == text, piped.stderr[-300:])


def output(recording, folder):
    path = os.path.join(folder, "out.folded")
    with open(path, "w", encoding="ascii") as out:
        out.write("before")
    os.chmod(path, 0o604)
    bad = run([recording.strobe, "export", recording.path, "--format", "folded", "-e", "nothing", "-o", path])
    with open(path, encoding="ascii") as out:
        checks.check("-o: what was there stays when nothing is exported", bad.returncode == 1 and
                     out.read() == "before", bad.stderr)
    run([recording.strobe, "export", recording.path, "--format", "folded", "-e", recording.event(), "-o", path])
    with open(path, "rb") as out:
        checks.check("-o: the same as to standard output",
                     out.read() == recording.export("folded", "-e", recording.event()))
    checks.check("-o: nothing is left beside it", not [name for name in os.listdir(folder)
                                                       if name.startswith("out.folded.")])
    checks.check("-o: what was there keeps its mode", os.stat(path).st_mode & 0o777 == 0o604, oct(os.stat(path).st_mode))
    os.unlink(path)
    run([recording.strobe, "export", recording.path, "--format", "folded", "-o", path], umask=0o027)
    checks.check("-o: a new file has the mode of any new file", os.stat(path).st_mode & 0o777 == 0o640,
                 oct(os.stat(path).st_mode))
    full = run([recording.strobe, "export", recording.path, "--format", "folded", "-o", "/dev/full"])
    checks.check("-o: a full disk is told", full.returncode == 1 and b"No space left" in full.stderr, full.stderr)


def browser():
    """Return a driver of Chromium and None, or None and the reason."""
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        return None, "python3-selenium is not installed"
    driver = shutil.which("chromedriver")
    if not driver or not shutil.which("chromium"):
        return None, "chromium and chromium-driver are not installed"
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1260,900"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(driver), options=options), ""


def svg(recording, hostile, folder):
    path = os.path.join(folder, "flame.svg")
    for source, name in ((recording, "svg"), (hostile, "svg of hostile names")):
        with open(path, "wb") as out:
            out.write(source.export("svg", "-e", source.event()))
        try:
            xml.dom.minidom.parse(path)
            wrong = ""
        except Exception as error:  # pylint: disable=broad-except
            wrong = str(error)
        checks.check(f"{name}: well-formed", not wrong, wrong)
    driver, reason = browser()
    if not driver:
        checks.skip("svg: in a browser", reason)
        return
    try:
        in_browser(driver, recording, hostile, path)
    finally:
        driver.quit()


# Returns the number of frames with a text wider than their box.
SPILLED = """return Array.from(document.querySelectorAll("g.f")).filter(g => g.style.display != "none" &&
    g.querySelector("text").textContent && g.querySelector("text").getComputedTextLength() >
    g.querySelector("rect").getBBox().width).length"""
# Returns how far the page exceeds the window, how far all its parts end inside of it, and the gap
# above the search.
SPARE = """let whole = document.documentElement, width = whole.getBoundingClientRect().width;
    let ends = [".title", ".subtitle", "foreignObject", "#graph", "#details"].map(
        name => whole.querySelector(name).getBoundingClientRect().right);
    return [whole.scrollWidth - window.innerWidth, width - Math.max(...ends),
        whole.querySelector("foreignObject").getBoundingClientRect().top -
        whole.querySelector(".subtitle").getBoundingClientRect().bottom]"""


def click(driver, element):
    """Click an element in the middle of the window: at its edges are the title and the details."""
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def svg_widths(driver, path, frame):
    """The flame graph fits a window of any width, also after a resize."""
    for width in (400, 1600, 240, 800):
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": width, "height": 600, "deviceScaleFactor": 1, "mobile": False})
        if width in (400, 1600):
            driver.get("file://" + path)
        click(driver, frame("shares_hot"))
        over, spare, below = driver.execute_script(SPARE)
        checks.check(f"svg: fits {width} columns", over <= 0 and 0 <= spare < 40, (over, spare))
        checks.check(f"svg: no text spills at {width}", driver.execute_script(SPILLED) == 0)
        if width < 700:
            checks.check(f"svg: the search has its row at {width}", below > 0, below)
        click(driver, frame("all"))
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def in_browser(driver, recording, hostile, path):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    driver.get("file://" + path)
    checks.check("svg of hostile names: no error, no alert", not driver.get_log("browser"), driver.get_log("browser"))
    with open(path, "wb") as out:
        out.write(recording.export("svg", "-e", recording.event()))
    driver.get("file://" + path)

    def frame(name):
        return next(found for found in driver.find_elements(By.CSS_SELECTOR, "g.f")
                    if found.find_element(By.TAG_NAME, "title").get_attribute("textContent").split("\n")[0] == name)

    def width(name):
        return float(frame(name).find_element(By.TAG_NAME, "rect").get_attribute("width"))

    before = width("shares_hot")
    checks.amount("svg: a frame is as wide as its share", 0.6 < before / 1200 < 0.8, before)
    click(driver, frame("shares_hot"))
    checks.check("svg: a click zooms", width("shares_hot") > 1190, width("shares_hot"))
    details = driver.find_element(By.ID, "details").text
    checks.check("svg: details", details.startswith("shares_hot") and "samples" in details, details)
    driver.find_element(By.ID, "reset").click()
    checks.check("svg: reset", abs(width("shares_hot") - before) < 0.1, width("shares_hot"))
    ActionChains(driver).key_down(Keys.CONTROL).send_keys("f").key_up(Keys.CONTROL).perform()
    ActionChains(driver).send_keys("shares_(hot|warm)").perform()
    marked = driver.find_elements(By.CSS_SELECTOR, "g.f.match")
    found = driver.find_element(By.ID, "found").text
    share = re.match(r"matched ([\d.]+)%", found)
    checks.check("svg: a search marks", len(marked) >= 2, len(marked))
    if checks.check("svg: and sums", share, found):
        checks.amount("svg: the sum of a search", 80 < float(share.group(1)) < 100, found)
    ActionChains(driver).send_keys(Keys.ESCAPE).perform()
    checks.check("svg: Escape ends it", not driver.find_elements(By.CSS_SELECTOR, "g.f.match"))
    svg_widths(driver, path, frame)
    checks.check("svg: no errors", not driver.get_log("browser"), driver.get_log("browser"))


def record(folder, name, *command):
    path = os.path.join(folder, name + ".data")
    found = run(["perf", "record", "-q", "-F", "1999", "-g", "-e", "cpu-clock,page-faults", "-o", path, "--",
                 *command])
    return path if os.path.exists(path) and os.path.getsize(path) > 1000 else None, found.stderr[-200:]


def main():
    strobe, shares, names, *chosen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path, why = record(folder, "shares", shares, "2")
        hostile, _ = record(folder, "names", "timeout", "1", names)
        if not path or not hostile:
            checks.skip("exports", f"perf record: {why}")
            checks.finish()
        recording, hostile = Recording(strobe, path), Recording(strobe, hostile)
        cases = {"speedscope": lambda: speedscope(recording), "gecko": lambda: gecko(recording),
                 "callgrind": lambda: callgrind(recording, folder), "pprof": lambda: pprof(recording),
                 "pprof_code": lambda: pprof_code(recording, folder),
                 "pprof_program": lambda: pprof_program(strobe, folder),
                 "script": lambda: script(recording), "output": lambda: output(recording, folder),
                 "svg": lambda: svg(recording, hostile, folder)}
        for name, case in cases.items():
            if not chosen or name in chosen:
                case()
    checks.finish()


main()
