#!/usr/bin/env bats
# kernels: the BPF monitors on every kernel of $ZM_KERNELS (what `vm --kernel` takes, with blanks between),
# each in a guest: what must load there does, what cannot is absent by name.
# labels: kernels serial
# timeout: 900
load helper

quick=(warmup=0 idle=0.2 drain=0.2 runtime=2)

setup_more() {
	[ -n "${ZM_KERNELS:-}" ] || skip "no kernels: ZM_KERNELS='debian FOLDER …' names them (docs/vm.md)"
	needs_command qemu-system-x86_64
	export XDG_CACHE_HOME=$ZM_BINARY_DIR/guest
}

# Is this release that version or a later one?
since() { # RELEASE MAJOR MINOR
	local major=${1%%.*} rest=${1#*.}
	[ "$major" -gt "$2" ] || { [ "$major" -eq "$2" ] && [ "${rest%%.*}" -ge "$3" ]; }
}

# The last run has the figure METRIC.
is_there() {
	[ -n "$(figure "$1")" ] || { echo "$release: no $1"; return 1; }
}

watch_on() { # KERNEL WORKLOAD …
	run_split timeout 200 "$ZONEMARK" vm --kernel "$1" --topology 2s --accel tcg run "${@:2}" \
		"${quick[@]}" --monitor pcp,page-latency,lock-contention
	succeeds
	release=$(printf '%s\n' "$err" | sed -n 's/^guest: \([0-9][^,]*\),.*/\1/p')
	run_split zonemark show last --all
	printf '%s\n' "$out" | grep -E '^  (!|pcp|page-lat|lock-cont|zone-lock)' | sed "s/^/$release/" >&3
}

@test "each kernel has what it can have" {
	for kernel in $ZM_KERNELS; do
		watch_on "$kernel" page_fault1 nr_task=4 size=8M thp_enabled=never
		is_there pcp.alloc_zone_per_s
		is_there page-latency.drain.hold.p99_us
		if since "$release" 5 19; then
			is_there zone-lock.contend%
			has_line 'slow path: every waiter'
			is_there pcp.free_high_per_s
		else
			has_line '^  lock-contention: .*needs 5\.19'
			has_line '^  pcp\.free_high: .*needs 5\.18'
		fi
		if since "$release" 6 0; then
			is_there page-latency.refill.wait.max_us
		else
			is_there page-latency.approximate.refill.avg_us
		fi
	done
}

@test "free_high is told on each kernel that has it" {
	for kernel in $ZM_KERNELS; do
		watch_on "$kernel" unix_stream nr_task=2
		since "$release" 5 18 || continue
		[ "$(risen pcp.free_high)" -gt 0 ]
	done
}
