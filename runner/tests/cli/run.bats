#!/usr/bin/env bats
# run: what it takes, what it refuses and how, and what it answers.
#
# labels: cli
# timeout: 120
load helper

brief="idle=0 warmup=0 drain=0 runtime=50ms"

# A short run beside whatever else is measuring.
brief_run() {
	# shellcheck disable=SC2086
	zonemark run --share --monitor none $brief "$@"
}

@test "the answer is a table, the talk is elsewhere" {
	run_split brief_run null mode=process,thread nr_task=1,2
	succeeds
	has_line '^cell +metric +median +unit +least +most +between +within +n +flags$'
	[ "$(printf '%s\n' "$out" | wc -l)" -eq 5 ]
	has_line '^null mode=thread nr_task=2 +null.throughput +[0-9]+ +ops/s'
	[[ $err == *"[4/4] null mode=thread nr_task=2: ok"* ]]
	[[ $err == *"zonemark show 4"* ]]
}

@test "repeats take turns over the cells" {
	run_split brief_run null nr_task=1,2 --repeat 2
	succeeds
	order=$(printf '%s\n' "$err" | sed -n 's/^\[\([0-9]\).*nr_task=\([0-9]\), launch \([0-9]\)$/\1:\2:\3/p' | tr '\n' ' ')
	[ "$order" = "1:1:1 2:2:1 3:1:2 4:2:2 " ]
	has_line 'nr_task=1 .* 2  shared'
}

@test "--json answers with every cell and launch" {
	run_split brief_run null nr_task=1,100% --repeat 2 --json --label 'a b'
	succeeds
	[ "$(printf '%s\n' "$out" | grep -cE '"ok": 2,?$')" -eq 2 ] || explain
	[ "$(printf '%s\n' "$out" | grep -cE '^ {12}[0-9]+\.[0-9]+,?$')" -eq 4 ] || explain
	has_line '"workload": "null"'
	has_line '"store": "/'
}

@test "an empty name, and a label without end, are refused" {
	run_split zonemark run null ''
	fails_with 2 'an empty name'
	run_split zonemark run null --label "$(head -c 100000 /dev/zero | tr '\0' x)"
	fails_with 2 'label x+…: 100000 bytes; a label has at most 200'
	[ ! -e "$XDG_DATA_HOME" ]
}

@test "wrong words are one line with the nearest right one" {
	while IFS='|' read -r words pattern; do
		# shellcheck disable=SC2086
		run_split zonemark run $words
		fails_with 2 "$pattern"
		[ -z "$out" ]
	done <<- END
		|no workload or matrix is named
		nul|nul: no such workload or matrix; did you mean null\?
		anon-cow-rand-mt|anon-cow-rand-mt: here that is anon_cow_rand mode=thread
		xyzzy|xyzzy: no such workload or matrix; .zonemark list. shows them
		null nr_tsk=1|nr_tsk: no such option; did you mean nr_task\?
		null nr_task=0|nr_task=0: at least one task is needed
		null nr_task=x|nr_task=x
		null runtime=5x|runtime=5x
		null mode=fibre|mode=fibre
		null --cpus 9999|--cpus 9999: CPU 9999 is not there
		null --cpus x|--cpus x: a list of CPUs is like 0-3,8
		null --mem node:99|node:99
		null --mem nowhere|nowhere
		null --place nowhere|nowhere
		null --repeat 0|repeat
		null --monitor meminf|--monitor meminf: no such monitor; did you mean meminfo\?
		null sysctl.no.such.thing=1|sysctl.no.such.thing
		null --db /proc/none/x.db|/proc/none
	END
}

@test "a share that is no whole number of tasks: what was used is said" {
	nr=$(nproc)
	run_split brief_run null nr_task=12.5% --cpus 0
	succeeds
	[[ $err == *"nr_task=12.5% of 1 CPU: 1 task is used"* ]]
	has_line 'nr_task=1 '
	run_split brief_run null nr_task=100% --json
	succeeds
	[[ $out == *"\"nr_task\": $nr,"* ]]
}

@test "only the CPUs that this process may use: taskset" {
	needs_command taskset
	run_split taskset -c 0 "$ZONEMARK" run --share --monitor none null nr_task=100%,200% \
		idle=0 warmup=0 drain=0 runtime=50ms
	succeeds
	has_line 'nr_task=1 '
	has_line 'nr_task=2 '
	run_split taskset -c 0 "$ZONEMARK" run null --cpus 1
	fails_with 2 '--cpus 1: CPU 1 is not'
}

# v1 or v2: a throw-away cgroup for the controller; $cgroup, and the shell's own pid put into it.
enter_cgroup() { # CONTROLLER
	needs_root
	if [ -d "/sys/fs/cgroup/$1" ]; then
		cgroup=/sys/fs/cgroup/$1/zm-test-$$
	elif grep -qw "$1" /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null; then
		cgroup=/sys/fs/cgroup/zm-test-$$
	else
		skip "no $1 cgroup can be made here"
	fi
	mkdir "$cgroup" || skip "no $1 cgroup can be made here"
}

teardown() {
	if [ -n "${cgroup:-}" ]; then
		for i in 1 2 3 4 5 6 7 8 9 10; do
			rmdir "$cgroup" && break
			sleep 0.1
		done
	fi
}

in_cgroup() { # CMD …
	sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$cgroup" "$@"
}

set_limit() { # FILE-OF-V1 FILE-OF-V2 VALUE
	if [ -e "$cgroup/$1" ]; then echo "$3" > "$cgroup/$1"; else echo "$3" > "$cgroup/$2"; fi
}

@test "only the CPUs that this process may use: cpuset" {
	enter_cgroup cpuset
	last=$(($(nproc) - 1))
	echo "$last" > "$cgroup/cpuset.cpus"
	[ ! -e "$cgroup/cpuset.mems" ] || echo 0 > "$cgroup/cpuset.mems"
	run_split in_cgroup "$ZONEMARK" run --share --monitor none null nr_task=100% mode=thread,process \
		idle=0 warmup=0 drain=0 runtime=50ms
	succeeds
	has_line 'mode=thread nr_task=1 '
}

@test "a pids cgroup that is too small is refused with both figures" {
	enter_cgroup pids
	set_limit pids.max pids.max 12
	for mode in process thread; do
		run_split in_cgroup "$ZONEMARK" run --share --monitor none null nr_task=64 mode=$mode
		[ "$status" -eq 2 ]
		has_line 'refused: 65 processes or threads are needed, and 1[01] are left; raise pids.max'
	done
}

@test "a pids cgroup that fills up while the tasks are made: said, and all ends" {
	enter_cgroup pids
	set_limit pids.max pids.max 12
	for mode in process thread; do
		run_split in_cgroup "$ZONEMARK" run --share --monitor none null nr_task=64 mode=$mode --overcommit
		[ "$status" -eq 3 ]
		has_line 'failed: task [0-9]+ of 64 could not be made: Resource temporarily unavailable; .*pids.max of .* is 12'
	done
}

@test "a memory cgroup that is too small is refused with both figures" {
	enter_cgroup memory
	set_limit memory.limit_in_bytes memory.max 64M
	run_split in_cgroup "$ZONEMARK" run --share --monitor none page_fault1 nr_task=2
	[ "$status" -eq 2 ]
	has_line 'refused: 2 processes need 2[67][0-9] MiB of the memory of cgroup .*, and [0-9.]+ MiB are left; raise its limit'
}

@test "a task that is killed for memory: said" {
	enter_cgroup memory
	set_limit memory.limit_in_bytes memory.max 64M
	for mode in process thread; do
		run_split in_cgroup "$ZONEMARK" run --share --monitor none page_fault1 mode=$mode --overcommit \
			idle=0 warmup=0 thp=never
		[ "$status" -eq 3 ]
		has_line 'failed: .* was killed for memory by the OOM killer, at the limit of 64.* MiB'
	done
}

@test "ulimit -n too small" {
	run_split sh -c 'ulimit -n 20; exec "$0" run null --share' "$ZONEMARK"
	[ "$status" -eq 2 ]
	[[ $out$err =~ ulimit\ -n ]] || { explain; false; }
}

@test "ulimit -v too small" {
	# A sanitizer maps terabytes.
	! grep -qs '^ZM_SANITIZE:STRING=.' "${ZM_BINARY_DIR:-}/CMakeCache.txt" || skip "sanitized"
	run_split sh -c 'ulimit -v 400000; exec "$0" run page_fault1 size=1G --share --monitor none' "$ZONEMARK"
	[ "$status" -eq 2 ]
	has_line 'refused: 1 process needs 1.0. GiB of address space, and [0-9]+ MiB are left; raise ulimit -v'
}

@test "ulimit -u too small" {
	needs_root
	run_split as_nobody bash -c 'ulimit -u 30; exec "$0" run null nr_task=64 --share' "$ZONEMARK"
	[ "$status" -eq 2 ]
	has_line 'refused: 65 processes or threads are needed, and 30 are left; raise ulimit -u'
}

@test "nobody can run, and hears what needs root" {
	needs_root
	run_split as_nobody "$ZONEMARK" run --share null,page_fault1,page_fault2 idle=0 warmup=0 drain=0 runtime=50ms
	succeeds
	has_line '^page_fault2 .*will-it-scale.per_process_ops'
	run_split as_nobody "$ZONEMARK" run --share null sysctl.vm.page-cluster=1 idle=0 warmup=0 drain=0 runtime=50ms
	[ "$status" -eq 2 ]
	[[ $out$err == *root* ]] || { explain; false; }
}

@test "what cannot run here is skipped with its reason" {
	grep -qw SCTP /proc/net/protocols && skip "SCTP is here"
	run_split zonemark run --share sctp_stream idle=0 warmup=0 runtime=50ms
	[ "$status" -eq 77 ]
	has_line 'skipped: .*SCTP'
	run_split brief_run null,sctp_stream
	succeeds
	has_line '^null .*null.throughput'
	has_line '^sctp_stream .*skipped'
}

@test "a memory cgroup does not hide behind a size that no machine has" {
	run_split zonemark run --share page_fault1 size=60T nr_task=1000
	[ "$status" -eq 2 ]
	has_line 'refused: 1000 processes need 5[0-9.]+ PiB of memory'
}

@test "in a locale with a decimal comma the figures stay as they are" {
	mkdir "$BATS_TEST_TMPDIR/locale"
	localedef --no-archive -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/locale/de_DE.UTF-8" 2> /dev/null ||
		skip "no German locale can be made here"
	run_split env LOCPATH="$BATS_TEST_TMPDIR/locale" LC_ALL=de_DE.UTF-8 "$ZONEMARK" run --share \
		--monitor none null idle=0 warmup=0 drain=0 runtime=0.05 --json
	succeeds
	has_line '"median": [0-9]+\.[0-9]+,$'
	has_line '"runtime": "50ms"'
}

@test "--resume goes on where the last invocation of the line stood" {
	run_split brief_run null nr_task=1,2 --repeat 2
	succeeds
	run_split brief_run null nr_task=1,2 --repeat 2 --resume
	succeeds
	[ "$(printf '%s\n' "$err" | grep -c launch)" -eq 0 ]
	has_line 'nr_task=1 +done earlier'
	run_split brief_run null nr_task=1,2 --repeat 3 --resume
	succeeds
	[[ $err == *"no earlier run of this line"* ]]
}

@test "a store on a full disk: said, and the store stays readable" {
	needs_root
	mkdir "$BATS_TEST_TMPDIR/full"
	run_split unshare -m sh -c '
		mount -t tmpfs -o size=64k none "$1" || exit 99
		"$0" run --share null nr_task=1-8 idle=0 warmup=0 runtime=100ms drain=0 --db "$1/x.db"' \
		"$ZONEMARK" "$BATS_TEST_TMPDIR/full"
	[ "$status" -ne 99 ] || skip "no tmpfs can be mounted here"
	[ "$status" -eq 2 ]
	[[ $err =~ (full|No\ space) ]] || { explain; false; }
}
