#!/usr/bin/env bats
# hugepages: runs that change the machine's pools of huge pages, ended by signals in every phase: the pools are
# as before, no task is left, and who is picked when memory runs out is nobody else.
#
# labels: cli fault serial
# timeout: 180
load helper

numbers=(/proc/sys/vm/nr_hugepages /proc/sys/vm/nr_overcommit_hugepages)

needs_huge_pages() {
	needs_root
	[ -w "${numbers[0]}" ] || skip "the pool cannot be written here"
	grep -q '^Hugepagesize' /proc/meminfo || skip "no huge pages here"
	huge_kb=$(awk '/^Hugepagesize/ { print $2 }' /proc/meminfo)
	[ "$huge_kb" -le 2048 ] || skip "huge pages of $huge_kb kB are too large for a test"
	before=$(state)
}

# All that the kernel counts of them.
state() {
	cat "${numbers[@]}"
	grep '^HugePages_' /proc/meminfo
}

start_run() { # WORKLOAD OPTION …
	env --default-signal=INT "$ZONEMARK" run --share --monitor none "$@" nr_task=1 mode=process drain=0 \
		> out 2> err 3>&- &
	runner=$!
}

until_true() { # CMD …: within ten seconds
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return 0
		sleep 0.025
	done
	echo "never true: $*"
	cat out err
	return 1
}

is_changed() {
	[ "$(state)" != "$before" ]
}

is_as_before() {
	[ "$(state)" = "$before" ]
}

descendants() {
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child"
		descendants "$child"
	done
}

has_tasks() {
	everybody=$(descendants "$runner")
	[ "$(echo "$everybody" | wc -w)" -ge 2 ]
}

state_of() { # PID
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2> /dev/null
}

is_over() { # PID …
	local pid
	for pid; do
		case $(state_of "$pid") in
		'' | Z | X) ;;
		*) return 1 ;;
		esac
	done
}

# Who was made last; stopped before, so that it is none that has just ended by itself.
kill_last() {
	local i last
	for ((i = 0; i < 400; i++)); do
		last=$(descendants "$runner" | tail -n 1)
		kill -STOP "$last" 2> /dev/null || continue
		until [[ $(state_of "$last") != [RSD] ]]; do :; done
		if [ "$(state_of "$last")" = T ]; then
			kill -9 "$last"
			return 0
		fi
	done
	return 1
}

pool_run=(hugetlb_pool pages=24 runtime=60 step=1)
cow_run=(anon_cow_rand_hugetlb unit_size=64M runtime=60)
cow_pool_run=(anon_cow_rand_hugetlb unit_size=64M runtime=60 pool=pool)
guest_run=(guest_cycle size=16M backing=memfd-hugetlb runtime=60)

# The signal, then what is left: nothing, after SIGKILL once the next command has put things back.
end_with() { # SIGNAL RUN … PHASE
	local signal=$1
	shift
	start_run "$@"
	until_true has_tasks
	until_true is_changed
	everybody=$(descendants "$runner")
	kill -s "$signal" "$runner"
	wait "$runner" || true
	# shellcheck disable=SC2086
	until_true is_over $everybody
	[ "$signal" != KILL ] || "$ZONEMARK" restore > /dev/null
	until_true is_as_before
	[ -z "$(find "$ZONEMARK_JOURNAL" -type f ! -name '.*')" ]
}

@test "signals while pages are made, copied and given back" {
	needs_huge_pages
	end_with INT "${pool_run[@]}" idle=0 warmup=0
	end_with TERM "${cow_run[@]}" idle=0 warmup=0
	end_with HUP "${cow_pool_run[@]}" idle=0 warmup=60
}

@test "kill -9 in the warm-up and in the window" {
	needs_huge_pages
	end_with KILL "${pool_run[@]}" idle=0 warmup=60
	end_with KILL "${cow_run[@]}" idle=0 warmup=0
	end_with KILL "${cow_pool_run[@]}" idle=0 warmup=0
	end_with KILL "${guest_run[@]}" idle=0 warmup=0
}

@test "kill -9 at any moment of a short run: made, at work, given back" {
	needs_huge_pages
	for delay in 0.02 0.06 0.12 0.2 0.3; do
		start_run hugetlb_pool pages=24 idle=50ms warmup=0 runtime=150ms
		sleep "$delay"
		everybody=$(descendants "$runner")
		kill -9 "$runner" 2> /dev/null || true
		wait "$runner" || true
		# shellcheck disable=SC2086
		until_true is_over $everybody
	done
	"$ZONEMARK" restore > /dev/null
	until_true is_as_before
}

@test "kill -9 of the task, and of the child that copies" {
	needs_huge_pages
	start_run "${cow_run[@]}" idle=0 warmup=0
	until_true has_tasks
	until_true is_changed
	kill_last
	status=0
	wait "$runner" || status=$?
	[ "$status" -eq 3 ]
	until_true is_as_before
	start_run "${pool_run[@]}" idle=0 warmup=0
	until_true has_tasks
	until_true is_changed
	kill_last
	status=0
	wait "$runner" || status=$?
	[ "$status" -eq 3 ]
	until_true is_as_before
}

# To zero a page of 1 GiB takes longer than anybody waits who calls the next command.
@test "kill -9 while a page of 1 GiB is zeroed: the next command waits for who still has it" {
	needs_huge_pages
	local gigantic=/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages
	[ -w $gigantic ] || skip "no huge pages of 1 GiB here"
	[ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -gt $((6 << 20)) ] || skip "too little memory"
	local pages_before
	pages_before=$(cat $gigantic)
	for _ in 1 2 3; do
		start_run guest_cycle backing=hugetlb hugepagesize=1G size=2G pool=pool idle=0 warmup=0 runtime=60
		until_true has_tasks
		for ((i = 0; i < 400; i++)); do
			[ "$(cat "${gigantic%/*}/free_hugepages")" -lt "$(cat $gigantic)" ] && break
			kill -0 $runner 2> /dev/null || skip "memory is too fragmented: $(tail -n 1 err)"
			sleep 0.025
		done
		kill -9 $runner
		wait $runner || true
		run_split zonemark restore
		succeeds
		[ "$(cat $gigantic)" = "$pages_before" ]
	done
}

@test "more huge pages than there is memory are refused with the figure" {
	needs_huge_pages
	for run in "hugetlb_pool pages=100000000" "anon_cow_rand_hugetlb unit_size=60T" \
		"anon_w_seq_hugetlb unit_size=60T pool=pool" "guest_cycle size=60T backing=hugetlb"; do
		# shellcheck disable=SC2086
		run_split zonemark run --share $run nr_task=1 idle=0 warmup=0 runtime=100ms
		[ "$status" -eq 2 ] || explain
		has_line 'refused: 1 process needs [0-9.]+ TiB of memory, and [0-9.]+ [MGT]iB are left'
		is_as_before
	done
}

# A cgroup whose tasks may use so many bytes of huge pages, and what its limit is called.
limit_huge_pages() { # BYTES
	unified=$(awk '$(NF - 2) == "cgroup2" { print $5; exit }' /proc/self/mountinfo)
	grep -qsw hugetlb "$unified/cgroup.controllers" || skip "no hugetlb controller of cgroup v2 here"
	if ! grep -qw hugetlb "$unified/cgroup.subtree_control"; then
		echo +hugetlb > "$unified/cgroup.subtree_control" || skip "no cgroup can be given a limit here"
		is_enabled=1
	fi
	box=$unified/zonemark-bats-$$
	mkdir "$box" || skip "no cgroup can be made here"
	limit=hugetlb.$((huge_kb < 1024 ? huge_kb : huge_kb / 1024))$([ "$huge_kb" -lt 1024 ] && echo KB || echo MB).max
	echo "$1" > "$box/$limit"
}

teardown() {
	[ -z "${box:-}" ] || rmdir "$box"
	[ -z "${is_enabled:-}" ] || echo -hugetlb > "$unified/cgroup.subtree_control"
}

boxed() {
	bash -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$box" "$ZONEMARK" run --share nr_task=1 \
		mode=process idle=0 warmup=0 drain=0 runtime=100ms --monitor none "$@"
}

@test "a hugetlb cgroup that is too small: refused with the figure, not killed by SIGBUS" {
	needs_huge_pages
	limit_huge_pages $((16 << 20))
	for run in "anon_cow_rand_hugetlb unit_size=64M" "anon_w_seq_hugetlb unit_size=32M pool=pool" \
		"guest_cycle size=32M backing=memfd-hugetlb"; do
		# shellcheck disable=SC2086
		run_split boxed $run
		[ "$status" -eq 2 ] || explain
		has_line "refused: 1 process needs [36][24].0 MiB of the huge pages of cgroup .*, and 16.0 MiB are left; raise its $limit"
		is_as_before
	done
	# What fits runs; who insists is told what killed it.
	run_split boxed anon_cow_rand_hugetlb unit_size=16M
	succeeds
	run_split boxed anon_cow_rand_hugetlb unit_size=64M --overcommit
	[ "$status" -eq 3 ] || explain
	has_line 'failed: .*found no huge page to copy to \(SIGBUS\)'
	until_true is_as_before
}

@test "what was asked for and what was got stand with the times" {
	needs_huge_pages
	run_split zonemark run --share hugetlb_pool pages=24 step=2 nr_task=1 idle=0 warmup=0 drain=0 runtime=100ms
	succeeds
	has_line 'hugetlb_pool.grow_time +[0-9.e-]+  s '
	has_line 'hugetlb_pool.shrink_time +[0-9.e-]+  s '
	has_line 'hugetlb_pool.got +24  pages '
	run_split zonemark show
	succeeds
	has_line 'hugetlb_pool.asked +24 '
	has_line 'hugetlb_pool.grow_ns_per_page.100 '
	has_line 'hugetlb_pool.shrink_ns_per_page.10 '
	is_as_before
}

@test "the counts are the kernel's own" {
	needs_huge_pages
	start_run hugetlb_pool pages=24 runtime=60 idle=0 warmup=0
	more=$(($(awk '/^HugePages_Total/ { print $2 }' <<< "$before") + 24))
	until_true grep -q "^HugePages_Total: *$more\$" /proc/meminfo
	kill "$runner"
	wait "$runner" || true
	# Four surplus pages, the parent's, are reserved, and used.
	start_run anon_w_seq_hugetlb unit_size=64M runtime=60 idle=0 warmup=0
	until_true grep -q "^HugePages_Surp: *[1-9]" /proc/meminfo
	[ "$(awk '/^HugePages_Surp/ { print $2 }' /proc/meminfo)" -le $((65536 / huge_kb + 1)) ]
	kill "$runner"
	wait "$runner" || true
	until_true is_as_before
}

@test "the kernel picks the tasks when memory runs out, and nobody else" {
	start_run anon_cow_seq unit_size=16M idle=0 warmup=0 runtime=60
	until_true has_tasks
	for _ in $(seq 100); do
		everybody=$(descendants "$runner")
		[ "$(echo "$everybody" | wc -w)" -ge 3 ] && break
	done
	for pid in $everybody; do
		adjusted=$(cat "/proc/$pid/oom_score_adj" 2> /dev/null) || continue
		[ "$adjusted" -eq 1000 ]
	done
	[ "$(cat "/proc/$runner/oom_score_adj")" = "$(cat /proc/self/oom_score_adj)" ]
	kill "$runner"
	wait "$runner" || true
}
