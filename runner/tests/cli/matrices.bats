#!/usr/bin/env bats
# matrices: sets of runs from files and from the catalogue; what fits a time; what goes on after a crash.
# timeout: 120
load helper

short="{idle: 0s, warmup: 0s, drain: 0s, runtime: 50ms}"

@test "a file of one's own: runs, lists, repeats; an option on the line counts more" {
	cat > m.yaml <<- END
		repeat: 2
		monitor: none
		options: $short
		runs:
		- null: {nr_task: [1, 2]}
		- {workload: "null", mode: thread, runtime: 60ms}
	END
	run_split zonemark run --share m.yaml --json
	succeeds
	[ "$(printf '%s\n' "$out" | grep -cE '"ok": 2,?$')" -eq 3 ]
	has_line '"runtime": "60ms"'
	run_split zonemark run --share m.yaml --repeat 1 runtime=70ms --json
	succeeds
	[ "$(printf '%s\n' "$out" | grep -cE '"ok": 1,?$')" -eq 3 ]
	[ "$(printf '%s\n' "$out" | grep -c '"runtime": "70ms"')" -eq 3 ]
}

@test "a job file of lkp-tests, as it is; what is not here is named" {
	cat > job.yaml <<- END
		suite: will-it-scale
		testcase: will-it-scale
		category: benchmark
		perf-profile:
		  delay: 1
		runtime: 5.1s
		nr_task: 1
		will-it-scale:
		  mode:
		  - process
		  test:
		  - page_fault1
		  - pwrite1
	END
	run_split zonemark run --share --monitor none idle=0 warmup=0 drain=0 job.yaml
	succeeds
	has_line '^page_fault1 mode=process nr_task=1 '
	[[ $err == *"will-it-scale pwrite1 is left out: will-it-scale's pwrite1 is not among zonemark's workloads"* ]]
	printf 'testcase: stress-ng\nstress-ng: {test: shm}\n' > none.yaml
	run_split zonemark run none.yaml
	fails_with 77 "none.yaml: stress-ng shm is left out: zonemark has none of stress-ng's tests"
}

@test "what is wrong with a file is one line, with the file and the line" {
	while IFS='|' read -r text pattern; do
		printf '%b' "$text" > bad.yaml
		run_split zonemark run bad.yaml
		fails_with 2 "$pattern"
	done <<- 'END'
		|bad.yaml:1: the file is empty
		runs:\n- page_fualt1\n|bad.yaml:2: page_fualt1: no such workload or matrix; did you mean page_fault1
		runs:\n- null: {nr_tsk: 1}\n|bad.yaml:2: nr_tsk: no such option; did you mean nr_task
		runs:\n- quick\n- null: {nr_task: 0}\n|bad.yaml:3: nr_task=0: at least one task
		runs: [\n|bad.yaml:[12]: 
		runs:\n- {a: 1, b: 2}\n|bad.yaml:2: a run is a name
	END
	run_split zonemark run nowhere.yaml
	fails_with 2 'nowhere.yaml: No such file'
	head -c 2000000 /dev/zero > large.yaml
	run_split zonemark run large.yaml
	fails_with 2 'large.yaml: larger than 1024 KiB'
}

@test "--hours: the most telling cells first; what is left out is said before and after" {
	# A launch of these is taken to last 2.05 s: eight fit into 0.005 hours.
	run_split zonemark run --share --monitor none null nr_task=1-12 idle=0 warmup=0 drain=0 runtime=50ms --hours 0.005
	succeeds
	[[ $err == *"8 of 12 launches (8 of 12 cells) are expected to fit"* ]] || explain
	[[ $err == *"left out unless time remains: null mode=process nr_task="* ]] || explain
	[[ $(printf '%s\n' "$err" | sed -n 's/^\[1\/8\] //p' | head -1) =~ nr_task=12 ]] || explain
	[[ $(printf '%s\n' "$err" | sed -n 's/^\[2\/8\] //p' | head -1) =~ nr_task=1[^0-9] ]] || explain
	run_split zonemark run --share null runtime=1h --hours 0.1
	fails_with 2 'not one launch fits into'
}

@test "a failing cell does not stop the others, and the end names it" {
	cat > m.yaml <<- END
		options: $short
		monitor: none
		runs:
		- null: {nr_task: "1-8"}
		- page_fault2: {dir: /nonexistent}
		- null: {nr_task: 9}
	END
	run_split zonemark run --share m.yaml
	[ "$status" -ne 0 ]
	has_line '^null mode=process nr_task=9 +null.throughput '
	[[ $(printf '%s\n' "$out" | tail -1) =~ ^(failed|refused|skipped):\ page_fault2\ .*nonexistent ]] || explain
}

@test "--resume goes on after a kill -9" {
	cat > m.yaml <<- END
		monitor: none
		options: {idle: 0s, warmup: 0s, drain: 0s}
		runs:
		- null: {runtime: 50ms, nr_task: [1, 2]}
		- null: {runtime: 1s, seed: 7}
	END
	"$ZONEMARK" run --share m.yaml > first.txt 2> log.txt &
	victim=$!
	for _ in $(seq 200); do
		grep -q '^\[3/3\]' log.txt && break
		sleep 0.05
	done
	kill -9 $victim
	wait $victim || true
	run_split zonemark run --share m.yaml --resume
	succeeds
	[ "$(printf '%s\n' "$out" | grep -c 'done earlier')" -eq 2 ]
	has_line '^null mode=process nr_task=1 runtime=1s seed=7 +null.throughput '
}

@test "the documented catalogue is a matrix, and each of its tables a name" {
	run_split zonemark run --share --monitor none pcp-v3/lkp-page_fault2 idle=0 warmup=0 drain=0 runtime=50ms
	succeeds
	has_line '^page_fault2 mode=process nr_task=1 '
	run_split zonemark run full --hours 0.0001
	[ "$status" -eq 2 ]
	[[ $err == *"not one launch fits"* ]]
	run_split zonemark list matrices
	has_line '^  full +every documented table'
	has_line '^  nightly '
}
