#!/usr/bin/env bats
# check: what the machine is and what spoils a result on it, in every surrounding it may be asked in.
load helper

# A number of the inventory, from the JSON in $out.
number() {
	printf '%s\n' "$out" | sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p"
}

# A CPU that this test may use.
a_cpu() {
	sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status
}

@test "it shows the machine, and a mend under each spoiler" {
	run_split zonemark check
	succeeds
	has_line '^This machine:'
	has_line '^  CPUs +[0-9]+ online'
	has_line '^  Kernel +'
	has_line '(^What would spoil a result|^Nothing was found)'
	[ -z "$err" ]
}

@test "--json is an object with the inventory and the spoilers" {
	needs_command python3
	run_split zonemark check --json
	succeeds
	printf '%s' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
assert answer["inventory"]["cpus_online"] >= 1
assert all(s["name"] and s["what"] and s["mend"] for s in answer["spoilers"])'
}

@test "--strict says no when something spoils, and only then" {
	mkdir -p quiet/sys/devices/system/cpu quiet/sys/kernel/mm/transparent_hugepage
	echo 0-3 > quiet/sys/devices/system/cpu/online
	echo 'always madvise [never]' > quiet/sys/kernel/mm/transparent_hugepage/enabled
	run_split zonemark check --strict --root quiet
	succeeds
	has_line '^Nothing was found'
	echo '[always] madvise never' > quiet/sys/kernel/mm/transparent_hugepage/enabled
	run_split zonemark check --strict --root quiet
	[ "$status" -eq 1 ]
	has_line '^  thp '
	run_split zonemark check --root quiet
	succeeds
}

@test "a root that is none, or says nothing, is refused with one line" {
	run_split zonemark check --root /not/there
	fails_with 2 "/not/there.*No such file"
	mkdir empty
	run_split zonemark check --root empty
	fails_with 2 "no CPU is known"
	run_split zonemark check quietly
	fails_with 2 "quietly"
}

@test "only the CPUs of taskset are allowed, and the machine stays what it is" {
	needs_command taskset
	run_split zonemark check --json
	online=$(number cpus_online)
	sockets=$(number sockets)
	run_split taskset -c "$(a_cpu)" "$ZONEMARK" check --json
	succeeds
	[ "$(number cpus_allowed)" -eq 1 ]
	[ "$(number cpus_online)" -eq "$online" ]
	[ "$(number sockets)" = "$sockets" ]
	[ "$online" -eq 1 ] || has_line '"name": "cpuset"'
}

@test "only the CPUs of a cpuset are allowed" {
	needs_root
	hierarchy=/sys/fs/cgroup/cpuset
	[ -w $hierarchy/tasks ] || skip "needs a cpuset hierarchy of version 1"
	cpu=$(a_cpu)
	group=$hierarchy/zm-test-$$
	mkdir $group || skip "cannot make a cgroup"
	echo "$cpu" > $group/cpuset.cpus
	cat $hierarchy/cpuset.mems > $group/cpuset.mems
	run_split sh -c 'echo $$ > "$1"/cgroup.procs && exec "$2" check --json' sh $group "$ZONEMARK"
	rmdir $group
	succeeds
	[ "$(number cpus_allowed)" -eq 1 ]
	has_line "\"cpuset\": \"$cpu\""
}

@test "without root it shows what it can" {
	run_split as_nobody "$ZONEMARK" check
	succeeds
	has_line '^  CPUs +'
}
