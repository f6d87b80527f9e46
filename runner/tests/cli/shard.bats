#!/usr/bin/env bats
# run --shard: the parts of a matrix together are the matrix.
load helper

QUICK=(idle=0s warmup=0s drain=0s runtime=100ms --share --monitor none)

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db
}

# A run may fail for want of CPU time on a busy machine; it is a cell of the part all the same.
ended() {
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || explain
}

cells() { # of the store, in order; how often each ended well, which is once at most, is looked at
	zonemark runs --limit 0 --json | python3 -c '
import json, sys
cells = {}
for run in json.load(sys.stdin):
    cell = run["parameters"]["mode"], run["parameters"]["seed"]
    cells[cell] = cells.get(cell, 0) + (run["status"] == "ok")
for cell in sorted(cells):
    assert cells[cell] <= 1
    print(*cell)'
}

@test "three parts are all of it, each cell once" {
	needs_command python3
	for part in 1/3 2/3 3/3; do
		run_split zonemark run null mode=process,thread seed=1-4 "${QUICK[@]}" --shard $part
		ended
		[[ $err =~ part\ $part:\ [23]\ of\ 8\ cells,\ about\ .*\ a\ round\;\ split\ [0-9a-f]{8} ]] || explain
	done
	[ "$(cells)" = "$(printf '%s\n' {process,thread}\ {1..4})" ]
	[ "$(zonemark runs --limit 0 --json | grep -c '"uuid"')" -eq 8 ]
}

@test "--resume goes on with the part" {
	needs_command python3
	run_split zonemark run null mode=process,thread seed=1-2 "${QUICK[@]}" --shard 1/2
	ended
	[ "$(cells | wc -l)" -eq 2 ]
	run_split zonemark run null mode=process,thread seed=1-2 "${QUICK[@]}" --shard 1/2 --resume
	ended
	[ "$(cells | wc -l)" -eq 2 ]
	run_split zonemark run null mode=process,thread seed=1-2 "${QUICK[@]}" --shard 2/2 --resume
	ended
	[[ $err == *"no earlier run of this line"* ]] || explain
	[ "$(cells)" = "$(printf '%s\n' {process,thread}\ {1..2})" ]
}

@test "a part of nothing is done; a wrong one is said" {
	run_split zonemark run null "${QUICK[@]}" --shard 2/2
	fails_with 0 '^zonemark: --shard 2/2: nothing to do, there being only 1 cell$'
	run_split zonemark run null "${QUICK[@]}" --shard 3/2
	fails_with 2 '^zonemark: --shard 3/2: the parts are 1/2 to 2/2$'
	run_split zonemark run null "${QUICK[@]}" --shard half
	fails_with 2 '^zonemark: --shard half: a part is like 2/8, the second of eight$'
}
