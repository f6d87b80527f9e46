#!/usr/bin/env bats
# profile: a command of the user's, with the monitors watching: its own output and status, a run of it.
# timeout: 180
load helper

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db
}

# Beside whatever else is measuring.
profile_here() {
	zonemark profile --share "$@"
}

@test "a command's output stays its own, and its run is kept" {
	run_split profile_here --monitor time,proc-vmstat,memused --label mine -- sh -c 'echo own words; echo own trouble >&2'
	succeeds
	has_line '^own words$'
	has_line '^run 1: profile, 1 process task: ok$'
	has_line 'profile.elapsed_time \*'
	has_line '^  time.elapsed_time '
	[[ $err == *"own trouble"* ]]
	[[ $err == *'`zonemark show 1` shows it again'* ]]
	run_split zonemark show mine
	succeeds
	has_line 'parameters +command=sh -c .echo own words; echo own trouble >&2. monitor_interval=1000ms'
	has_line '^  profile.max_rss +'
}

@test "the exit status is the command's" {
	for expected in 0 1 77 200; do
		run_split profile_here --monitor none -- sh -c "exit $expected"
		[ "$status" -eq "$expected" ] || explain
		has_line ': ok$'
	done
	run_split profile_here --monitor none -- sh -c 'exit 3'
	[ "$status" -eq 3 ] || explain
	has_line '! exit-status: the command ended with status 3$'
	run_split profile_here --monitor none -- sh -c 'kill -SEGV $$'
	[ "$status" -eq 139 ] || explain
	has_line ': failed: the command was killed by signal 11 '
	has_line 'none of its figures counts as a result'
}

@test "what cannot be run is said in one line, and is no run" {
	run_split profile_here
	fails_with 2 '^zonemark: profile: which command\?'
	run_split profile_here -- no-such-command-here
	fails_with 127 '^zonemark: no-such-command-here: no such command on PATH$'
	run_split zonemark profile -- ''
	fails_with 127 "^zonemark: the command's name is empty$"
	run_split profile_here -- ./nothing
	fails_with 127 '^zonemark: ./nothing: no such command$'
	echo text > plain
	run_split profile_here -- ./plain
	fails_with 126 '^zonemark: ./plain: not a program that may be run'
	run_split profile_here -- "$BATS_TEST_TMPDIR"
	fails_with 126 'not a program that may be run'
	run_split profile_here --monitor nonsense -- true
	fails_with 2 "no such monitor"
	run_split profile_here --monitor-interval 1ns -- true
	fails_with 2 'monitor.interval'
	run_split zonemark runs
	fails_with 2 'no store yet'
}

@test "a program that the kernel will not load is a failed run" {
	printf '#!/nowhere/interpreter\n' > script
	chmod +x script
	run_split profile_here --monitor none -- ./script
	fails_with 127 '^zonemark: ./script: could not be started: '
	run_split zonemark show
	has_line '^run 1: .*: failed: ./script: could not be started'
}

@test "switches end at the command's name" {
	run_split profile_here --monitor none echo --monitor --json -- --help
	succeeds
	has_line '^--monitor --json -- --help$'
}

@test "a signal goes on to the command, the tables are printed, and it dies of it" {
	"$ZONEMARK" profile --share --monitor time -- sh -c 'trap "echo caught; exit 0" TERM; echo up; while :; do sleep 0.05; done' \
		> out 2> err &
	pid=$!
	for _ in $(seq 200); do grep -q up out && break; sleep 0.05; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	out=$(cat out) err=$(cat err)
	[ "$status" -eq 143 ] || explain
	has_line '^caught$'
	has_line ': interrupted: interrupted by SIGTERM$'
	has_line 'profile.elapsed_time'
}

@test "a second signal kills a command that does not heed the first" {
	"$ZONEMARK" profile --share --monitor none -- sh -c 'trap "" TERM; echo up; while :; do sleep 0.1; done' > out 2> err &
	pid=$!
	for _ in $(seq 200); do grep -q up out && break; sleep 0.05; done
	kill -TERM $pid
	sleep 0.3
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	out=$(cat out) err=$(cat err)
	[ "$status" -eq 143 ] || explain
	has_line ': interrupted'
}

@test "kill -9 of zonemark takes the command along" {
	"$ZONEMARK" profile --share --monitor none -- sh -c 'echo $$; exec sleep 60' > out 2> err &
	pid=$!
	for _ in $(seq 200); do grep -q . out && break; sleep 0.05; done
	command=$(cat out)
	kill -9 $pid
	wait $pid || true
	for _ in $(seq 100); do kill -0 "$command" 2> /dev/null || return 0; sleep 0.05; done
	kill -9 "$command"
	return 1
}

@test "the command has signals and pipes as if zonemark were not there" {
	run_split profile_here --monitor none -- sh -c 'grep -E "^Sig(Blk|Ign)" /proc/self/status; yes | head -1'
	succeeds
	inside=$(printf '%s\n' "$out" | grep ^Sig)
	outside=$(grep -E "^Sig(Blk|Ign)" /proc/self/status)
	[ "$inside" = "$outside" ] || explain
	has_line '^y$'
	[[ $err != *"Broken pipe"* ]]
}

@test "launches are repeated until one fails, and stand beside each other" {
	run_split profile_here --monitor none --repeat 3 -- true
	succeeds
	run_split zonemark show
	has_line '^  profile.elapsed_time .* 3$'
	run_split profile_here --monitor none --repeat 3 -- false
	[ "$status" -eq 1 ] || explain
	[ "$(zonemark runs --json | grep -c '"uuid"')" -eq 4 ]
}

@test "the answer in JSON, into a file" {
	run_split profile_here --monitor time --output answer.json --json -- echo words
	succeeds
	[ "$out" = words ] || explain
	grep -q '"workload": "profile"' answer.json
	grep -q '"command": "echo words"' answer.json
	run_split profile_here --monitor none --output nowhere/answer -- true
	[ "$status" -eq 2 ] || explain
	[[ $err == *nowhere/answer* ]]
}

@test "all monitors that can be had look at it, and the others say why not" {
	run_split profile_here -- sh -c 'for i in 1 2 3 4 5 6 7 8; do grep -c . /proc/vmstat; done'
	succeeds
	has_line '^  meminfo.Memused|^  time.minor_page_faults'
	has_line '^  (perf-stat[^:]*|turbostat[^:]*|cpuidle[^:]*|lock-contention[^:]*): '
	if zonemark export last --format folded --output chains.folded 2> /dev/null; then
		grep -Eq '^[^ ]+ [0-9]+$' chains.folded
		zonemark show --flame flame.svg
		grep -q '</svg>' flame.svg
	fi
}

@test "without rights the command is measured with what can be read" {
	needs_root
	run_split as_nobody "$ZONEMARK" profile --share --db "$HOME/store.db" -- sh -c 'echo "$(id -u)"'
	succeeds
	has_line '^65534$'
	has_line '^  time.elapsed_time '
	has_line 'perf-profile: .*(CAP_PERFMON|perf_event_paranoid|PMU|perf events)'
}

@test "a full store ends the record, not the command" {
	needs_root
	mkdir small
	unshare -m sh -c '
		mount -t tmpfs -o size=1m none small || exit 77
		"$ZONEMARK" profile --share --db small/store.db --monitor proc-vmstat,meminfo --monitor-interval 20ms -- \
			sh -c "dd if=/dev/zero of=small/fill bs=1k; sleep 2.2; touch over"
		echo $? > status
	' > out 2> err || [ $? -ne 77 ] || skip "no mount namespace"
	[ -e over ]
	[ "$(cat status)" -eq 2 ] || { cat out err; false; }
	grep -q '^zonemark: small/store.db: the disk is full' err
}
