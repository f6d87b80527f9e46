# shellcheck shell=sh
# common: what the scripts here share; sourced. Sets $zonemark, $tools (the programs of this folder)
# and $scratch, a directory that goes with the script.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${ZM_BUILD:-$here/../build/release}
zonemark=$build/bin/zonemark
tools=$build/bench
if [ ! -x "$zonemark" ] || [ ! -x "$tools/paired" ]; then
	echo "${0##*/}: nothing is built in $build: cmake --workflow --preset release" >&2
	exit 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' INT TERM HUP

# The last CPU that this process may use: the first ones have the machine's interrupts.
last_cpu() {
	sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status
}

# One launch of one task on one CPU, in JSON: WORKLOAD CPU SECONDS [WORD …]; warms up for $warmup (1s).
one_task() {
	workload=$1 cpu=$2 seconds=$3
	shift 3
	printf '%s run %s nr_task=1 --cpus %s runtime=%ss warmup=%s idle=200ms drain=0s --db %s %s --json 2>%s' \
		"'$zonemark'" "$workload" "$cpu" "$seconds" "${warmup:-1s}" "'$scratch/db'" "$*" "'$scratch/talk'"
}

# Where a ratio's interval at 95 % lies: "within" 1 % of 1; "reaches" into that; "misses" it.
verdict_of() { # RATIO [LOW, HIGH]
	echo "$*" | tr -d '[],' | awk '{
		if ($2 >= 0.99 && $3 <= 1.01) print "within"
		else if ($3 >= 0.99 && $2 <= 1.01) print "reaches"
		else print "misses" }'
}
