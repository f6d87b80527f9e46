#!/usr/bin/env bats
# outliers: twelve machines, of which two differ, from a store that is the same every time.
load helper

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_fleet" "$BATS_FILE_TMPDIR/fleet.db"
	"$ZM_BINARY_DIR/tests/sample_fleet" "$BATS_FILE_TMPDIR/few.db" 3
}

setup_more() {
	export ZONEMARK_DB=$BATS_FILE_TMPDIR/fleet.db
}

@test "who differs, in what, by how much, and what else is different there" {
	run_split zonemark outliers
	succeeds
	has_line '^ACME X1, Example 9000, 2 sockets, 128 GiB: 12 machines$'
	[ "$(printf '%s\n' "$out" | grep -c '^  m[0-9]* ')" -eq 3 ]
	has_line '^  m09 +page_fault1 nr_task=1 +will-it-scale.per_process_ops, pages/s +[0-9.]+ +[0-9.]+ +-(19|20)\.[0-9]+% +[0-9.e-]+ +2 +4$'
	has_line '^  m09 +page_fault1 nr_task=100% .* -(19|20)\.[0-9]+% '
	has_line '^  m05 +page_fault1 nr_task=100% .* -(5|6)\.[0-9]+% '
	has_line '^  m09: microcode "0x11" \(most: "0x12"\)$'
	has_line "^  m05: its inventory is as the others'$"
	has_line '^  one machine.s difference would have been seen from [0-9.]+% on'
	has_line '^24 comparisons; the chance of even one false name among all is 5%$'
	has_line '^ACME X1, Example 7000, 2 sockets, 128 GiB: 2 machines$'
	has_line '^  too few: 4 are the least'
	has_line '^2 metrics of fewer than 4 machines left out$'
}

@test "every metric, one kernel, larger differences only" {
	run_split zonemark outliers --metrics
	succeeds
	has_line '^  page_fault1 nr_task=1 .* 12 +[0-9.]+ +0\.[0-9]+% +\+[0-9.]+%$'
	run_split zonemark outliers --kernel '6.18*' --least 10
	succeeds
	[[ $out != *'  m05 '* ]] || explain
	has_line '^  m09 .* 1 +2$'
	run_split zonemark outliers --label other
	fails_with 2 'no such run that went well has a figure'
}

@test "the gate, and JSON" {
	needs_command python3
	run_split zonemark outliers --gate
	[ "$status" -eq 1 ]
	run_split zonemark outliers --gate --least 50
	succeeds
	run_split zonemark outliers --json
	succeeds
	printf '%s' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
assert answer["machines"] == 14 and answer["comparisons"] == 24
names = sorted((m["cell"]["nr_task"], o["machine"]) for m in answer["metrics"] for o in m["outliers"])
assert names == [("1", "m09"), ("100%", "m05"), ("100%", "m09")], names
for metric in answer["metrics"]:
	for outlier in metric["outliers"]:
		assert outlier["p"] < 0.05 and outlier["change"] < -0.05
'
}

@test "too few machines, no store, no words" {
	ZONEMARK_DB=$BATS_FILE_TMPDIR/few.db run_split zonemark outliers
	succeeds
	has_line '^  too few'
	has_line '^0 comparisons'
	ZONEMARK_DB=none.db run_split zonemark outliers
	fails_with 2 'none.db'
	run_split zonemark outliers m05
	fails_with 2 'outliers: m05: no word is wanted'
}
