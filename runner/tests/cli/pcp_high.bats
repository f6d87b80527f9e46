#!/usr/bin/env bats
# pcp_high: the table of a setting of the CPUs' page lists; and the setting is put back, whatever happens.
#
# labels: cli fault serial
# timeout: 120
# shellcheck disable=SC2154 # $out is run_split's
load helper

setting=/proc/sys/vm/percpu_pagelist_high_fraction

setup_more() {
	needs_root
	[ -w $setting ] || skip "this kernel has no percpu_pagelist_high_fraction"
	before=$(cat $setting)
	quick=(--share nr_task=1 size=4M idle=0 warmup=0 drain=0 runtime=200ms)
}

is_as_before() {
	[ "$(cat $setting)" = "$before" ]
}

@test "one row for each value, in the form in which batches are judged" {
	run_split zonemark run pcp_high "${quick[@]}" percpu_pagelist_high_fraction=0,64,262144
	succeeds
	has_line '^setting +high +batch +throughput +free latency +free latency +alloc latency +alloc latency$'
	has_line '^ +pages +pages +page/s +avg / us +99% / us +avg / us +99% / us$'
	for value in 0 64 262144; do
		has_line "^percpu_pagelist_high_fraction=$value  +[0-9]+ +[0-9]+ +[0-9]+\\.[0-9]( +(~?[0-9.]+|-)){4}\$"
	done
	is_as_before
	# Shorter lists, as the kernel had them in the window.
	long=$(printf '%s\n' "$out" | awk '/^percpu_pagelist_high_fraction=64 / { print $2 }')
	short=$(printf '%s\n' "$out" | awk '/^percpu_pagelist_high_fraction=262144 / { print $2 }')
	[ "$short" -lt "$long" ]
}

@test "the same as JSON; what could not be measured is null and has its reason" {
	needs_command python3
	run_split zonemark run pcp_high "${quick[@]}" percpu_pagelist_high_fraction=64,512 --monitor zoneinfo --json
	succeeds
	printf '%s' "$out" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["latency_table"]
assert [row["setting"].split("=")[1] for row in rows] == ["64", "512"], rows
for row in rows:
    assert row["throughput"] > 0 and row["high_pages"] > 0 and row["batch_pages"] > 0, row
    assert row["free_avg_us"] is None and row["alloc_p99_us"] is None, row
'
	is_as_before
	run_split zonemark run pcp_high "${quick[@]}" percpu_pagelist_high_fraction=64 --monitor none
	succeeds
	has_line '^percpu_pagelist_high_fraction=64 +- +- '
	has_line '^-: not measured: '
}

@test "the setting is put back after signals, and after kill -9 by the next command" {
	for signal in INT TERM KILL; do
		env --default-signal=INT "$ZONEMARK" run pcp_high --share nr_task=1 size=4M idle=0 warmup=0 \
			runtime=30 percpu_pagelist_high_fraction=1000 > out 2> err 3>&- &
		runner=$!
		for _ in $(seq 200); do
			[ "$(cat $setting)" = "$before" ] || break
			sleep 0.05
		done
		[ "$(cat $setting)" = 1000 ]
		kill -s $signal $runner
		wait $runner || true
		[ $signal != KILL ] || "$ZONEMARK" restore > /dev/null
		is_as_before
	done
}
