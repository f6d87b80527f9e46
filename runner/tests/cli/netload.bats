#!/usr/bin/env bats
# netload: what who measures streams meets: engines that are refused and why, a network namespace that is
# bare, a link of namespaces that goes with its run.
load helper

brief="idle=0 warmup=0 drain=0 runtime=100ms"

stream() {
	# shellcheck disable=SC2086
	zonemark run --share --monitor none $brief "$@"
}

setup_more() {
	runner=
}

teardown() {
	[ -z "$runner" ] || kill -9 "$runner" 2> /dev/null || true
}

@test "list says of a stream's engines which are not to be had, and why" {
	run_split zonemark list tcp_stream
	succeeds
	has_line '^ +refused: engine=batch sends datagrams'
	run_split zonemark list udp_stream
	[[ $out != *'refused: engine=batch'* ]] || explain
	run_split zonemark list workloads
	has_line 'refused: engine=batch sends datagrams'
	run_split zonemark list tcp_stream --json
	succeeds
	[[ $(printf '%s' "$out" | tr -d '\n ') == *'"refused":['*'{"choice":"batch","reason":"engine=batchsends'* ]] || explain
}

@test "who is not root is told what he cannot have of the links" {
	needs_root
	needs_command setpriv
	run_split as_nobody "$ZONEMARK" list udp_stream
	succeeds
	has_line 'refused: link=veth makes network namespaces,'
}

@test "in a fresh network namespace: lo is down, one line says how to mend it" {
	needs_root
	needs_command unshare
	# shellcheck disable=SC2086
	run_split unshare -n "$ZONEMARK" run --share --monitor none $brief tcp_stream
	[ "$status" -ne 0 ]
	[ "$(printf '%s\n' "$out$err" | grep -c 'ip link set lo up')" -ge 1 ] || explain
}

@test "a message that no datagram holds, and a buffer that the kernel cuts" {
	run_split stream udp_stream send_size=64K
	[ "$status" -eq 2 ] || explain
	[[ $out$err == *'a UDP datagram holds 65507 at most'* ]] || explain
	needs_root
	needs_command setpriv
	# shellcheck disable=SC2086
	run_split as_nobody "$ZONEMARK" run --share --monitor none $brief udp_stream rcvbuf=1G
	[ "$status" -ne 0 ] || explain
	[[ $out$err == *'rcvbuf: 1G was asked, '*' was got, because net.core.rmem_max is smaller'* ]] || explain
}

@test "too few open files for so many pairs, too little lockable memory for io_uring" {
	run_split bash -c "ulimit -n 40 && exec '$ZONEMARK' run --share --monitor none $brief udp_stream nr_task=20 mode=thread"
	[ "$status" -eq 2 ] || explain
	[[ $out$err == *'open files are needed, and 40 are allowed; raise ulimit -n'* ]] || explain
	needs_root
	needs_command setpriv prlimit
	# shellcheck disable=SC2086
	run_split as_nobody prlimit --memlock=8192 "$ZONEMARK" run --share --monitor none $brief \
		pipe_stream engine=uring send_size=1M
	[ "$status" -ne 77 ] || skip "no io_uring here"
	[ "$status" -eq 3 ] || explain
	[[ $out == *'the limit of locked memory is too small: raise it (ulimit -l)'* ]] || explain
}

@test "a shape that is no capture is refused before the run, by its name" {
	echo 'no capture, but long enough to be looked at' > words.pcap
	for file in words.pcap nowhere.pcap; do
		run_split stream udp_stream shape=$file
		[[ $out$err != *'built without libpcap'* ]] || skip "built without libpcap"
		[ "$status" -eq 2 ] || explain
		[[ $out$err == *"refused: shape="*"$file: "* ]] || explain
	done
}

is_gone() {
	local pid
	for pid; do
		[ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || return 1
	done
}

until_true() {
	for _ in $(seq 200); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

# Both tasks of the only pair.
finds_tasks() {
	local launcher
	launcher=$(cat "/proc/$runner/task/$runner/children") && [ -n "$launcher" ] || return 1
	# shellcheck disable=SC2207
	tasks=($(cat "/proc/${launcher// /}/task/${launcher// /}/children"))
	[ "${#tasks[@]}" -eq 2 ]
}

# They stream: the receiver has had CPU time.
finds_stream() {
	finds_tasks && [ "$(awk '{ print $14 + $15 }' "/proc/${tasks[1]}/stat" 2> /dev/null || echo 0)" -gt 0 ]
}

# Each is in a space of its own.
finds_spaces() {
	finds_tasks || return 1
	spaces=()
	for task in "${tasks[@]}"; do
		spaces+=("$(readlink "/proc/$task/ns/net")")
		[ "${spaces[-1]}" != "$(readlink /proc/self/ns/net)" ] || return 1
	done
	[ "${spaces[0]}" != "${spaces[1]}" ]
}

@test "a receiver that is killed mid-stream: the run failed and says which, nobody waits" {
	for workload in udp_stream tcp_stream; do
		# shellcheck disable=SC2086
		"$ZONEMARK" run --share --monitor none $brief $workload runtime=60 > talk.txt 2>&1 3>&- &
		runner=$!
		until_true finds_stream
		kill -9 "${tasks[1]}"
		status=0
		wait "$runner" || status=$?
		[ "$status" -eq 3 ]
		grep -q "failed: task 1 (pid ${tasks[1]}) was killed by signal 9" talk.txt
		is_gone "${tasks[@]}"
	done
}

@test "link=veth and kill -9: the tasks go, and their namespaces with them" {
	needs_root
	run_split stream udp_stream link=veth
	[[ $err$out != *'link=veth: '* ]] || skip "$(printf '%s\n' "$err" | grep -o 'link=veth: .*')"
	succeeds
	interfaces=$(ls /sys/class/net) mounts=$(cat /proc/self/mountinfo) names=$(ls /run/netns 2>&1 || true)
	# shellcheck disable=SC2086
	"$ZONEMARK" run --share --monitor none $brief udp_stream link=veth runtime=60 > talk.txt 2>&1 3>&- &
	runner=$!
	until_true finds_spaces
	kill -9 "$runner"
	wait "$runner" || true
	until_true is_gone "${tasks[@]}"
	for space in "${spaces[@]}"; do
		[ -z "$(find /proc/[0-9]*/ns/net -lname "$space" 2> /dev/null)" ] || return 1
	done
	[ "$(ls /sys/class/net)" = "$interfaces" ]
	[ "$(cat /proc/self/mountinfo)" = "$mounts" ]
	[ "$(ls /run/netns 2>&1 || true)" = "$names" ]
	[ -z "$(ls -A "$TMPDIR")" ]
	[ -z "$(find "$ZONEMARK_JOURNAL" -type f ! -name '.*' 2> /dev/null)" ]
}

@test "a capture that has no place is refused before; one that finds none left fails" {
	needs_root
	mkdir here
	for file in "$PWD/here" /dev/full "$PWD/nowhere/file.pcap"; do
		run_split stream tcp_stream capture="$file"
		[[ $out$err != *'built without libpcap'* ]] || skip "built without libpcap"
		[ "$status" -eq 2 ] || explain
		[[ $out$err == *"capture=$file: "* ]] || explain
	done
	[ -c /dev/full ]
	mount -t tmpfs -o size=4k zonemark-test here
	run_split stream tcp_stream capture="$PWD/here/file.pcap"
	umount here
	[ "$status" -eq 3 ] || explain
	[[ $out$err == *'not all packets could be written'* ]] || explain
}
