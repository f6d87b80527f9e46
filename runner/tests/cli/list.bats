#!/usr/bin/env bats
# list: what there is, as text, as names and as JSON.
load helper

@test "list shows every section, and every name of it" {
	run_split zonemark list
	succeeds
	all=$out
	for section in workloads options settings matrices documented monitors; do
		run_split zonemark list "$section" --names
		succeeds
		[ -n "$out" ]
		for name in $out; do
			[[ $all == *"  $name"* ]]
		done
	done
}

@test "the JSON answer is whole, and says of everything whether it runs here" {
	needs_command python3
	run_split zonemark list --json
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
assert list(answer) == ["workloads", "options", "settings", "matrices", "documented",
                        "monitors"], list(answer)
for section in ("workloads", "documented", "monitors"):
    assert answer[section], section
    for entry in answer[section]:
        assert entry["name"] and entry["summary"], entry
        assert entry["runs_here"] or entry["reason"], entry
for workload in answer["workloads"]:
    assert workload["op"] and workload["kinds"] and workload["metrics"], workload
    for option in workload["options"]:
        assert option["help"] and option["type"], option
'
}

@test "one workload shows its options with their presets, and its figures" {
	for name in $(zonemark list workloads --names); do
		run_split zonemark list "$name"
		succeeds
		has_line "^$name  "
		has_line '^Figures:'
		run_split zonemark list workloads "$name" --json
		succeeds
		has_line "\"name\": \"$name\""
	done
	run_split zonemark list page_fault1
	has_line '^Options, beside'
	has_line 'preset: '
}

@test "an unknown name suggests the nearest" {
	run_split zonemark list page_fualt1
	fails_with 2 "there is no page_fualt1; did you mean page_fault1\?"
	run_split zonemark list monitor
	fails_with 2 "there is no monitor; did you mean monitors\?"
	run_split zonemark list monitors page_fault1
	fails_with 2 "too many words"
}

@test "a locale with a decimal comma changes no number" {
	needs_command localedef
	localedef -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/de_DE.UTF-8" || skip "no source of de_DE"
	zonemark list --json | grep -v '"now"' > plain
	LOCPATH=$BATS_TEST_TMPDIR LC_ALL=de_DE.UTF-8 zonemark list --json | grep -v '"now"' > german
	diff plain german
}

@test "who is not root gets the list too, with reasons where root is needed" {
	needs_root
	needs_command setpriv
	run_split as_nobody "$ZONEMARK" list
	succeeds
	has_line '^Workloads'
}

@test "on one CPU it still answers" {
	needs_command taskset
	run_split taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" "$ZONEMARK" list workloads
	succeeds
}

@test "a row of any section by its name" {
	for name in full nightly pcp-v3/unix perf-profile; do
		run_split zonemark list "$name"
		succeeds
		has_line "^ *$name "
		run_split zonemark list "$name" --json
		succeeds
		[[ $out == *"\"name\": \"$name\""* ]] || explain
	done
	run_split zonemark list fulll
	[ "$status" -eq 2 ]
	[[ $err == *'there is no fulll'* ]] || explain
}
