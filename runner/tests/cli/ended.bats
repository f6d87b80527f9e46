#!/usr/bin/env bats
# ended: runs that are told to end, and stores that cannot be had.
# labels: cli
# timeout: 120
load helper

setup_more() {
	quick=(runtime=0.2 warmup=0.1 idle=0.1 drain=0.2 --share)
}

# A run that lasts until it is told to end; $runner is its pid.
start_long_run() { # [more words]
	# A shell starts what is in the background with SIGINT ignored.
	env --default-signal=INT "$ZONEMARK" run null runtime=60 warmup=0.1 idle=0.1 --share "$@" \
		> run.out 2> run.err 3>&- &
	runner=$!
	for _ in $(seq 200); do
		[ -z "$(pgrep -P "$runner")" ] || return 0
		sleep 0.05
	done
	return 1
}

# Everybody below a process, as the kernel lists them.
descendants() {
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child"
		descendants "$child"
	done
}

none_runs() { # PID …
	local pid
	for pid; do
		for _ in $(seq 100); do
			case $(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2> /dev/null) in
			'' | Z | X) break ;;
			esac
			sleep 0.05
		done
		case $(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2> /dev/null) in
		'' | Z | X) ;;
		*) return 1 ;;
		esac
	done
}

@test "each of SIGINT, SIGTERM and SIGHUP ends a run with all its tasks" {
	for signal in INT TERM HUP; do
		start_long_run nr_task=2 mode=process
		all=$(descendants "$runner")
		kill -s "$signal" "$runner"
		status=0
		wait "$runner" || status=$?
		[ "$status" -ne 0 ] || { cat run.out run.err; return 1; }
		# shellcheck disable=SC2086
		none_runs $all
	done
}

@test "a store that cannot be had is one sentence" {
	mkdir folder
	run_split zonemark run null "${quick[@]}" --db folder
	fails_with 2 'folder: not a file'
	echo 'this is a text, and longer than the header of a database: it is no store, and stays as it is' > text
	cp text before
	run_split zonemark run null "${quick[@]}" --db text
	fails_with 2 'text: not a zonemark store'
	cmp text before
	run_split zonemark run null "${quick[@]}" --db mistyped/folder/x.db
	fails_with 2 'mistyped/folder/x.db: there is no folder mistyped/folder; make it, or give another place with --db'
	[ ! -e mistyped ]
	needs_root
	needs_command setpriv
	mkdir -m 700 mine
	run_split as_nobody "$ZONEMARK" run null "${quick[@]}" --db "$PWD/mine/x.db"
	fails_with 2 'mine/x.db: .*[Pp]ermission'
}
