#!/usr/bin/env bats
# Emulated builds: they succeed, they meet limits, full disks and bad profiles, they are killed; whatever
# happens, no process, no cgroup and no file is left.
#
# labels: cli fault root
# timeout: 180
# shellcheck disable=SC2030,SC2031 # each test has its own $status
load helper

quick=(profile=small idle=0 drain=0 interval=20ms --monitor none)

build() { # OPTION …
	run_split zonemark run kbuild --share "${quick[@]}" "$@"
	[ "$status" -ne 77 ] || skip "${err##*zonemark: }"
}

says() { # STATUS PATTERN: the run ended so, with that reason
	[ "$status" -eq "$1" ] || { explain; return 1; }
	[[ $out$err =~ $2 ]] || { explain; return 1; }
}

# Of this test's own runs: their processes stand in $TMPDIR.
our_processes() {
	local directory
	for directory in /proc/[0-9]*/cwd; do
		[[ $(readlink "$directory") != "$(realpath "$TMPDIR")/zonemark-kbuild"* ]] || echo "$directory"
	done
}

has_left_nothing() {
	local cgroup maker
	[ -z "$(our_processes)" ] || { our_processes; return 1; }
	[ -z "$(ls -A "$TMPDIR")" ] || { ls -A "$TMPDIR"; return 1; }
	[ -z "$(find "$ZONEMARK_JOURNAL" -type f ! -name '.*' 2> /dev/null)" ] || { ls -A "$ZONEMARK_JOURNAL"; return 1; }
	while read -r cgroup; do
		maker=${cgroup##*/zonemark-}
		[ -d "/proc/${maker%%-*}" ] || { echo "$cgroup"; return 1; }
	done < <(find /sys/fs/cgroup -maxdepth 6 -type d -name 'zonemark-*' 2> /dev/null)
}

until_true() { # CMD …: within thirty seconds
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "never true: $*"
	"$@"
}

leaves_nothing() {
	until_true has_left_nothing
}

@test "two instances, three builds each, and every figure" {
	build nr_instances=2 jobs=2 iterations=3
	succeeds
	run_split zonemark show --json
	for figure in buildtime_per_iteration real_time_per_iteration user_time_per_iteration \
		sys_time_per_iteration workload jobs_per_second faults_per_job; do
		has_line "kbuild\\.$figure"
	done
	leaves_nothing
}

@test "for a time, and in drawn order" {
	build nr_instances=2 jobs=28 iterations=0 runtime=500ms order=drawn work=0.1
	succeeds
	build nr_instances=1 nr_task=100% kconfig=small target=objects objects=2
	succeeds
	leaves_nothing
}

@test "many jobs in many instances" {
	build nr_instances=8 jobs=28 memory_max=512M
	succeeds
	leaves_nothing
}

@test "what cannot be is refused, with the mend" {
	build profile=nothing-like-it
	says 2 "profile=nothing-like-it: none that comes with zonemark"
	echo '{"format": "other"}' > other.json
	build profile=./other.json
	says 2 "other.json: format: not \"zonemark-build-profile\""
	build profile=./none.json
	says 2 "none.json: the build profile cannot be opened"
	build target=lnk
	says 2 "target=lnk: small has no such stage; its last is link; did you mean link"
	build jobs=0
	says 2 "jobs: from 1"
	build nr_instances=0
	says 2 "nr_instances"
	build dir=/nowhere
	says 2 "dir=/nowhere: choose a folder"
	run_split zonemark run kbuild --share "${quick[@]}" nr_instances=65536 jobs=4096
	says 2 "need .* of memory, and .* are left"
	leaves_nothing
}

@test "pids.max refuses a fork: the run fails and says why" {
	needs_root
	build nr_instances=2 jobs=8 pids_max=4 iterations=3
	says 3 "pids_max=4 refused it [0-9]* forks.*starting a (process|job): Resource temporarily unavailable"
	leaves_nothing
}

@test "the OOM killer in one instance: the run fails and says why" {
	needs_root
	build nr_instances=2 jobs=4 memory_max=4M iterations=3
	says 3 "killed .* for memory \\(memory_max=4M\\)"
	leaves_nothing
}

@test "a full disk" {
	needs_root
	needs_command unshare
	mkdir full
	run_split unshare -m sh -c 'mount -t tmpfs -o size=8M none full && exec "$@"' - \
		"$ZONEMARK" run kbuild --share "${quick[@]}" nr_instances=1 jobs=2 "dir=$PWD/full" --overcommit
	[ "$status" -ne 77 ] || skip "no mounts or cgroups here"
	says 3 "full/zonemark-kbuild.*choose another dir: No space left on device"
	leaves_nothing
}

builds_slowly() {
	launcher=$(tr -d ' ' < "/proc/$runner/task/$runner/children")
	[ -n "$launcher" ] && [ -n "$(our_processes)" ]
}

start_slow() {
	"$ZONEMARK" run kbuild --share "${quick[@]}" nr_instances=2 jobs=4 iterations=0 runtime=100s work=100 > out 2> err 3>&- &
	runner=$!
	for _ in $(seq 600); do
		builds_slowly 2> /dev/null && return 0
		kill -0 "$runner" 2> /dev/null || break
		sleep 0.05
	done
	status=0
	wait "$runner" || status=$?
	[ "$status" -ne 77 ] || skip "$(cat err)"
	cat err
	return 1
}

@test "kill -9 of the runner: all is gone without another command" {
	start_slow
	kill -9 "$runner"
	wait "$runner" || true
	leaves_nothing
}

@test "kill -9 of the launcher: the run fails, and all is gone" {
	start_slow
	kill -9 "$launcher"
	status=0
	wait "$runner" || status=$?
	[ "$status" -eq 3 ]
	leaves_nothing
}

@test "interrupted: all is gone when it ends" {
	start_slow
	kill -TERM "$runner"
	wait "$runner" || true
	has_left_nothing
}
