#!/usr/bin/env bats
# Runs that are killed, stopped, interrupted: whoever it hits, the tasks are gone, the machine is as it
# was, the reason is said, and the store knows.
#
# labels: cli fault
# timeout: 180
# shellcheck disable=SC2030,SC2031 # each test has its own $status
load helper

# A setting that each network namespace has for itself.
setting=net.ipv4.ip_default_ttl
setting_file=/proc/sys/net/ipv4/ip_default_ttl

teardown() {
	leave_namespace
}

look_at_setting() {
	own_namespace
	before=$(inside cat "$setting_file")
	other=$((before + 1))
}

# A run in the background: its pid is $runner; in the namespace, if there is one.
start_run() {
	local there=()
	[ -z "${namespace:-}" ] || there=(nsenter --net="/proc/$namespace/ns/net")
	"${there[@]}" "$ZONEMARK" run --share "$@" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" 3>&- &
	runner=$!
}

end_run() {
	status=0
	wait "$runner" || status=$?
	out=$(cat "$BATS_TEST_TMPDIR/out")
	err=$(cat "$BATS_TEST_TMPDIR/err")
}

until_true() { # CMD …: within ten seconds
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return 0
		sleep 0.05
	done
	echo "never true: $*"
	return 1
}

children() {
	cat "/proc/$1/task/$1/children" 2> /dev/null || true
}

# The launcher is there, and named what it is.
finds_launcher() {
	launcher=$(children "$runner" | tr -d ' ')
	[ -n "$launcher" ] && [ "$(cat "/proc/$launcher/comm" 2> /dev/null)" = zm-launcher ]
}

finds_tasks() { # N processes
	finds_launcher || return 1
	# shellcheck disable=SC2207
	tasks=($(children "$launcher"))
	[ "${#tasks[@]}" -eq "$1" ]
}

# All tasks have had CPU time: they work.
finds_work() { # N
	local task
	finds_tasks "$1" || return 1
	for task in "${tasks[@]}"; do
		[ "$(awk '{ print $14 + $15 }' "/proc/$task/stat" 2> /dev/null || echo 0)" -gt 0 ] || return 1
	done
}

is_gone() {
	local pid
	for pid; do
		[ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || return 1
	done
}

holds() { # VALUE of the setting
	[ "$(inside cat "$setting_file")" = "$1" ]
}

has_journal() {
	find "$ZONEMARK_JOURNAL" -type f ! -name '.*' 2> /dev/null | grep -q .
}

nr_runs() { # STATUS
	zonemark runs --status "$1" --json | grep -c '"status": *"'"$1"'"' || true
}

# PHASE OPTION …: kills the runner there, looks at the rest, and lets the next command clear up.
kill_in() {
	look_at_setting
	start_run null nr_task=2 "sysctl.$setting=$other" "$@"
	until_true holds "$other"
	until_true finds_launcher
	sleep 0.3
	tasks=()
	finds_launcher
	# shellcheck disable=SC2207
	tasks=($(children "$launcher"))
	kill -9 "$runner"
	end_run
	[ "$status" -eq 137 ]
	until_true is_gone "$launcher" "${tasks[@]}"
	holds "$other"
	run_split inside "$ZONEMARK" run null --share nr_task=1 idle=0 warmup=0 drain=0 runtime=20ms --monitor none
	succeeds
	holds "$before"
	[ "$(nr_runs interrupted)" -eq 1 ]
	[ "$(nr_runs ok)" -eq 1 ]
}

@test "kill -9 of the runner while it looks at the idle machine" {
	kill_in idle=60
}

@test "kill -9 of the runner in the warm-up" {
	kill_in idle=0 warmup=60 interval=30 runtime=60
}

@test "kill -9 of the runner in the measured window" {
	kill_in idle=0 warmup=0 runtime=60
}

@test "kill -9 of the runner at any moment of a short run" {
	look_at_setting
	for delay in 0.01 0.03 0.05 0.1 0.2 0.4; do
		start_run null nr_task=2 "sysctl.$setting=$other" idle=50ms warmup=0 runtime=100ms drain=50ms
		sleep "$delay"
		kill -9 "$runner" 2> /dev/null || true
		end_run
	done
	run_split inside "$ZONEMARK" restore
	succeeds
	holds "$before"
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "kill -9 of a task: the run failed, and says which" {
	start_run null nr_task=2 idle=0 warmup=0 runtime=60
	until_true finds_work 2
	kill -9 "${tasks[1]}"
	end_run
	[ "$status" -eq 3 ]
	has_line "failed: task 1 \(pid ${tasks[1]}\) was killed by signal 9"
	is_gone "$launcher" "${tasks[@]}"
	[ "$(nr_runs failed)" -eq 1 ]
}

@test "kill -9 of the launcher: the run failed, and no task is left" {
	start_run null nr_task=3 idle=0 warmup=0 runtime=60
	until_true finds_work 3
	kill -9 "$launcher"
	end_run
	[ "$status" -eq 3 ]
	has_line "failed: the tasks' parent \(pid $launcher\) was killed by signal 9"
	is_gone "$launcher" "${tasks[@]}"
}

@test "kill -9 of the process of all threads" {
	start_run null nr_task=3 mode=thread idle=0 warmup=0 runtime=60
	until_true finds_launcher
	until_true [ -d "/proc/$launcher/task" ]
	sleep 0.3
	kill -9 "$launcher"
	end_run
	[ "$status" -eq 3 ]
	has_line "failed: the process of all tasks \(pid $launcher\) was killed by signal 9"
}

@test "a stopped task has stalled" {
	start_run null nr_task=2 idle=0 warmup=0 runtime=60 stall=500ms
	until_true finds_work 2
	kill -STOP "${tasks[0]}"
	end_run
	[ "$status" -eq 3 ]
	has_line "failed: task 0 \(pid ${tasks[0]}\) has stalled: .* it is stopped"
	is_gone "$launcher" "${tasks[@]}"
}

@test "a task stopped in a window shorter than the patience is found at its end" {
	start_run null nr_task=2 idle=0 warmup=0 runtime=1500ms
	until_true finds_work 2
	kill -STOP "${tasks[0]}"
	end_run
	[ "$status" -eq 3 ]
	has_line "failed: task 0 .* has stalled"
}

interrupt_with() { # SIGNAL STATUS
	look_at_setting
	start_run null,page_fault1 nr_task=2 "sysctl.$setting=$other" idle=0 warmup=0 runtime=60 --repeat 2
	until_true finds_work 2
	kill "-$1" "$runner"
	end_run
	[ "$status" -eq "$2" ]
	has_line "interrupted by SIG$1"
	is_gone "$launcher" "${tasks[@]}"
	holds "$before"
	! has_journal
	[ "$(nr_runs interrupted)" -eq 1 ]
}

@test "SIGINT ends all: tasks gone, machine restored, run marked" {
	# Without this, a background job has SIGINT ignored.
	set -m
	interrupt_with INT 130
}

@test "SIGTERM ends all" {
	interrupt_with TERM 143
}

@test "SIGHUP ends all" {
	interrupt_with HUP 129
}

@test "under nohup a SIGHUP is not heard" {
	nohup "$ZONEMARK" run --share null idle=0 warmup=0 drain=0 runtime=1s \
		> "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" 3>&- &
	runner=$!
	until_true finds_work 1
	kill -HUP "$runner"
	end_run
	succeeds
}

@test "a failing cell does not stop the others" {
	start_run null nr_task=1,2 idle=0 warmup=0 runtime=1s drain=0
	until_true finds_work 1
	kill -9 "${tasks[0]}"
	end_run
	[ "$status" -eq 3 ]
	has_line "^null mode=process nr_task=1 .*failed: task 0"
	has_line "^null mode=process nr_task=2 .*null.throughput"
}

@test "a second measuring run is refused, and --share insists" {
	"$ZONEMARK" run null idle=0 warmup=0 runtime=60 2> "$BATS_TEST_TMPDIR/first" 3>&- &
	runner=$!
	sleep 0.5
	run_split zonemark run null idle=0 warmup=0 drain=0 runtime=20ms
	fails_with 2 'is measuring on this machine.*--share'
	run_split zonemark run null idle=0 warmup=0 drain=0 runtime=20ms --share
	succeeds
	kill -9 "$runner" || true # refused itself, beside a run of somebody else
	end_run
}

@test "a thousand tasks start and stop cleanly" {
	for mode in process thread; do
		run_split zonemark run --share --monitor none null nr_task=1024 mode=$mode \
			idle=0 warmup=0 drain=0 runtime=200ms
		succeeds
		has_line "^null mode=$mode nr_task=1024 +null.throughput"
	done
}
