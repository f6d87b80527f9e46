#!/usr/bin/env bats
# noise: what one kernel shows against itself is kept, and comparisons after it respect it.
# timeout: 120
load helper

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_store" "$BATS_FILE_TMPDIR/sample.db" 48
}

setup_more() {
	cp "$BATS_FILE_TMPDIR/sample.db" store.db
	export ZONEMARK_DB=$PWD/store.db
}

@test "two boots of one kernel: kept, listed, respected" {
	run_split zonemark noise
	succeeds
	has_line '^no noise floors yet'
	run_split zonemark noise 1 8
	succeeds
	has_line '^page_fault1  will-it-scale.per_process_ops  2\.[0-9]+%  several +1 .* 6\.18\.0 '
	run_split zonemark noise 1 7
	succeeds
	has_line '^page_fault1  will-it-scale.per_process_ops  2\.[0-9]+%  several +2 '
	run_split zonemark compare base new
	succeeds
	has_line '^  ! page_fault1: will-it-scale.per_process_ops: one kernel differed from itself by 2\.[0-9]+% here'
	has_line '^1 better$'
	run_split zonemark compare base new --least 5
	succeeds
	[[ $out != *differed\ from\ itself* ]]
	run_split zonemark compare base new --format html
	succeeds
	has_line 'one kernel differed from itself by 2\.[0-9]+% here'
}

@test "as data" {
	needs_command python3
	zonemark noise 1 8
	run_split zonemark noise --json
	succeeds
	printf '%s' "$out" > noise.json
	python3 -c '
import json
floor, = json.load(open("noise.json"))
assert floor["workload"] == "page_fault1" and floor["of"] == 1 and not floor["is_points"]
assert not floor["is_one_boot"]
assert 0.02 < floor["floor"] < 0.03 and floor["kernel"] == "6.18.0", floor
'
}

@test "within one boot: kept apart, for comparisons within one boot too" {
	run_split zonemark noise 1 2
	succeeds
	has_line '^page_fault1  will-it-scale.per_process_ops  [0-9.]+%  one +1 '
	zonemark noise 1 8
	run_split zonemark noise
	has_line '^page_fault1 .*  one +1 '
	has_line '^page_fault1 .*  several +1 '
	run_split zonemark compare 1 2 --least 0.1
	has_line 'one kernel differed from itself by 2% here'
	run_split zonemark compare base new
	has_line 'one kernel differed from itself by 2\.[0-9]+% here'
}

launches() {
	run_split zonemark noise --run null nr_task=1 idle=0 warmup=0 runtime=50ms drain=0 \
		--repeat 4 --share --monitor none --db own.db "$@"
}

@test "it launches by itself: in turns within a boot, and against an earlier boot" {
	needs_command python3
	launches
	succeeds
	has_line '^null  .*  one +1 '
	[[ $out != *several* ]]
	[[ $err == *'within this boot only: no earlier one has such runs labelled noise;'* ]]
	launches --label other
	has_line '^null  .*  one +2 '
	[[ $err == *'labelled other;'* ]]
	python3 -c '
import sqlite3
with sqlite3.connect("own.db") as db:
    db.execute("UPDATE boot SET key = ?", ("an earlier one",))
'
	launches
	succeeds
	has_line '^null  .*  one +3 '
	has_line '^null  .*  several +1 '
	[[ $err != *'within this boot only'* ]]
	[ "$(zonemark runs --db own.db --json | python3 -c '
import json, sys
print(sum(run["label"] == "noise" for run in json.load(sys.stdin)))')" -eq 8 ]
}

@test "another store's floors come with its runs, once" {
	zonemark noise 1 8
	zonemark noise 1 2
	run_split zonemark import store.db --db lab.db
	succeeds
	has_line ', 2 for noise floors$'
	run_split zonemark import store.db --db lab.db --json
	has_line '"floors":0'
	zonemark noise > here
	zonemark noise --db lab.db > there
	cmp here there
	[ "$(grep -c '^page_fault1 ' there)" -eq 2 ]
}

@test "what would be no floor is refused, and nothing is kept" {
	run_split zonemark noise 1
	fails_with 2 'noise: two sides of one kernel are wanted'
	run_split zonemark noise 1 3
	fails_with 2 'runs of one kernel are wanted, these are of 6.18.0 and 6.19.0-rc1'
	run_split zonemark noise 1 "$BATS_FILE_TMPDIR/sample.db"
	fails_with 2 'not of the store in which it is kept'
	run_split zonemark noise --run
	fails_with 2 'noise: --run what\? a workload or a matrix'
	run_split zonemark noise --run null --repeat 3
	fails_with 2 'noise: --repeat 4 or more'
	run_split zonemark noise --run nothing
	fails_with 2 'nothing: no such workload'
	run_split zonemark noise 1 nothing
	fails_with 2 'noise: nothing: no run'
	run_split zonemark noise
	has_line '^no noise floors yet'
}
