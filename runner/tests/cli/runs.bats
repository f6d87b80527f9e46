#!/usr/bin/env bats
# runs, export: the history and everything in it, from a store that is the same every time.
# timeout: 120
load helper

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_store" "$BATS_FILE_TMPDIR/sample.db"
}

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db
	cp "$BATS_FILE_TMPDIR/sample.db" "$ZONEMARK_DB"
}

ids() { # the first column of $out, without the titles
	printf '%s\n' "$out" | awk 'NR > 1 { printf "%s%s", sep, $1; sep = " " }'
}

@test "the history is the newest first, each with its figure or its reason" {
	run_split zonemark runs
	succeeds
	[ "$(ids)" = "6 5 4 3 2 1" ]
	has_line '^  1  2026-05-01 12:00  page_fault1       2 process  ok +95000  pages/s will-it-scale.per_process_ops  base +6.18.0$'
	has_line '^  5 .* failed +task 1 was killed by signal 9 '
	[[ $out != *$'\e'* ]]
	[ -z "$err" ]
}

@test "filters choose" {
	while IFS='|' read -r switches wanted; do
		eval "run_split zonemark runs $switches"
		succeeds
		[ "$(ids)" = "$wanted" ] || { echo "$switches: $(ids)"; return 1; }
	done << 'CASES'
--workload 'page_fault*'|5 4 3 2 1
--workload page_fault1 --label new|4 3
--status failed|5
--status skipped|6
--kernel '6.18*'|2 1
--since 2026-05-01T12:03|6 5 4
--since 2026-05-02|
--limit 2|6 5
--status ok --limit 1|4
CASES
}

@test "what is left out is said on stderr" {
	run_split zonemark runs --limit 2
	[ "$err" = "the newest 2; --limit 0 shows all (the store has 6)" ]
	run_split zonemark runs --label nobody
	succeeds
	[ -z "$out" ]
	[ "$err" = "no run is like that" ]
}

@test "the answer in JSON is an array of runs" {
	needs_command python3
	run_split zonemark runs --json
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
runs = json.load(sys.stdin)
assert [r["run"] for r in runs] == [6, 5, 4, 3, 2, 1]
assert runs[5]["figure"]["value"] == 95000 and "figure" not in runs[1]
assert runs[0]["label"].startswith("\x1b[31m<b>") and runs[0]["status"] == "skipped"
'
	run_split zonemark runs --json --label nobody
	[ "$out" = "[]" ]
}

@test "wrong use is said in one line" {
	run_split zonemark runs base
	fails_with 2 'it takes switches only; `zonemark show base` shows one run'
	run_split zonemark runs --since yesterday
	fails_with 2 'runs: --since yesterday: a date'
	run_split zonemark runs --status well
	fails_with 2 'well'
}

@test "everything is exported as JSON, every reading with its phase" {
	needs_command python3
	run_split zonemark export base --output all.json
	succeeds
	[ -z "$out" ]
	python3 -c '
import json
answer = json.load(open("all.json"))
assert answer["format"] == "zonemark-export" and answer["version"] == 1
assert [r["run"] for r in answer["runs"]] == [1, 2]
run = answer["runs"][0]
series = {(s["metric"], s["id"]): s for s in run["series"]}
assert len(series) == 8, list(series)
ops = series["task.ops", 0]
assert len(ops["t_ns"]) == len(ops["values"]) == sum(n for _, n in ops["phases"])
window = dict((p["phase"], p) for p in run["phases"])["measure"]
at = dict(zip(ops["t_ns"], ops["values"]))
assert at[window["t1_ns"]] - at[window["t0_ns"]] == 500000
assert sum(series["meminfo.Memused", 0]["flags"]) == 8
last = series["fault.latency", 0]["values"][-1]
assert last["count"] == sum(b[2] for b in last["buckets"])
assert [r["metric"] for r in run["results"]][:2] == ["will-it-scale.per_process_ops", "will-it-scale.2.processes"]
'
}

@test "everything is exported as CSV" {
	needs_command python3
	run_split zonemark export --format csv --output all.csv
	succeeds
	python3 -c '
import csv
rows = list(csv.DictReader(open("all.csv", newline="")))
assert {r["run"] for r in rows} == {"1", "2", "3", "4", "5", "6"}
figure = [r for r in rows if r["run"] == "1" and r["record"] == "result"][0]
assert figure["metric"] == "will-it-scale.per_process_ops" and figure["value"] == "95000"
evil = [r for r in rows if r["run"] == "6"][0]["label"]
assert evil == "\x1b[31m<b>\"evil\",\n\x27label\x27", evil
ops = [r for r in rows if r["run"] == "1" and r["metric"] == "task.ops" and r["id"] == "1"]
assert int(ops[-1]["value"]) > 500000 and ops[0]["phase"] == "prepare"
assert {r["record"] for r in rows} == {"run", "phase", "task", "note", "absent", "result", "reading", "stack"}
'
}

@test "call chains are exported folded, and with everything else" {
	run_split zonemark export 1 --format folded
	succeeds
	[ "$(printf '%s\n' "$out" | wc -l)" -eq 4 ]
	has_line '^asm_exc_page_fault;handle_mm_fault;clear_page 600$'
	run_split zonemark export --format folded --output all.folded
	succeeds
	[ "$(awk '{ n += $NF } END { print n }' all.folded)" -eq 4000 ]
	run_split zonemark export 6 --format folded --output none.folded
	fails_with 2 '^zonemark: export: no call chains in this run; .*perf-profile'
	[ ! -e none.folded ]
	run_split zonemark export 1 --format csv
	has_line ',stack,perf-profile,cpu-clock,samples,.*,90,.*,do_syscall_64;__munmap;free_pages'
	needs_command python3
	zonemark export 1 | python3 -c '
import json, sys
stacks = json.load(sys.stdin)["runs"][0]["stacks"]
assert len(stacks) == 1 and stacks[0]["event"] == "cpu-clock" and stacks[0]["unit"] == "samples"
assert stacks[0]["folded"].splitlines()[3] == "[user] 10", stacks
'
}

@test "what cannot be exported leaves nothing behind" {
	run_split zonemark export 99 --output none.json
	fails_with 2 'no run has this number, name or label'
	run_split zonemark export --output nowhere/all.json
	fails_with 2 'nowhere/all.json'
	[ -z "$(ls none.json* 2> /dev/null)" ]
}

@test "a full disk is an error" {
	[ -c /dev/full ] || skip "no /dev/full"
	status=0
	zonemark export > /dev/full 2> err || status=$?
	[ "$status" -eq 2 ]
	grep -q 'could not be written' err
}

@test "another store's runs are taken in once, and are the same here" {
	run_split zonemark import store.db --db lab.db
	succeeds
	[ "$out" = "store.db: 6 new, 0 replaced, 0 there already" ]
	run_split zonemark import store.db --db lab.db --json
	[ "$out" = '{"store":"store.db","new":0,"replaced":0,"there":6,"under_way":0,"floors":0}' ]
	run_split zonemark export --output here.json
	succeeds
	run_split zonemark export --output there.json --db lab.db
	succeeds
	cmp here.json there.json
	run_split zonemark import store.db
	fails_with 2 'import: store.db: this is the store itself'
	run_split zonemark import
	fails_with 2 'import: which store\? give its file'
	run_split zonemark import none.db --db lab.db
	fails_with 2 'none.db: there is no store yet'
}
