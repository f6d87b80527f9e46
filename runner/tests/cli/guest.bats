#!/usr/bin/env bats
# guest: Debian's kernel really booted, with two sockets: what a guest is for, end to end.
# labels: guest serial
# timeout: 1800
load helper

setup_more() {
	needs_command qemu-system-x86_64 apt-get apt-cache dpkg-deb
	# The kernel package is fetched once for all, and kept as long as the build.
	export XDG_CACHE_HOME=$ZM_BINARY_DIR/guest
}

# In a guest of two sockets with two CPUs each. Skips where the kernel cannot be fetched. One that hangs is
# ended by vm itself, which then shows the last lines of its console.
in_guest() {
	local limits=(--timeout 300s)
	[[ " $* " == *" --boot-timeout "* ]] || limits+=(--boot-timeout 200s)
	run_split timeout 600 "$ZONEMARK" vm --kernel debian --topology "${topology:-2s}" \
		--accel "${accel:-tcg}" "${limits[@]}" "$@"
	skip_without_kernel
	[ -z "$(ls -A "$TMPDIR")" ] || { ls -A "$TMPDIR"; return 1; }
}

skip_without_kernel() {
	if [ "$status" -eq 2 ] && [[ $err == *"cannot be had"* || $err == *"apt knows no"* ]]; then
		skip "$(printf '%s\n' "$err" | tail -n 1)"
	fi
}

quick=(warmup=0 idle=0.2 drain=0.2 runtime=2)

# How many huge pages a node had.
pages() { # NODE
	zonemark export last --format csv |
		awk -F, -v metric="numa-meminfo.node$1.HugePages_Total" '$8 == metric { n = $15 } END { print n }'
}

# The nodes that the last run's tasks were on, in order.
nodes_of_tasks() {
	zonemark export last --format json | tr -d ' \n' | grep -o '"tasks":\[[^]]*\]' |
		grep -o '"node":[0-9-]*' | sort | uniq -c | tr -s ' \n' ' '
}

is_marked() {
	run_split zonemark show last
	has_line 'guest: ran in a guest under TCG .* not how fast'
}

@test "whichever accelerator, it boots, lists, and finds SCTP" {
	accel=auto in_guest list workloads --json
	succeeds
	printf '%s\n' "$out" | tr -d '\n' | grep -q '"name": *"sctp_stream_many"'
	! printf '%s\n' "$out" | grep -q 'has no SCTP' || explain
	[[ $err == *"up after"* ]] || explain
}

@test "two nodes: page_fault1 on both takes its pages from both" {
	in_guest run page_fault1 nr_task=4 thp_enabled=never "${quick[@]}" --monitor numa-vmstat
	succeeds
	is_marked
	[ "$(nodes_of_tasks)" = ' 2 "node":0 2 "node":1 ' ]
	pages=$(figure window.ops)
	[ "$pages" -gt 1000 ]
	for node in 0 1; do
		hit=$(risen numa-vmstat.node$node.numa_local)
		# A quarter at least, though the scheduler may have favoured one of them.
		[ "$hit" -gt $((pages / 4)) ] || { echo "node $node: $hit of $pages"; return 1; }
	done
}

@test "tasks on one node, memory on the other; the PCP monitor's BPF on an older kernel" {
	in_guest run page_fault1 nr_task=2 thp_enabled=never "${quick[@]}" --cpus 0-1 --mem node:1 \
		--monitor numa-vmstat,pcp
	succeeds
	[ "$(nodes_of_tasks)" = ' 2 "node":0 ' ]
	pages=$(figure window.ops)
	there=$(risen numa-vmstat.node1.numa_other)
	here=$(risen numa-vmstat.node0.numa_hit)
	[ "$there" -ge "$pages" ] || { echo "node 1: $there of $pages"; return 1; }
	[ "$here" -lt $((pages / 4)) ] || { echo "node 0: $here of $pages"; return 1; }
	# Each page went through a page list, and lists are filled by batches of single pages.
	taken=$(risen pcp.alloc_zone_pages)
	[ "$taken" -gt $((pages / 2)) ] || { echo "pcp: $taken of $pages"; return 1; }
}

# The lists at their minimum: each page comes from the zone and goes back to it.
@test "an older kernel opens its functions: sections with wait and hold, every waiter of a lock, free_high" {
	in_guest run page_fault1 nr_task=4 size=8M thp_enabled=never "${quick[@]}" --cpus 0-3 \
		percpu_pagelist_high_fraction=100000 --monitor pcp,page-latency,lock-contention
	succeeds
	run_split zonemark show last
	has_line 'lock-contention: .*slow path: every waiter'
	has_line 'page-latency: refill: entry and exit of rmqueue_bulk; drain: entry and exit of free_pcppages_bulk'
	for side in refill drain; do
		for name in order0.p99.9_us hold.p50_us; do
			[ "$(figure page-latency.$side.$name)" -gt 0 ]
		done
		[ -n "$(figure page-latency.$side.wait.max_us)" ] # 0 when nobody was in the way
		[ "$(risen page-latency.$side.sections)" -gt 100 ]
	done
	for name in contend% steal% waits_per_s; do
		[ -n "$(figure zone-lock.$name)" ]
	done
	# A page fault frees single pages.
	[ "$(risen pcp.free_high)" -le $(($(risen pcp.drain) / 1000)) ]
	run_split zonemark show last --metric 'page-latency.drain.order0.*'
	has_line '[0-9]% +#'
}

@test "free_high is told where streams free high-order pages" {
	in_guest run unix_stream nr_task=2 "${quick[@]}" --monitor pcp,page-latency
	succeeds
	[ "$(risen pcp.free_high)" -gt 0 ]
	[ "$(risen pcp.free_high_pages)" -gt 0 ]
}

@test "where functions are closed, what stands in for them says so in its names" {
	in_guest run page_fault1 nr_task=4 size=8M thp_enabled=never "${quick[@]}" \
		percpu_pagelist_high_fraction=100000 sysctl.kernel.ftrace_enabled=0 \
		--monitor pcp,page-latency,lock-contention
	succeeds
	run_split zonemark show last
	has_line 'lock-contention: .*first waiter of a lock spins unseen'
	has_line 'page-latency: refill: approximate, .*drain: approximate, .*closed'
	for side in refill drain; do
		[ "$(figure page-latency.approximate.$side.p50_us)" -gt 0 ]
		[ -z "$(figure page-latency.$side.p50_us)" ]
	done
	[ -n "$(figure zone-lock.queued.contend%)" ]
	[ -z "$(figure zone-lock.contend%)" ]
	[ -n "$(figure pcp.free_high_at_most_per_s)" ]
	[ -z "$(figure pcp.free_high_per_s)" ]
}

@test "SCTP: one-to-many and one-to-one, from socket to socket, every message verified" {
	in_guest run sctp_stream_many,sctp_stream verify=full nr_task=1 --place cross-socket "${quick[@]}"
	succeeds
	[ "$(nodes_of_tasks)" = ' 1 "node":0 1 "node":1 ' ]
	for run in 1 2; do
		run_split zonemark show $run
		succeeds
		has_line 'sctp_stream.*: ok'
		has_line 'netload\.verified +[1-9]'
		has_line 'netperf\.ThroughputRecv_Mbps +[0-9.]*[1-9]'
	done
}

@test "SCTP's transactions; TLS by the kernel, every message verified" {
	in_guest run sctp_rr,sctp_rr_many verify=full request_size=100 response_size=200 nr_task=1 \
		"${quick[@]}"
	succeeds
	for run in 1 2; do
		run_split zonemark show $run
		has_line 'sctp_rr.*: ok'
		has_line 'netperf\.Throughput_tps \*? +[0-9.]*[1-9]'
		has_line 'netload\.latency\.p99 +[0-9.]*[1-9]'
	done
	in_guest run tcp_stream tls=kernel verify=full nr_task=1 "${quick[@]}"
	succeeds
	[ "$(figure netload.tls_kernel_ends)" -eq 2 ]
	[ "$(figure netload.verified)" -gt 0 ]
}

@test "nodes without CPUs, without memory, distances, threads; huge pages of each node; cgroup v2 alone" {
	topology=2s,cores=1,threads=2,nodes=3,cpuless=2,memless=1,distance=0-1:17+0-2:31 \
		in_guest --hugepages 0:8,2:16 run null "${quick[@]}" --monitor numa-meminfo
	succeeds
	inventory=$(zonemark export last --format json | tr -d ' \n' | grep -o '"inventory":{.*"swap_bytes"')
	for part in '"sockets":2,' '"smt":2,' '"cores":2,' '"mode":"v2"' '"accelerator":"tcg"' 'hugepages=0:8,2:16' \
		'{"cpus":"0-1","distances":\[10,17,31\],"memory_bytes":[1-9][0-9]*,"node":0}' \
		'{"cpus":"2-3","distances":\[17,10,20\],"memory_bytes":0,"node":1}' \
		'{"cpus":"","distances":\[31,20,10\],"memory_bytes":[1-9][0-9]*,"node":2}'; do
		printf '%s\n' "$inventory" | grep -q "$part" || { echo "no $part: $inventory"; return 1; }
	done
	[ "$(pages 0)" -eq 8 ]
	[ "$(pages 2)" -eq 16 ]
}

@test "emulated builds, each in a cgroup of version 2 with limits and a socket of its own" {
	in_guest run kbuild profile=small nr_instances=2 iterations=1 idle=0 drain=0 runtime=60 \
		memory_high=512M pids_max=500 cpuset=socket --monitor none
	succeeds
	run_split zonemark show last
	has_line 'kbuild.*: ok'
	[ "$(figure kbuild.workload)" -eq 2 ]
	[ "$(figure kbuild.faults_per_job)" -gt 100 ]
}

@test "two command lines of one kernel, in turn, each boot anew" {
	run_split timeout 600 "$ZONEMARK" ab --plan plan.json --name ab --kernel debian --accel tcg --topology 2s \
		--append-b transparent_hugepage=never --boots 1 page_fault1 nr_task=2 "${quick[@]}" --monitor none
	skip_without_kernel
	succeeds
	has_line '^ab: all 1 boots a side are done'
	has_line 'differs: command_line: .* -> .* transparent_hugepage=never$'
	has_line 'differs: thp_enabled: always -> never$'
	[ "$(grep -o '"boot": "[^"]*"' plan.json | sort -u | wc -l)" -eq 2 ]
	grep -q '"accelerator": "tcg"' plan.json
}

# How a guest fails: its status, and a line with the last of its console before.
fails_in_guest() { # PATTERN ARGUMENT …
	local pattern=$1
	shift
	in_guest "$@"
	[ "$status" -eq 3 ] || explain
	[[ $(printf '%s\n' "$err" | tail -n 1) =~ $pattern ]] || explain
	printf '%s\n' "$err" | grep -q '^console: ' || explain
}

@test "a guest that panics, hangs, or shows no channel is said, with its last lines" {
	fails_in_guest 'the guest ended: its kernel .*panic' --append rdinit=/nowhere list
	fails_in_guest 'shows no PCI device for the channel \(CONFIG_PCI' --append pci=off list
	fails_in_guest 'did not come up within 2 s \(--boot-timeout\)' --append loglevel=7 --boot-timeout 2s list
}

@test "a kernel without SCTP runs the rest, and says so" {
	mkdir none
	in_guest --modules none run sctp_stream "${quick[@]}"
	[ "$status" -eq 77 ] || explain
	[[ $out$err == *SCTP* ]] || explain
}

@test "out of memory in the guest is said, status 3, nothing of the run is lost" {
	in_guest --memory 256M run page_fault1 nr_task=4 size=1G thp_enabled=never "${quick[@]}" \
		--overcommit
	[ "$status" -eq 3 ] || explain
	run_split zonemark runs
	has_line 'failed'
}
