#!/usr/bin/env bats
# fleet: a real Slurm on loopback, of the test's own: munged, slurmctld and two slurmd, each machine in a
# PID namespace, so that killing its first process is a power cut; all of them die with the test.
# timeout: 120
# labels: slurm
load helper

QUICK=(idle=0s warmup=0s drain=0s interval=10ms)
HERE=$BATS_FILE_TMPDIR

daemon() { # NAME COMMAND …: dies with this file's process, however that ends; all that it started, too
	local name=$1
	shift
	setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc "$@" \
		> "$HERE/$name.out" 2>&1 3>&- &
	echo $! > "$HERE/$name.pid"
	disown
}

slurm_is_here() {
	local name
	[ "$(id -u)" -eq 0 ] || { missing="needs root"; return 1; }
	for name in munged slurmctld slurmd sbatch squeue scontrol unshare setpriv; do
		PATH=$PATH:/usr/sbin command -v $name > /dev/null ||
			{ missing="needs the program $name (slurm-wlm, munge)"; return 1; }
	done
	unshare --pid --fork --mount-proc true 2> /dev/null || { missing="no PID namespaces here"; return 1; }
}

write_conf() {
	local port=$((20000 + $$ % 3000 * 4)) # below those that the kernel gives away
	cat > "$HERE/slurm.conf" << END
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$HERE/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
ReturnToService=2
SlurmdTimeout=3
BatchStartTimeout=1
KillWait=1
MessageTimeout=5
SlurmctldPidFile=$HERE/ctld.pidfile
SlurmdPidFile=$HERE/%n.pidfile
SlurmctldPort=$port
StateSaveLocation=$HERE/state
SlurmdSpoolDir=$HERE/spool.%n
SlurmctldLogFile=$HERE/ctld.log
SlurmdLogFile=$HERE/%n.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 Feature=k6.18,k6.19-rc1 State=UNKNOWN
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 Feature=k6.18,k6.19-rc1 State=UNKNOWN
PartitionName=bench Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
END
	touch "$HERE/cgroup.conf"
}

setup_file() {
	slurm_is_here || return 0
	export PATH=$PATH:/usr/sbin SLURM_CONF=$HERE/slurm.conf
	mkdir -p "$HERE/state" "$HERE/spool.n1" "$HERE/spool.n2"
	head -c 128 /dev/urandom > "$HERE/munge.key"
	chmod 600 "$HERE/munge.key"
	write_conf
	daemon munged munged -F -f --socket="$HERE/munge.socket" --key-file="$HERE/munge.key" \
		--pid-file="$HERE/munged.pidfile" --log-file="$HERE/munged.log" \
		--seed-file="$HERE/munged.seed"
	wait_for 10 test -S "$HERE/munge.socket"
	daemon ctld slurmctld -D -c
	daemon n1 slurmd -D -N n1
	daemon n2 slurmd -D -N n2
}

teardown_file() {
	local pid
	for pid in "$HERE"/*.pid; do
		[ ! -e "$pid" ] || kill -KILL "$(< "$pid")" 2> /dev/null || true
	done
}

setup_more() {
	if ! slurm_is_here; then skip "$missing"; fi
	wait_for 20 machines_are_idle || skip "Slurm does not come up here: $(tail -n 1 "$HERE/ctld.log" "$HERE/n1.log")"
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/central.db
}

machines_are_idle() {
	[ "$(sinfo --noheader --Node --format '%T' | sort | uniq -c | tr -s ' ')" = " 2 idle" ]
}

wait_for() { # SECONDS COMMAND …
	local end=$((SECONDS + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

has_state() { # FOLDER STATE NUMBER
	[ "$(zonemark fleet status "$1" --json | grep -c "\"state\": \"$2\"")" -eq "$3" ]
}

# A run may fail for want of CPU time on a busy machine; it is a result all the same.
gathers() {
	run_split zonemark fleet gather "$1"
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || explain
}

seeds() { # of the runs that were not interrupted
	zonemark runs --limit 0 --json | python3 -c '
import json, sys
for run in json.load(sys.stdin):
    if run["status"] in ("ok", "failed"): print(run["label"], run["parameters"]["seed"])' | sort
}

@test "a machine killed midway: each cell is there exactly once" {
	needs_command python3
	local folder="$BATS_TEST_TMPDIR/it's \$(touch pwned) \"a\" folder; é"
	run_split zonemark fleet submit --nodes n[1-2] --kernel k6.18 --kernel k6.19-rc1 --per cell --folder "$folder" \
		null seed=1-2 runtime=1500ms "${QUICK[@]}" -- --share --monitor none
	succeeds
	[ "$out" = "$folder" ]
	# Task 2.1 is n2's first.
	wait_for 20 compgen -G "$TMPDIR/zonemark-fleet-*-2.1-0/store.db"
	kill -KILL "$(< "$HERE/n2.pid")"
	scontrol update nodename=n2 state=down reason=power # or wait until Slurm sees it: SlurmdTimeout
	daemon n2 slurmd -D -N n2
	run_split zonemark fleet gather "$folder"
	[ "$status" -eq 1 ]
	has_line '^4 tasks: .*'
	has_line '^ +2.1 '
	wait_for 60 has_state "$folder" "done" 4 || { zonemark fleet status "$folder"; tail "$HERE/ctld.log"; return 1; }
	gathers "$folder"
	[ "$(seeds)" = "$(printf '%s\n' 'k6.18 1' 'k6.18 2' 'k6.19-rc1 1' 'k6.19-rc1 2')" ]
	gathers "$folder"
	has_line ' 0 runs new, 0 replaced, [4-9] there already$'
	[ "$(seeds | wc -l)" -eq 4 ]
	[ ! -e pwned ] && [ ! -e /pwned ]
	run_split zonemark fleet again "$folder"
	succeeds
	[ "$err" = "nothing to do: every task has a result, or is under way" ]
}
