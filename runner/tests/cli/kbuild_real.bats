#!/usr/bin/env bats
# Real builds of a small tree: they succeed, they fail with the compiler's words, they meet limits and
# full disks, they are killed; whatever happens, no process, no cgroup and no file is left.
#
# labels: cli fault root
# timeout: 180
# shellcheck disable=SC2030,SC2031 # each test has its own $status
load helper

small=("source=$ZM_SOURCE_DIR/buildload/tests/trees/small" job_memory=1M idle=0 drain=0 interval=20ms --monitor none)

build() { # OPTION …
	run_split zonemark run kbuild_real --share "${small[@]}" "$@"
	[ "$status" -ne 77 ] || skip "${err##*zonemark: }"
}

says() { # STATUS PATTERN: the run ended so, with that reason in its line of the table
	[ "$status" -eq "$1" ] || { explain; return 1; }
	[[ $out =~ $2 ]] || { explain; return 1; }
}

cgroups_of() { # PID of the maker
	find /sys/fs/cgroup -maxdepth 6 -type d -name "zonemark-$1-*" 2> /dev/null || true
}

# Of this test's own runs: their processes work in $TMPDIR.
our_processes() {
	pgrep -f -- "O=$(realpath "$TMPDIR")/zonemark-kbuild" || true
}

has_left_nothing() {
	local cgroup maker
	[ -z "$(our_processes)" ] || { our_processes; return 1; }
	[ -z "$(ls -A "$TMPDIR")" ] || { ls -A "$TMPDIR"; return 1; }
	[ -z "$(find "$ZONEMARK_JOURNAL" -type f ! -name '.*' 2> /dev/null)" ] || { ls -A "$ZONEMARK_JOURNAL"; return 1; }
	for cgroup in $(cgroups_of '*'); do
		maker=${cgroup##*/zonemark-}
		[ -d "/proc/${maker%%-*}" ] || { echo "$cgroup"; return 1; }
	done
}

# Others may run such builds too, and be about to clear up after one that was killed.
leaves_nothing() {
	until_true has_left_nothing
}

until_true() { # CMD …: within twenty seconds
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "never true: $*"
	"$@"
}

@test "two instances, three builds each, and every figure" {
	build nr_instances=2 jobs=2 iterations=3
	succeeds
	for figure in buildtime_per_iteration real_time_per_iteration user_time_per_iteration \
		sys_time_per_iteration workload jobs_per_second faults_per_job; do
		run_split zonemark show --json
		has_line "kbuild\\.$figure"
	done
	leaves_nothing
}

@test "for a time: builds go on, and the one that is cut off is no failure" {
	build nr_instances=2 jobs=2 iterations=0 runtime=600ms
	succeeds
	leaves_nothing
}

@test "jobs as the robot's mails name them, and a share of the CPUs for all" {
	build nr_instances=2 nr_task=100%
	succeeds
	build nr_instances=1 nr_task=3 kconfig=none "target=tinyconfig program"
	succeeds
	leaves_nothing
}

@test "a configuration from a file" {
	echo CONFIG_OWN=y > own
	build nr_instances=1 jobs=1 "config=$PWD/own"
	succeeds
	leaves_nothing
}

@test "a build that fails fails the run, and shows what the compiler said" {
	build nr_instances=2 jobs=2 target=broken
	says 3 "make ended with status 2: .*broken.c:7:1: error: unknown type name 'soup'"
	leaves_nothing
}

@test "too few builds in the runtime" {
	build nr_instances=1 jobs=1 target=slow runtime=500ms
	says 3 "0 of 1 instances had built 1 times when the runtime was over: raise runtime"
	leaves_nothing
}

@test "what does not fit is refused, with the mend" {
	run_split zonemark run kbuild_real --share
	[ "$status" -eq 77 ]
	[[ $err == *"run \`zonemark fetch-kernel-source\`, or give source=FOLDER"* ]]
	build source=/nowhere
	says 2 "source=/nowhere: cannot be opened"
	build "source=$TMPDIR"
	says 2 "there is no Makefile in it"
	mkdir used && touch used/Makefile used/.config
	build "source=$PWD/used"
	says 2 "has been built in, and so cannot be built from outside: make -C .*/used mrproper"
	build config=nothing-like-it
	says 2 "config=nothing-like-it is neither a file nor the name of a target"
	build jobs=0
	says 2 "jobs: from 1"
	build dir=/nowhere
	says 2 "dir=/nowhere: choose a folder"
	build memory_high=2M memory_max=1M
	says 2 "memory_high is above memory_max"
	build cpuset=many
	says 2 "cpuset=many: give a list of CPUs"
}

@test "memory and disk are computed before, and too much is refused with the figure" {
	build nr_instances=8 jobs=28 job_memory=1T
	says 2 "8 processes need 2[0-9]{2} TiB of memory, and .* are left"
	build nr_instances=2 build_size=1000T
	says 2 "of disk are needed in .*/tmp, and .* are left"
}

@test "memory_max: the kernel kills in one instance, and the run says so" {
	needs_root
	build nr_instances=2 jobs=1 memory_max=64M target=hungry
	says 3 "the kernel killed [0-9]+ of its tasks for memory \(memory_max=64M\): make ended with status 2"
	leaves_nothing
}

@test "pids_max: forks are refused, and the run says so" {
	needs_root
	build nr_instances=1 jobs=1 pids_max=12 config=none "target=tinyconfig many"
	says 3 "pids_max=12 refused it [0-9]+ forks: make ended with status 2"
	leaves_nothing
}

@test "cpu_max and cpuset" {
	needs_root
	build nr_instances=2 jobs=2 cpu_max=0.5 cpuset=0
	succeeds
	build nr_instances=2 jobs=2 cpuset=socket
	succeeds
	leaves_nothing
}

@test "a full disk" {
	needs_root
	needs_command unshare
	mkdir full
	run_split unshare -m sh -c 'mount -t tmpfs -o size=8M none full && exec "$@"' - \
		"$ZONEMARK" run kbuild_real --share "${small[@]}" nr_instances=1 jobs=1 target=large dir="$PWD/full" build_size=1M
	[ "$status" -ne 77 ] || skip "no mounts or cgroups here"
	says 3 "/full is full, choose another dir: make ended with status 2: .*No space left on device"
	leaves_nothing
}

@test "nobody may not make cgroups: skipped, and said how to" {
	needs_root
	run_split as_nobody "$ZONEMARK" run kbuild_real --share "${small[@]}" nr_instances=1
	[ "$status" -eq 77 ]
	[[ $err =~ "cannot make cgroups in /sys/fs/cgroup".*"run as root, or in a cgroup that is yours" ||
		$err =~ "cannot hand controllers on" ]]
}

builds_slowly() { # both have come to their slow job
	launcher=$(tr -d ' ' < "/proc/$runner/task/$runner/children")
	[ -n "$launcher" ] || return 1
	sleepers=$(cgroups_of "$launcher" | while read -r cgroup; do cat "$cgroup/cgroup.procs"; done | sort -u)
	[ "$(for pid in $sleepers; do cat "/proc/$pid/comm"; done | grep -cx sleep)" -eq 4 ]
}

start_slow() {
	"$ZONEMARK" run kbuild_real --share "${small[@]}" nr_instances=2 jobs=2 target=slow > out 2> err 3>&- &
	runner=$!
	for _ in $(seq 400); do
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

are_gone() {
	local pid
	for pid in $sleepers; do
		[ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || return 1
	done
}

@test "kill -9 of the runner: all is gone without another command" {
	start_slow
	kill -9 "$runner"
	wait "$runner" || true
	until_true are_gone
	leaves_nothing
}

@test "kill -9 of the runner and of the keeper: the next command clears up" {
	start_slow
	keeper=$(pgrep -P "$launcher" -x zm-keeper)
	kill -9 "$keeper" "$runner"
	wait "$runner" || true
	run_split zonemark restore
	succeeds
	has_line "removed cgroup /sys/fs/cgroup/"
	until_true are_gone
	leaves_nothing
}

@test "kill -9 of the launcher: the run fails, and all is gone" {
	start_slow
	kill -9 "$launcher"
	status=0
	wait "$runner" || status=$?
	[ "$status" -eq 3 ]
	until_true are_gone
	leaves_nothing
}

@test "interrupted: all is gone when it ends" {
	start_slow
	kill -TERM "$runner"
	wait "$runner" || true
	are_gone
	leaves_nothing
}
