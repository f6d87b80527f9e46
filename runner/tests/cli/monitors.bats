#!/usr/bin/env bats
# monitors: the BPF monitors in real runs of known work, on this machine; and what a run says without them.
# labels: known serial bpf
# timeout: 900
load helper

quick=(warmup=0 idle=0.1 drain=0.1 runtime=1)

# A run with such monitors; skips, with its reason, where one of them cannot be had.
watched() { # MONITOR,… ARGUMENT …
	watched_by "" "$@"
}

# The same below another program.
watched_by() { # COMMAND MONITOR,… ARGUMENT …
	local watcher
	read -ra watcher <<< "$1"
	shift
	needs_root
	run_split "${watcher[@]}" "$ZONEMARK" run --share "${@:2}" "${quick[@]}" --monitor "$1"
	if [ "$status" -eq 2 ] && [[ $err == *percpu_pagelist* ]]; then
		skip "$err"
	fi
	succeeds
	run_split zonemark show last --all
	local name
	for name in ${1//,/ }; do
		if printf '%s\n' "$out" | sed -n '/^Not to be had/,$p' | grep -q "^  $name: "; then
			skip "$(printf '%s\n' "$out" | grep "^  $name: " | tail -n 1)"
		fi
	done
}

# Is A within PERCENT of B?
near() { # A B PERCENT
	awk -v a="$1" -v b="$2" -v percent="$3" \
		'BEGIN { exit !(a >= b * (1 - percent / 100) && a <= b * (1 + percent / 100)) }' ||
		{ printf '%s is not within %s %% of %s\n' "$1" "$3" "$2"; return 1; }
}

# The rest of the machine takes pages too, and what is touched around the window is not in it.
crosses_both_ways() {
	local ops taken given
	ops=$(figure window.ops)
	taken=$(risen pcp.alloc_zone_pages)
	given=$(risen pcp.drain_pages)
	printf 'touched %s, taken %s, given %s\n' "$ops" "$taken" "$given"
	[ "$ops" -gt 10000 ] && [ "$taken" -ge $((ops * 9 / 10)) ] &&
		[ "$taken" -le $((ops * 15 / 10 + 100000)) ] && near "$given" "$taken" 10
}

# Two monitors that count the same events by programs of their own.
agrees_with_pcp() {
	near "$(risen page-latency.approximate.drain.blocks)" "$(risen pcp.drain)" 5 &&
		near "$(risen page-latency.approximate.refill.blocks)" "$(risen pcp.refill)" 5 &&
		[ "$(figure page-latency.approximate.drain.probe_ns)" -gt 0 ]
}

# Each page of page_fault1 comes from the zone and goes back when the lists are at their minimum; the best of
# some tries.
@test "counted order-0 pages: what a run touched is what crossed the zone's lock, both ways" {
	for _ in 1 2 3 4; do
		watched pcp,page-latency page_fault1 nr_task=2 thp_enabled=never \
			percpu_pagelist_high_fraction=100000
		crosses_both_ways || continue
		printf '%s\n' "$out" | grep -q 'page-latency: .*approximate' || return 0
		! agrees_with_pcp || return 0
	done
	return 1
}

# For each order a packet socket's ring: so many blocks, taken at once and given back at once.
make_rings() { # ORDER BLOCKS …
	python3 -c '
import mmap, socket, struct, sys
page = mmap.PAGESIZE
numbers = list(map(int, sys.argv[1:]))
for order, blocks in zip(numbers[::2], numbers[1::2]):
    ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    ring.setsockopt(263, 5, struct.pack("4I", page << order, blocks, page, blocks << order))
    ring.close()
' "$@"
}

@test "counted blocks of orders 1 to 3 cross the zone's lock both ways, and their drains are free_high" {
	needs_root
	needs_command python3
	make_rings 1 1 2> /dev/null || skip "no packet sockets here"
	local fraction=/proc/sys/vm/percpu_pagelist_high_fraction blocks=(0 16001 8009 4001)
	for _ in 1 2 3 4; do
		zonemark run --share null nr_task=1 warmup=0 idle=0.1 drain=0 runtime=4 --monitor pcp \
			percpu_pagelist_high_fraction=100000 > log 2>&1 3>&- &
		for _ in $(seq 50); do
			[ "$(cat "$fraction")" != 100000 ] || break
			sleep 0.1
		done
		sleep 0.8
		make_rings 1 "${blocks[1]}" 2 "${blocks[2]}" 3 "${blocks[3]}"
		wait $! || { cat log; return 1; }
		high=pcp.free_high
		[ -n "$(risen "$high" 2> /dev/null)" ] || high=pcp.free_high_at_most
		[ -n "$(risen "$high" 2> /dev/null)" ] || skip "$(zonemark show last | grep '^  pcp: ')"
		agrees=true
		for order in 1 2 3; do
			# A list may keep some of each; the rest of the machine adds its own.
			near "$(risen pcp.alloc_zone.order"$order")" "${blocks[order]}" 15 || agrees=false
			near "$(risen pcp.drain.order"$order")" "${blocks[order]}" 15 || agrees=false
		done
		[ "$(risen "$high")" -gt 10 ] || agrees=false
		! $agrees || return 0
	done
	return 1
}

@test "high-order frees: a stream's are seen as such, page faults' are not" {
	watched pcp,page-latency unix_stream nr_task=2
	high=pcp.free_high
	[ -n "$(risen "$high" 2> /dev/null)" ] || high=pcp.free_high_at_most
	streams=$(risen "$high")
	[ "$streams" -gt 0 ]
	# Single pages only; other programs of the machine free some that are not: the best of some tries.
	for _ in 1 2 3 4; do
		watched pcp page_fault1 nr_task=2 thp_enabled=never
		faults=$(risen "$high")
		[ "$faults" -gt $((streams / 10 + 10)) ] || return 0
	done
	echo "$faults of page faults, $streams of streams"
	return 1
}

@test "two tasks on one zone fight for its lock; its source, callers and stolen time stand beside" {
	for _ in 1 2 3 4; do
		watched lock-contention page_fault1 nr_task=2 thp_enabled=never \
			percpu_pagelist_high_fraction=100000
		has_line 'lock-contention: spin locks by'
		zone="zone-lock"
		[ -n "$(risen "$zone.waits" 2> /dev/null)" ] || zone="zone-lock.queued"
		has_line "${zone//./\\.}\\.contend% "
		has_line "${zone//./\\.}\\.steal% "
		# Of a single CPU, or where a first waiter is not seen, there may be none.
		[ "$(nproc)" -gt 1 ] && [ "$zone" = "zone-lock" ] || return 0
		[ "$(risen "$zone.waits")" -eq 0 ] || return 0
	done
	return 1
}

# perf, around a whole run, has what the run's own monitor has, and what the machine did before and after; the
# best of some tries.
is_within() { # OURS THEIRS
	printf '%s of %s\n' "$1" "$2"
	[ "$1" -le $(($2 + $2 / 100)) ] && [ "$1" -ge $(($2 / 2)) ]
}

@test "perf stat counts the same events as pcp" {
	needs_command perf
	for _ in 1 2 3; do
		perf stat -a -x, -o perf.txt -e kmem:mm_page_alloc_zone_locked,kmem:mm_page_pcpu_drain true \
			2> /dev/null || skip "perf cannot count tracepoints here"
		watched_by "perf stat -a -x, -o perf.txt -e kmem:mm_page_alloc_zone_locked,kmem:mm_page_pcpu_drain --" \
			pcp page_fault1 nr_task=2 thp_enabled=never percpu_pagelist_high_fraction=100000
		allocs=$(awk -F, '/zone_locked/ { print $1 }' perf.txt)
		drains=$(awk -F, '/pcpu_drain/ { print $1 }' perf.txt)
		if is_within "$(risen pcp.alloc_zone)" "$allocs" && is_within "$(risen pcp.drain)" "$drains"; then
			return 0
		fi
	done
	return 1
}

@test "perf lock contention counts as many waits for spin locks" {
	needs_command perf
	perf lock record -a -o perf.data true > /dev/null 2>&1 || skip "perf cannot record locks here"
	perf lock contention -i perf.data > /dev/null 2>&1 || skip "this perf has no lock contention"
	for _ in 1 2 3 4; do
		watched_by "perf lock record -a -o perf.data --" lock-contention page_fault1 nr_task=2 \
			thp_enabled=never percpu_pagelist_high_fraction=100000
		spin=$(risen lock-contention.spin.waits 2> /dev/null || risen lock-contention.spin-queued.waits)
		perf lock contention -i perf.data > contention.txt 2>&1
		theirs=$(awk '$8 == "spinlock" { sum += $1 } END { print sum + 0 }' contention.txt)
		if near "$spin" "$theirs" 25; then
			return 0
		fi
	done
	return 1
}

@test "without capabilities a run goes on, and says of each monitor why it is absent" {
	needs_root
	needs_command setpriv
	run_split as_nobody "$ZONEMARK" run --share null nr_task=1 "${quick[@]}" \
		--monitor pcp,page-latency,lock-contention
	succeeds
	run_split zonemark show last
	for name in pcp page-latency lock-contention; do
		has_line "^  $name: .*(CAP_BPF and CAP_PERFMON|without BPF programs|needs [0-9]|CONFIG_)"
	done
	run_split as_nobody "$ZONEMARK" list monitors
	succeeds
	has_line 'cannot run here: .*'
}

@test "a histogram is drawn, and every bucket of it is exported" {
	watched page-latency page_fault1 nr_task=1 thp_enabled=never percpu_pagelist_high_fraction=100000
	run_split zonemark show last --metric 'page-latency.*drain.order0.section'
	has_line '[0-9]% +#'
	needs_command python3
	zonemark show last --json > run.json
	python3 -c '
import json
run = json.load(open("run.json"))
hists = [h for h in run["histograms"] if h["metric"].endswith("drain.order0.section")]
assert len(hists) == 1, [h["metric"] for h in run["histograms"]]
hist = hists[0]
assert hist["count"] > 0 and sum(b[2] for b in hist["buckets"]) == hist["count"]
for first, end, count in hist["buckets"]:
    assert first < 64 or (end - first) / 2 <= 0.03 * first, (first, end)
'
}
