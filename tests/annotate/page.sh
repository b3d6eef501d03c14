#!/bin/sh
# The page in a browser: it searches, opens a function, shows its counts and the flame graph.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
need chromium chromium
can_sample
build shapes

record stacks.data -e cpu-clock:u --call-graph dwarf,8192 -- ./shapes plain 100
expect 0 "$annotate" --json --all stacks.data
mv out stacks.json
expect 0 "$annotate" --html=page.html stacks.data

# dom FRAGMENT FILE: the page as the browser has it after its script ran.
dom() {
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu \
		--user-data-dir="$TMP/profile" --window-size=1200,800 --virtual-time-budget=3000 \
		--dump-dom "file://$TMP/page.html#$1" >"$2" 2>"$2.err" || skip "chromium does not run here: $(tail -n 1 "$2.err")"
	grep -q 'id="functions"' "$2" || skip "chromium shows no page here: $(tail -n 1 "$2.err")"
}
dom 'function=multiply' function.dom
dom 'search=divi' search.dom
dom 'flame' flame.dom
dom 'dark' dark.dom
/usr/bin/python3 - <<'CHECK' || fail "the page shows something else"
import html, json, re

report = json.load(open("stacks.json"))
functions = {f["name"]: f for f in report["functions"]}

def text(part):
    return html.unescape(re.sub(r"<[^>]*>", "", part))

def rows(page):
    table = re.search(r'<tbody id="functions">(.*?)</tbody>', page, re.S).group(1)
    return [[text(cell) for cell in re.findall(r"<td.*?</td>", row, re.S)]
            for row in re.findall(r"<tr.*?</tr>", table, re.S)]

page = open("function.dom").read()
shown = {row[2]: int(row[1]) for row in rows(page)}
for f in report["functions"]:
    assert any(n == f["samples"] and name.startswith(f["name"]) for name, n in shown.items()), f["name"]
listing = re.search(r'<div id="listing".*?>(.*)<div id="flame"', page, re.S).group(1)
assert text(re.search(r"<h2>(.*?)</h2>", listing).group(1)) == "multiply"
counts = [text(c) for c in re.findall(r'<span class="count">(.*?)</span>', listing)]
assert sum(int(c) for c in counts if c) == functions["multiply"]["samples"]
assert len(counts) == len(functions["multiply"]["instructions"])
assert "<path" in listing, "no jump arrows"

found = [row[2] for row in rows(open("search.dom").read())]
assert any(name.startswith("divide") for name in found), found
assert not any(name.startswith("multiply") for name in found), found

flame = open("flame.dom").read()
boxes = re.findall(r'<div class="box[^"]*"[^>]*title="([^"]*)"', flame)
assert any(title.startswith("divide\n") for title in boxes), boxes[:5]
assert any(title.startswith(f"all\n{report['samples']} samples") for title in boxes), boxes[:2]
assert '<html lang="en" class="dark">' in open("dark.dom").read()
CHECK
