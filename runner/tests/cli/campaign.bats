#!/usr/bin/env bats
# fleet without Slurm: what a campaign is, what a task leaves, what is gathered, and what is refused.
load helper

QUICK=(idle=0s warmup=0s drain=0s runtime=100ms)

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/central.db
	folder=$BATS_TEST_TMPDIR/campaign
}

make_campaign() { # fleet's switches and words
	run_split zonemark fleet submit --only-folder --folder "$folder" "$@"
	succeeds
	[ "$out" = "$folder" ]
}

# A run may fail for want of CPU time on a busy machine; it is a result all the same.
ended() {
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || explain
}

nr_runs() { # that were not interrupted
	zonemark runs --limit 0 --json | grep -cE '"status":"(ok|failed)"' || true
}

# Programs of the test's own in Slurm's place.
fake() { # NAME, its script on stdin
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	{ echo '#!/bin/sh'; cat; } > "$BATS_TEST_TMPDIR/bin/$1"
	chmod +x "$BATS_TEST_TMPDIR/bin/$1"
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

without_slurm() {
	fake nothing < /dev/null
	PATH=$BATS_TEST_TMPDIR/bin "$@"
}

@test "cells are tasks, and the same cell stays on its machine" {
	run_split zonemark fleet submit --dry-run --nodes n[1-2] --kernel ka,kb --rounds 2 --per cell \
		null seed=1-3
	succeeds
	[ "$(grep -c '^# array' <<< "$out")" -eq 8 ]
	[ "$(grep -c '^sbatch ' <<< "$out")" -eq 8 ]
	has_line '^# array 1 of 8: n1, ka, round 1, 2 tasks$'
	has_line '^# array 4 of 8: n2, kb, round 1, 1 task$'
	has_line '^sbatch --parsable --job-name=zonemark-[0-9a-f]{8}-1 --array=1-2 --nodes=1 --exclusive --mem=0 --requeue --nodelist=n1 --constraint=ka --output=/dev/null .*/scripts/1.sh$'
	[ "$(ls "$BATS_TEST_TMPDIR")" = "$(printf '%s\n' err home out tmp)" ]
}

@test "tasks leave results, and gathering twice changes nothing" {
	make_campaign --nodes n1,n2 --per cell null seed=1-3 "${QUICK[@]}" -- --share --monitor none
	for task in 1.1 1.2 2.1; do
		run_split zonemark fleet task "$folder" $task
		ended
	done
	run_split zonemark fleet task "$folder" 1.1
	succeeds
	[ "$err" = "task 1.1: its result is there already" ]
	run_split without_slurm "$ZONEMARK" fleet gather "$folder"
	ended
	has_line '^3 tasks: 3 done$'
	has_line 'central.db: 3 runs new, 0 replaced, 0 there already$'
	run_split zonemark fleet gather "$folder"
	ended
	has_line ': 0 runs new, 0 replaced, 3 there already$'
	[ "$(nr_runs)" -eq 3 ]
	[ -z "$(ls "$TMPDIR")" ]
}

@test "what is missing is said, with the reason" {
	make_campaign --nodes n1 --per cell null seed=1-2 "${QUICK[@]}" -- --share --monitor none
	run_split zonemark fleet task "$folder" 1.1 --scratch /nowhere
	fails_with 2 '^zonemark: /nowhere/zonemark-fleet-.*: No such file or directory$'
	echo "zonemark: the last words" > "$folder/logs/1.1.log"
	run_split without_slurm "$ZONEMARK" fleet gather "$folder"
	[ "$status" -eq 1 ]
	[[ $err == *"squeue is not here"* ]] || explain
	has_line '^2 tasks: 1 failed, 1 absent$'
	has_line '^ +1.1 .* failed +ended with status 2: the last words$'
	has_line '^ +1.2 +n1 .* absent +never begun$'
}

@test "a machine that splits the matrix otherwise says so, and nothing is measured twice or never" {
	make_campaign --nodes n1 --per cell null seed=1-2 "${QUICK[@]}" -- --share --monitor none
	sed -i 's/"split": "[0-9a-f]*"/"split": "01234567"/' "$folder/campaign.json"
	run_split zonemark fleet task "$folder" 1.1
	[ "$status" -eq 2 ]
	[[ $err == *"--shard 1/2:01234567: this machine splits it otherwise ("* ]] || explain
	[ -z "$(ls -A "$folder/results")" ]
	[ -z "$(ls "$TMPDIR")" ]
}

@test "a task that is killed leaves nothing, and goes on when it is begun again" {
	make_campaign --nodes n1 null seed=1-4 "${QUICK[@]}" runtime=300ms -- --share --monitor none
	"$ZONEMARK" fleet task "$folder" 1.1 2> killed 3>&- &
	for _ in $(seq 200); do
		if grep -q '^\[2/4]' killed; then break; fi
		sleep 0.05
	done
	kill -KILL $!
	wait $! || true
	[ -z "$(ls -A "$folder/results")" ]
	run_split zonemark fleet status "$folder"
	has_line ' begun at .* and not ended: '
	run_split zonemark fleet task "$folder" 1.1
	ended
	[[ $err != *"it begins anew"* ]] || explain
	run_split zonemark fleet gather "$folder"
	ended
	# One that had failed is run again.
	[ "$(nr_runs)" -ge 4 ]
	[ "$(zonemark runs --status ok --limit 0 --json | grep -c '"uuid"')" -le 4 ]
	[ -z "$(ls "$TMPDIR")" ]
}

@test "what is wrong is said in one line, and nothing is made" {
	while IFS='|' read -r words pattern; do
		eval "run_split zonemark fleet $words"
		fails_with 2 "$pattern"
	done << 'CASES'
|fleet needs a word: one of submit, status, gather, again, task
launch|fleet launch: one of submit, status
submit quick|on which machines\? --nodes
submit --nodes n1|submit what\?
submit quick --nodes 'n1;reboot'|--nodes: 'n1;reboot' in 'n1;reboot': machines are like
submit quick --nodes n1 --kernel 'a&b'|--kernel: a feature's name: 'a&b'
submit quick --nodes n1 --kernel a --kernel a|a is there twice
submit quik --nodes n1|quik: no such workload or matrix
submit --nodes n1 quick -- --db x|--db: each task has a store of its own
submit --nodes n1 quick -- --resume|--resume: a task that is run again
submit --nodes n1 --kernel a quick -- --label x|--label x: where kernels are named
submit --nodes n1 quick -- --repeet 3|did you mean --repeat
submit --nodes n1 quick --program bin/zonemark|--program bin/zonemark: the machines need
status|status: of which campaign
status /nowhere|/nowhere: No such file
status .|no campaign is there
task . 1.1|no campaign is there
CASES
	[ ! -e "$folder" ]
}

@test "without sbatch it is one line, and no folder" {
	run_split without_slurm "$ZONEMARK" fleet submit --folder "$folder" --nodes n1 null
	fails_with 2 '^zonemark: sbatch is not here: .*; without Slurm: `zonemark run --shard`'
	[ ! -e "$folder" ]
}

@test "when one array is refused, those before it are cancelled" {
	fake sbatch << 'END'
n=$(cat count 2> /dev/null || echo 0); n=$((n + 1)); echo $n > count
[ $n -lt 3 ] || { echo "sbatch: error: Requested node configuration is not available" >&2; exit 1; }
echo "$n;lab"
END
	fake scancel <<< 'echo "$@" >> cancelled'
	run_split zonemark fleet submit --folder "$folder" --nodes n[1-4] null
	fails_with 2 '^zonemark: 2 arrays were taken, and have been cancelled: sbatch ended with status 1: .*not available$'
	[ "$(cat cancelled)" = $'1\n2' ]
	[ ! -e "$folder" ]
}

@test "names that mean something to a shell mean nothing here" {
	folder=$BATS_TEST_TMPDIR/$'it\'s $(touch pwned) `touch pwned` "a" folder; \\ é\nline'
	fake sbatch <<< 'for script; do :; done; SLURM_ARRAY_TASK_ID=1 SLURM_JOB_ID=7 sh "$script"; echo 7'
	run_split zonemark fleet submit --folder "$folder" --nodes n1 --program "$ZONEMARK" -- null "${QUICK[@]}" \
		--share --monitor none --label '$(touch pwned)'"'"
	succeeds
	[ -e "$folder/results/1.1.db" ]
	[ -z "$(find "$BATS_TEST_TMPDIR" -name pwned)" ]
}

@test "a campaign of another zonemark, or none, is refused with the reason" {
	make_campaign --nodes n1 null
	sed -i 's/"zonemark_fleet": 1/"zonemark_fleet": 9/' "$folder/campaign.json"
	run_split zonemark fleet status "$folder"
	fails_with 2 'of another zonemark \(form 9, and this one reads 1\)'
	echo '{"zonemark_fleet": 1, "id": "../x", "program": "/z", "directory": "/", "nr_parts": 1}' > "$folder/campaign.json"
	run_split zonemark fleet status "$folder"
	fails_with 2 "not a campaign's file"
	echo '[' > "$folder/campaign.json"
	run_split zonemark fleet gather "$folder"
	fails_with 2 "not a campaign's file: line"
	run_split zonemark fleet submit --only-folder --folder "$folder" --nodes n1 null
	fails_with 2 'is not empty: a campaign needs a folder of its own'
}
