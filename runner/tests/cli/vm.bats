#!/usr/bin/env bats
# vm: what it refuses, and how guests end, with a program in QEMU's place that ends as they do.
# timeout: 240
load helper

setup_more() {
	mkdir -p bin
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH
	# A file that looks like a bzImage as far as anybody looks here.
	head -c 4096 /dev/zero > kernel
	printf 'HdrS' | dd of=kernel bs=1 seek=514 conv=notrunc status=none
}

# What QEMU would do: the lines of a script.
qemu_does() {
	printf '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho $$ > %q\n%s\n' "$BATS_TEST_TMPDIR/qemu.pid" "$1" \
		> bin/qemu-system-x86_64
	chmod +x bin/qemu-system-x86_64
}

vm() {
	run_split "$ZONEMARK" vm --accel tcg "$@"
}

ends_with() { # STATUS PATTERN: of the last line
	[ "$status" -eq "$1" ] || explain
	[[ $(printf '%s\n' "$err" | tail -n 1) =~ $2 ]] || explain
}

leaves_nothing() {
	[ -z "$(ls "$TMPDIR")" ]
	[ ! -e qemu.pid ] || ! kill -0 "$(cat qemu.pid)" 2> /dev/null
}

@test "a line that cannot work is refused before anything is made" {
	qemu_does 'exit 0'
	vm list
	fails_with 2 'which kernel\? --kernel FILE'
	vm --kernel kernel
	fails_with 2 'what shall the guest run'
	vm --kernel kernel vm --kernel kernel list
	fails_with 2 'guest within a guest'
	vm --kernel kernel --topology 2x list
	fails_with 2 '--topology 2x'
	vm --kernel kernel --topology 2s --cpus 3 list
	fails_with 2 'multiple of 2'
	vm --kernel kernel --memory 900T list
	fails_with 2 'are available here'
	vm --kernl kernel list
	fails_with 2 'did you mean --kernel'
	vm --kernel kernel --accel hvf list
	fails_with 2 'accel'
	[ ! -e "$XDG_CACHE_HOME" ]
}

@test "a kernel that is none is said" {
	qemu_does 'exit 0'
	vm --kernel nowhere list
	fails_with 2 'the kernel nowhere: No such file'
	echo text > text
	vm --kernel text list
	fails_with 2 'text is no kernel'
	mkdir empty
	vm --kernel empty list
	fails_with 2 'empty holds no kernel'
	vm --kernel kernel --modules nowhere list
	fails_with 2 '--modules nowhere'
	vm --kernel debian:nonsense list
	fails_with 2 'begins with linux-image-'
}

@test "without QEMU it says which package brings it" {
	local tools=$BATS_TEST_TMPDIR/tools
	mkdir "$tools"
	run_split env PATH="$tools" "$ZONEMARK" vm --kernel kernel list
	fails_with 2 'apt-get install --no-install-recommends qemu-system-x86'
}

@test "a panic is said with the last lines, status 3" {
	qemu_does 'echo "[    1.0] BUG: unable to handle page fault"
echo "[    2.0] Kernel panic - not syncing: Fatal exception"'
	vm --kernel kernel list
	ends_with 3 'its kernel panicked: .*Fatal exception'
	[[ $err == *'console: [    1.0] BUG: unable to handle page fault'* ]] || explain
	leaves_nothing
}

@test "a guest without init, out of memory, or whose agent cannot go on" {
	qemu_does 'echo "Kernel panic - not syncing: No working init found."'
	vm --kernel kernel list
	ends_with 3 'could not run the initramfs'
	qemu_does 'echo "Kernel panic - not syncing: System is deadlocked on memory"'
	vm --kernel kernel list
	ends_with 3 'give more by --memory'
	qemu_does 'echo "zonemark-agent: the kernel of the guest has no devtmpfs (CONFIG_DEVTMPFS)"'
	vm --kernel kernel list
	ends_with 3 'no devtmpfs \(CONFIG_DEVTMPFS\)'
	leaves_nothing
}

@test "QEMU's own error is passed on" {
	qemu_does 'echo "qemu-system-x86_64: cannot set up guest memory" >&2; exit 1'
	vm --kernel kernel list
	ends_with 3 'QEMU failed: .*cannot set up guest memory'
	qemu_does 'exit 5'
	vm --kernel kernel list
	ends_with 3 'ended without a word'
}

@test "a guest that does not come up is ended" {
	qemu_does 'echo "[    0.0] Linux version 9.9"; exec sleep 60'
	vm --kernel kernel --boot-timeout 1s list
	ends_with 3 'did not come up within 1 s'
	leaves_nothing
	qemu_does 'exec sleep 60'
	vm --kernel kernel --boot-timeout 1s list
	ends_with 3 'its console is silent'
	leaves_nothing
	vm --kernel kernel --timeout 1s list
	ends_with 3 'was not done within 1 s \(--timeout\)'
	leaves_nothing
}

# Of the four seconds in which it is stopped, two at most count.
@test "while this machine stands still, a guest's time does not run out" {
	qemu_does 'exec sleep 60'
	start=$EPOCHREALTIME
	"$ZONEMARK" vm --accel tcg --kernel kernel --boot-timeout 4s list > out 2> err &
	pid=$!
	for _ in $(seq 100); do
		[ -s qemu.pid ] && break
		sleep 0.1
	done
	kill -STOP $pid
	sleep 4
	kill -CONT $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 3 ]
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { exit !(b - a >= 6) }'
	leaves_nothing
}

@test "a signal ends the guest, and us by that signal" {
	qemu_does 'exec sleep 60'
	for signal in INT TERM HUP; do
		rm -f qemu.pid
		# bats ignores SIGINT in what runs in the background; env sets it back.
		env --default-signal=INT "$ZONEMARK" vm --accel tcg --kernel kernel list > out 2> err &
		pid=$!
		for _ in $(seq 100); do
			[ -s qemu.pid ] && break
			sleep 0.1
		done
		kill -s "$signal" $pid
		status=0
		wait $pid || status=$?
		[ "$status" -eq $((128 + $(kill -l $signal))) ] || { cat err; return 1; }
		grep -q 'ended by signal' err
		leaves_nothing
	done
}

@test "a guest does not outlive a killed vm" {
	qemu_does 'exec sleep 60'
	"$ZONEMARK" vm --accel tcg --kernel kernel list > out 2> err &
	pid=$!
	for _ in $(seq 100); do
		[ -s qemu.pid ] && break
		sleep 0.1
	done
	kill -9 $pid
	wait $pid || true
	for _ in $(seq 50); do
		kill -0 "$(cat qemu.pid)" 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}
