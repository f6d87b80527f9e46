#!/usr/bin/env bats
# restore: what a killed run has changed is as before, after whichever command comes next.
load helper

# A setting that each network namespace has for itself: no other test and no run sees it change.
setting=/proc/sys/net/ipv4/ip_default_ttl

teardown() {
	leave_namespace
}

# Starts a run that sets the setting, and kills it once it is set.
kill_a_run() {
	own_namespace
	before=$(inside cat $setting)
	changed=$((before + 1))
	# The process itself, not a shell around it, is what is to be killed.
	(exec nsenter --net="/proc/$namespace/ns/net" "$ZONEMARK" run null nr_task=1 runtime=60 \
		--share sysctl.net.ipv4.ip_default_ttl=$changed > run.out 2>&1 3>&-) &
	run=$!
	for _ in $(seq 200); do
		[ "$(inside cat $setting)" = "$changed" ] && break
		sleep 0.1
	done
	[ "$(inside cat $setting)" = "$changed" ] || { cat run.out; return 1; }
	kill -9 $run
	wait $run || true
}

@test "without anything left, it says so" {
	run_split zonemark restore
	succeeds
	has_line '^Nothing to restore'
	run_split zonemark restore --json
	succeeds
	has_line '"undone": 0'
	run_split zonemark restore everything
	fails_with 2 "everything"
}

@test "it puts back what a run killed with -9 had set, and says it once" {
	kill_a_run
	run_split inside "$ZONEMARK" restore
	succeeds
	has_line "^put $setting back from \"$changed\" to \"$before\""
	[ "$(inside cat $setting)" = "$before" ]
	run_split inside "$ZONEMARK" restore
	succeeds
	has_line '^Nothing to restore'
}

@test "any other command does it too, and says it on stderr" {
	kill_a_run
	run_split inside "$ZONEMARK" list workloads --names
	succeeds
	[[ $err == *"put $setting back"* ]]
	[[ $out != *"put $setting"* ]]
	[ "$(inside cat $setting)" = "$before" ]
}

@test "what somebody else has set since is left, and said" {
	kill_a_run
	inside sh -c "echo $((before + 5)) > $setting"
	run_split inside "$ZONEMARK" restore --json
	succeeds
	has_line '"undone": 1'
	has_line "left $setting at"
}

@test "a damaged journal is set aside, with one line and status 1" {
	mkdir -m 700 "$ZONEMARK_JOURNAL"
	(umask 077 && echo nonsense > "$ZONEMARK_JOURNAL/1-1-0.journal")
	run_split zonemark restore
	fails_with 1 "damaged"
	run_split zonemark restore
	succeeds
	[ -e "$ZONEMARK_JOURNAL/1-1-0.journal.damaged" ]
}

@test "a journal that others may write to is not touched" {
	mkdir -m 700 "$ZONEMARK_JOURNAL"
	echo nonsense > "$ZONEMARK_JOURNAL/1-1-0.journal"
	chmod 666 "$ZONEMARK_JOURNAL/1-1-0.journal"
	run_split zonemark restore
	fails_with 1 "can be written by others"
	[ -e "$ZONEMARK_JOURNAL/1-1-0.journal" ]
}
