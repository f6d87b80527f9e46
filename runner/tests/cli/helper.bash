# helper: what every CLI test starts with. `load helper` at the top of a .bats file gives each test
# its own store, journal and temporary directory, and these:
#
#     zonemark …            the built program
#     run_split CMD …       runs CMD; $status, $out (stdout) and $err (stderr) apart
#     fails_with N PATTERN  the last run_split: status N, and exactly one line on stderr, matching PATTERN
#     as_nobody CMD …       as uid 65534 without groups or capabilities; skips when not root
#     own_namespace         a network namespace of the test's own, with settings of its own: no other test
#                           and no run sees them change; inside CMD … runs there; leave_namespace in
#                           teardown. Skips when it cannot be made
#     risen METRIC          by how much a count of the last run rose in all of it
#     figure METRIC         the value of a figure of the last run, rounded; nothing when it has none
#     needs_root, needs_command NAME …   skip the test without them

setup() {
	: "${ZONEMARK:?path of the program; run these through ctest}"
	export HOME=$BATS_TEST_TMPDIR/home
	export XDG_DATA_HOME=$HOME/data XDG_STATE_HOME=$HOME/state XDG_CACHE_HOME=$HOME/cache
	export ZONEMARK_JOURNAL=$HOME/journal
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$HOME" "$TMPDIR"
	unset ZONEMARK_DB LC_ALL
	export LANG=C
	cd "$BATS_TEST_TMPDIR" || return 1
	if declare -F setup_more > /dev/null; then setup_more; fi
}

zonemark() {
	"$ZONEMARK" "$@"
}

run_split() {
	status=0
	"$@" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" || status=$?
	out=$(cat "$BATS_TEST_TMPDIR/out")
	err=$(cat "$BATS_TEST_TMPDIR/err")
}

# Shown by bats when a test fails.
explain() {
	printf 'status %s\nout: %s\nerr: %s\n' "$status" "$out" "$err"
	return 1
}

fails_with() {
	[ "$status" -eq "$1" ] || { explain; return 1; }
	[ "$(printf '%s\n' "$err" | wc -l)" -eq 1 ] || { explain; return 1; }
	[[ $err =~ $2 ]] || { explain; return 1; }
}

succeeds() {
	[ "$status" -eq 0 ] || { explain; return 1; }
}

has_line() { # PATTERN in $out
	printf '%s\n' "$out" | grep -Eq -- "$1" || { explain; return 1; }
}

needs_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

needs_command() {
	local name
	for name; do
		command -v "$name" > /dev/null || skip "needs the program $name"
	done
}

as_nobody() {
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" 2> /dev/null || true
	chown -R 65534 "$HOME" "$TMPDIR"
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all --inh-caps -all "$@"
}

own_namespace() {
	needs_root
	needs_command unshare nsenter
	unshare -n sleep 300 3>&- > /dev/null 2>&1 &
	namespace=$!
	for _ in $(seq 100); do
		[ "$(readlink "/proc/$namespace/ns/net")" != "$(readlink /proc/self/ns/net)" ] && return
		sleep 0.05
	done
	skip "no network namespace can be made here"
}

inside() {
	nsenter --net="/proc/$namespace/ns/net" "$@"
}

leave_namespace() {
	[ -z "${namespace:-}" ] || kill "$namespace"
}

risen() {
	zonemark export last --format csv |
		awk -F, -v metric="$1" '$6 == "reading" && $8 == metric && $11 != "cpu" {
			if (!n++) first = $15
			last = $15
		}
		END { if (!n) exit 1; printf "%.0f\n", last - first }'
}

figure() {
	zonemark export last --format csv |
		awk -F, -v metric="$1" '$6 == "result" && $8 == metric { printf "%.0f\n", $15 }'
}
