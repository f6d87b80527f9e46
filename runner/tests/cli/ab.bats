#!/usr/bin/env bats
# ab: turns, looks, and what a crash leaves, with a boot command that only pretends; and this machine's reboots,
# pretended by a boot id and a command line that are mounted over the kernel's own.
# timeout: 120
load helper

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db LOG=$BATS_TEST_TMPDIR/log
	export ONE_BOOT=$ZM_BINARY_DIR/tests/one_boot
	: > "$LOG"
	how='. ./boot' # so that its parent is the command itself
}

# A boot command: kernel A comes to 100 pages/s, B to $1, and both to a little more or less from boot to boot.
pretend() { # B's SPEED, SHELL to be run before it measures
	cat > boot << END
echo "\$ZONEMARK_KERNEL \$ZONEMARK_APPEND|\$*" >> "\$LOG"
${2:-}
speed=100
[ "\$ZONEMARK_KERNEL" = a ] || speed=$1
n=\$(wc -l < "\$LOG")
"\$ONE_BOOT" "\$(awk -v n="\$n" -v speed="\$speed" 'BEGIN { print speed * (1 + (n * 7 % 5 - 2) * ${noise:-0.001}) }')"
END
}

ab() {
	run_split "$ZONEMARK" ab --plan plan.json --boot "$how" "$@"
}

go_on() {
	run_split "$ZONEMARK" ab --plan plan.json --next
}

turns() { # as a line of letters
	cut -c1 "$LOG" | tr -d '\n'
}

@test "two kernels that differ are told apart after four boots of each, in turn" {
	pretend 110
	ab --kernel a --kernel b --until decided --name one page_fault1 nr_task=2
	succeeds
	[ "$(turns)" = abbaabba ]
	has_line '^one: decided after 4 boots a side, of at most 40$'
	has_line '^look 1 at the level 0.005: .* hold with 95 % over all looks together$'
	has_line '^1 better$'
	has_line '^base     one-a: 4 runs, 4 boots, Linux 9.9.0$'
	has_line '  \+(9\.[5-9]|10\.[0-5])[0-9]*%  .* better '
	[ "$(head -n 1 "$LOG")" = 'a |run page_fault1 nr_task=2 --label one-a' ] || cat "$LOG"
	# The runs are there as any others are.
	run_split zonemark compare one-a one-b
	succeeds
	has_line '^1 better$'
}

@test "two that do not are the same, when that is decided" {
	pretend 100
	ab --kernel a --kernel b --until decided page_fault1
	succeeds
	has_line '^1 same$'
	has_line ': decided after [469] boots a side'
}

@test "what is not decided goes on to the last boot, and says so" {
	noise=0.1 pretend 100
	ab --kernel a --kernel b --until decided --boots 6 page_fault1
	succeeds
	[ "$(turns)" = abbaabbaabba ]
	has_line ': all 6 boots a side are done, of at most 6$'
	has_line '^1 too noisy$'
	has_line '^look 2 at the level 0.0[34]'
}

@test "a fixed number of boots has one look, with all of the error" {
	pretend 110
	ab --kernel a --append-b thp=never --boots 2 --format json page_fault1
	succeeds
	[ "$(cut -d'|' -f1 "$LOG" | tr '\n' ,)" = 'a ,a thp=never,a thp=never,a ,' ]
	printf '%s' "$out" | grep -q '"alpha": *0.0\(5\|4999\)'
}

@test "when the time is up, what there is decides" {
	pretend 110 'sleep 0.5'
	ab --kernel a --kernel b --until decided --hours 0.0009 page_fault1
	succeeds
	has_line ': the time was up after [123] boots a side, of at most 40$'
	[ "$(wc -l < "$LOG")" -lt 8 ]
}

@test "killed at any moment, it goes on without a boot too many or too few" {
	# While it measures, before the runs are there and after: the plan knows only what it saw.
	pretend 110 '[ "$(wc -l < "$LOG")" -ne 3 ] || { kill -9 $PPID; exit; }'
	echo '[ "$(wc -l < "$LOG")" -ne 6 ] || kill -9 $PPID' >> boot
	ab --kernel a --kernel b --boots 4 --name one page_fault1
	[ "$status" -ne 0 ]
	zonemark ab --plan plan.json --status | grep -q '2 boots a side\|1 boots a side'
	run_split zonemark ab --plan plan.json --kernel a --kernel b page_fault1
	fails_with 2 'the plan one is under way \(2 boots done\)'
	for _ in 1 2 3; do
		go_on
		[ "$status" -eq 0 ] && break
	done
	succeeds
	[ "$(turns)" = abbbaaabba ] || { cat "$LOG"; return 1; }
	has_line '^one: all 4 boots a side are done'
	has_line '4\+4 welch$'
	go_on
	succeeds
	has_line '4\+4 welch$'
	[ "$(turns)" = abbbaaabba ]
}

@test "killed at random moments, too" {
	pretend 110 'sleep 0.05'
	"$ZONEMARK" ab --plan plan.json --boot "$how" --kernel a --kernel b --boots 5 page_fault1 > out 2> err &
	for _ in $(seq 100); do
		[ -e plan.json ] && break
		sleep 0.05
	done
	for delay in 0.3 0.11 0.23 0.17 0.31 0.13 0.29; do
		sleep $delay
		kill -9 $! 2> /dev/null || true
		wait $! || true
		"$ZONEMARK" ab --plan plan.json --status > /dev/null
		"$ZONEMARK" ab --plan plan.json --next > out 2> err &
	done
	wait $! || { cat err; return 1; }
	grep -q '5+5 ranks' out || { cat out; return 1; }
	[ ! -e plan.json.new ] || ! cmp -s plan.json plan.json.new
}

@test "a signal ends it, and it goes on later" {
	pretend 110 '[ "$(wc -l < "$LOG")" -ne 3 ] || exec sleep 60'
	env --default-signal=INT "$ZONEMARK" ab --plan plan.json --boot "$how" --kernel a --kernel b --boots 2 page_fault1 > out 2> err &
	for _ in $(seq 100); do
		[ "$(wc -l < "$LOG")" -eq 3 ] && break
		sleep 0.1
	done
	kill -s TERM $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 143 ] || { cat err; return 1; }
	grep -q -- '--next. goes on' err
	go_on
	succeeds
	[ "$(turns)" = abbba ]
}

@test "boots that come to nothing are made up for; three in a row end it" {
	pretend 110 '[ "$(wc -l < "$LOG")" -ne 2 ] || exit 3'
	ab --kernel a --kernel b --boots 2 page_fault1
	succeeds
	[ "$(turns)" = abbba ]
	[[ $err == *"does not count (1 of 3 tries)"* ]] || explain
	: > "$LOG"
	pretend 110 '[ "$ZONEMARK_KERNEL" = a ] || exit 3'
	ab --kernel a --kernel b --boots 2 page_fault1
	[ "$status" -eq 3 ] || explain
	[ "$(turns)" = abbb ]
	[[ $err == *"3 boots of b in a row: it ended with status 3"* ]] || explain
}

@test "runs that fail are counted as such" {
	pretend 110 '[ "$ZONEMARK_KERNEL" = a ] || exec "$ONE_BOOT" failed'
	ab --kernel a --kernel b --boots 3 page_fault1
	succeeds
	[ "$(turns)" = abbaab ]
	has_line 'Runs that failed'
}

@test "a value needs a boot of its own" {
	echo '"$ONE_BOOT" 100 the-same' > boot
	ab --kernel a --kernel b --boots 2 page_fault1
	[ "$status" -eq 2 ] || explain
	[[ $err == *"boot the-same was measured before"* ]] || explain
}

@test "what cannot work is said at once" {
	run_split zonemark ab --plan plan.json page_fault1
	fails_with 2 'which kernels'
	ab --kernel a page_fault1
	fails_with 2 'A and B are the same'
	ab --kernel a --kernel b
	fails_with 2 'what shall be measured'
	ab --kernel a --kernel b page_fualt1 runtime=1
	fails_with 2 'ab: page_fualt1: no such workload or matrix; did you mean page_fault1'
	[ ! -s "$LOG" ]
	ab --kernel a --kernel b --kernel c page_fault1
	fails_with 2 '--kernel is there twice'
	ab --kernel a --kernel b --name 'a*' page_fault1
	fails_with 2 '--name a\*: at most 64 letters'
	ab --kernel a --kernel b page_fault1 --label mine
	fails_with 2 '--label stands behind the matrix'
	run_split zonemark ab --plan plan.json --metal --kernel a --append-b x page_fault1
	fails_with 2 'grub-reboot takes no --append'
	run_split zonemark ab --plan plan.json --status
	fails_with 2 'there is no plan'
	go_on
	succeeds
	[ ! -e plan.json ]
	echo '{}' > plan.json
	go_on
	fails_with 2 'no plan of this zonemark, or damaged; remove it'
	# The line itself cannot work: no plan stays behind.
	rm plan.json
	run_split zonemark ab --plan plan.json --kernel nowhere --kernel b page_fault1
	[ "$status" -eq 2 ]
	[ ! -e plan.json ]
}

@test "ended by hand, its boots are there" {
	noise=0.1 pretend 100 '[ "$(wc -l < "$LOG")" -ne 9 ] || { kill -TERM $PPID; exit 3; }'
	ab --kernel a --kernel b --until decided page_fault1
	[ "$status" -eq 143 ] || explain
	run_split zonemark ab --plan plan.json --stop
	succeeds
	has_line ': stopped after 8 boots'
	has_line '^1 too noisy'
}

# --- this machine, as it reboots ---

# The same command in the boot that is: another id, and the command line of what was set.
in_boot() { # COMMAND …
	unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id &&
		mount --bind cmdline /proc/cmdline && exec "$@"' machine "$@"
}

power_on() { # COMMAND …
	cat /proc/sys/kernel/random/uuid > boot_id
	echo "kernel=$(cat next 2> /dev/null || echo usual)" > cmdline
	rm -f next
	in_boot "$@"
}

needs_reboots() {
	needs_root
	needs_command unshare
	power_on true || skip "nothing can be mounted over /proc here"
	echo 'echo "set $ZONEMARK_KERNEL" >> "$LOG"; printf %s "$ZONEMARK_KERNEL" > next' > set.sh
	echo 'echo reboot >> "$LOG"' > reboot.sh
}

# The first call, which makes the plan; then what a unit of systemd would call at every boot.
begin() {
	run_split power_on "$ZONEMARK" ab --plan plan.json --metal --set "${set:-. ./set.sh}" \
		--reboot '. ./reboot.sh' --name m --kernel a --kernel b --boots 2 \
		null warmup=0 idle=0 drain=0 runtime="${runtime:-0.1}" --monitor none
	succeeds
}

next=("$ZONEMARK" ab --plan plan.json --next)

dies() {
	run_split "$@"
	[ "$status" -ne 0 ] || explain
}

# Four boots, each another. (A task that came to nothing in its short time is a failed run, and no matter here.)
is_complete() {
	has_line '^m: all 2 boots a side are done'
	[ "$(grep -c '"state": "done"' plan.json)" -eq 4 ]
	[ "$(grep -o '"boot": "[^"]*"' plan.json | sort -u | wc -l)" -eq 4 ]
}

@test "on metal: each boot measures once and asks for the next" {
	needs_reboots
	begin
	[ "$(tr '\n' ' ' < "$LOG")" = 'set a reboot ' ]
	for kernel in a b b a; do
		[ "$(cat next)" = "$kernel" ]
		run_split power_on "${next[@]}"
		succeeds
	done
	[ ! -e next ]
	is_complete
	has_line 'differs: command_line: kernel=a -> kernel=b$'
	[ "$(grep -c reboot "$LOG")" -eq 4 ]
	# Once it has ended, the unit that calls it at every boot harms nothing.
	run_split power_on "${next[@]}"
	succeeds
	[ "$(grep -c reboot "$LOG")" -eq 4 ]
}

@test "on metal: wherever it dies, it makes that boot again" {
	needs_reboots
	# Killed when the next kernel is set, and when it reboots.
	echo '[ "$(grep -c set "$LOG")" -ne 2 ] || kill -9 $PPID' >> set.sh
	echo '[ "$(grep -c reboot "$LOG")" -ne 3 ] || kill -9 $PPID' >> reboot.sh
	runtime=1 begin
	dies power_on "${next[@]}" # measures a, sets b
	run_split in_boot "${next[@]}"
	succeeds # sets b again, reboots
	dies power_on "${next[@]}" # measures b, reboots into b
	[ "$(cat next)" = b ]
	# The machine goes down while it measures: a kernel that does not know this plan comes up, and asks again.
	dies power_on timeout -s KILL 0.6 "${next[@]}"
	rm -f next
	for _ in 1 2 3 4 5; do
		run_split power_on "${next[@]}"
		succeeds
		[[ $out != *"all 2 boots a side are done"* ]] || break
	done
	is_complete
}

@test "on metal: a kernel that was not asked for does not count" {
	needs_reboots
	set=true begin
	for _ in 1 2 3; do
		run_split power_on "${next[@]}"
		succeeds
	done
	run_split power_on "${next[@]}"
	[ "$status" -eq 3 ] || explain
	[[ $err == *"the same kernel came up for both sides"* ]] || explain
}
