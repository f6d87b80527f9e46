#!/usr/bin/env bats
# show: one run as a text, as JSON, as a picture, from a store that is the same every time.
# timeout: 120
load helper

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_store" "$BATS_FILE_TMPDIR/sample.db"
}

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db
	cp "$BATS_FILE_TMPDIR/sample.db" "$ZONEMARK_DB"
}

@test "a run is found by number, name, label and as the last one" {
	for word in 3 33333333 33333333-0000-4000-8000-000000000002; do
		run_split zonemark show "$word"
		succeeds
		has_line '^run 3: page_fault1, 2 process tasks: ok$'
	done
	run_split zonemark show base
	succeeds
	has_line '^run 2: '
	run_split zonemark show
	succeeds
	has_line '^run 6: sctp_stream_many, 2 process tasks: skipped: SCTP is not in this kernel$'
}

@test "an answer that finds no room is one line" {
	[ -c /dev/full ] || skip "no /dev/full"
	for form in "show 1" "show 1 --json"; do
		status=0
		# shellcheck disable=SC2086
		zonemark $form > /dev/full 2> err || status=$?
		[ "$status" -eq 2 ]
		[ "$(grep -c 'could not be written' err)" -eq 1 ]
		[ "$(wc -l < err)" -eq 1 ]
	done
}

@test "figures stand with their spread, within and between launches apart" {
	run_split zonemark show 1
	succeeds
	has_line '^  ! disturbed: other processes had 3.7 % of the CPUs'
	has_line '^  will-it-scale.per_process_ops \*   95000  pages/s   94050   95000   95950  1\.05%  10$'
	has_line '^  will-it-scale.per_process_ops   95950  pages/s   95000   96900  1\.40%         2$'
	has_line '1\.05% within a launch \(between its intervals\), 1\.40% between launches'
	has_line '^  pages +950000$'
	has_line '^  page faults of everybody \(vmstat\)  997500  0\.9524 pages per fault$'
	has_line '^  task.ops +task +2  90000   95000  100000  190000  pages/s$'
	has_line '^  fault.latency  host  959500  1.19 us  1.00 us  1.00 us  1.00 us  20.0 us  20.0 us$'
	has_line '^  perf-stat: no CPU PMU'
	has_line '^  used.peak   2.16 GiB$'
	[[ $out != *proc-vmstat.oom_kill* ]]
	has_line '^2 more did not move; --all shows them$'
	run_split zonemark show 1 --all
	has_line '^  proc-vmstat.oom_kill '
	has_line '^  task.ops task 1 +90000  pages/s '
}

@test "each figure can be traced to its count, interval, source and CPU" {
	run_split zonemark show 1 --trace
	succeeds
	has_line '^  will-it-scale.per_process_ops \*.* 950000  5.00 s  page_fault1$'
	has_line '^     1  4712    1     0   90000  pages/s  450000$'
	run_split zonemark show 1 --trace --metric task.ops
	succeeds
	has_line '^  task.ops task 0  100000  pages/s .* 500000  5.00 s  engine$'
	[[ $out != *window.ops* ]]
}

@test "a failed run shows why, and that its figures count for nothing" {
	run_split zonemark show 5
	succeeds
	has_line '^run 5: .*: failed: task 1 was killed by signal 9$'
	has_line '^  ! none of its figures counts as a result$'
}

@test "the answer in JSON is whole" {
	needs_command python3
	run_split zonemark show 1 --json
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["run"] == 1 and run["status"] == "ok" and run["label"] == "base"
assert run["parameters"]["size"] == "128M" and run["inventory"]["cpus_online"] == 2
figure = run["figures"][0]
assert figure["value"] == 95000 and figure["count"] == 950000 and figure["primary"]
assert figure["within"]["n"] == 10 and figure["launches"]["n"] == 2
ops = [m for m in run["metrics"] if m["metric"] == "task.ops"][0]
assert [s["count"] for s in ops["scopes"]] == [500000, 450000], ops
hist = run["histograms"][0]
assert hist["count"] == 959500 and sum(b[2] for b in hist["buckets"]) == 959500
assert run["window"]["t1_ns"] - run["window"]["t0_ns"] == 5 * 10**9
assert len(run["curves"]["used_memory"]["points"]) > 80
late = [s for m in run["metrics"] for s in m["scopes"] if "flags" in s]
assert [s["flags"] for s in late] == [["late"]], late
'
}

@test "the curves are drawn in the terminal where gnuplot is" {
	needs_command gnuplot
	run_split zonemark show 1
	succeeds
	has_line 'throughput \(pages/s\)'
	has_line 'used memory \(GiB\)'
	has_line 'idle.*warmup.*measure.*drain'
	has_line 'time \(s\)'
}

@test "without gnuplot one line says so, and the points stand as a table" {
	mkdir bin
	run_split env PATH="$BATS_TEST_TMPDIR/bin" "$ZONEMARK" show 1
	succeeds
	has_line '^curves: gnuplot is not installed; apt-get install gnuplot-nox; here are their points$'
	has_line '^ +[0-9.]+  measure +[0-9]+  pages/s +[0-9]+$'
	run_split env PATH="$BATS_TEST_TMPDIR/bin" "$ZONEMARK" show 1 --svg curves.svg
	fails_with 2 '^zonemark: show --svg: gnuplot is not installed'
	[ -z "$(ls curves.svg* 2> /dev/null)" ]
}

@test "the picture has axes with units, the phases, and the run in its title" {
	needs_command gnuplot
	run_split zonemark show 1 --svg curves.svg
	succeeds
	[ -z "$out" ]
	for text in 'throughput (pages/s)' 'used memory (GiB)' 'time (s)' measure drain \
		'page_fault1, 2 process tasks, Linux 6.18.0, base' 'nr_task=2'; do
		grep -qF "$text" curves.svg
	done
	[ "$(tail -c 8 curves.svg | tr -d '\n')" = "</svg>" ]
	run_split zonemark show 6 --svg nothing.svg
	fails_with 2 'there is nothing to draw'
	run_split zonemark show 1 --svg nowhere/curves.svg
	fails_with 2 'nowhere/curves.svg'
}

@test "the profile's call chains are drawn as a flame graph" {
	run_split zonemark show base --flame flame.svg
	succeeds
	[ -z "$out" ]
	grep -qF 'page_fault1: run 2, cpu-clock' flame.svg
	grep -qF 'base: Linux 6.18.0, perf-profile;' flame.svg
	grep -qF '<title>clear_page: 600 samples, 60.00 %</title>' flame.svg
	grep -qF '<title>asm_exc_page_fault: 900 samples, 90.00 %</title>' flame.svg
	[ "$(tail -c 8 flame.svg | tr -d '\n')" = "</svg>" ]
	if command -v python3 > /dev/null; then
		python3 -c 'import xml.dom.minidom as m; m.parse("flame.svg")'
	fi
	run_split zonemark show 1 --flame again.svg --json
	succeeds
	has_line '"run": 1'
	[ -s again.svg ]
	run_split zonemark show 6 --flame none.svg
	fails_with 2 '^zonemark: show --flame: run 6 has no call chains; .*perf-profile'
	[ ! -e none.svg ]
	run_split zonemark show 1 --flame nowhere/flame.svg
	fails_with 2 'nowhere/flame.svg'
}

@test "a hostile label moves no cursor and runs nothing" {
	run_split zonemark show 6
	succeeds
	has_line 'label \?\[31m<b>"evil",\?'
	[[ $out != *$'\e'* ]]
}

@test "what is not there is said in one line" {
	run_split zonemark show 99
	fails_with 2 '^zonemark: 99: no run has this number, name or label; `zonemark runs` lists them$'
	run_split zonemark show 1 2
	fails_with 2 'one run at a time'
	run_split zonemark show 1 --metric 'nothing*'
	fails_with 2 'run 1 has no metric like nothing\*'
	run_split zonemark show --db "$BATS_TEST_TMPDIR/none.db"
	fails_with 2 'there is no store yet; `zonemark run` makes one'
	printf 'not a database, and long enough to be told from one' > junk.db
	run_split zonemark show --db junk.db
	fails_with 2 '^zonemark: junk.db: not a zonemark store, or damaged'
}

# Takes away what newer versions brought: a store of version 1.
make_old() {
	python3 -c '
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.executescript("DROP TABLE noise; DROP TABLE stacks; PRAGMA user_version = 1")
' "$1"
}

@test "a store of an older version is read as it is, and brought up to date by who writes" {
	needs_command python3
	version='import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version").fetchone()[0])'
	cp "$ZONEMARK_DB" old.db
	make_old old.db
	for command in runs noise export; do
		run_split zonemark "$command" --db old.db
		succeeds
	done
	run_split zonemark show 1 --db old.db
	succeeds
	run_split zonemark compare base new --db old.db
	succeeds
	[ "$(python3 -c "$version" old.db)" = 1 ]
	run_split zonemark import old.db --db other.db
	succeeds
	has_line '^old.db: 6 new'
	run_split zonemark import other.db --db old.db
	succeeds
	[ "$(python3 -c "$version" old.db)" -gt 1 ]
	run_split zonemark noise 1 2 --db old.db
	succeeds
}

@test "a store can be looked into by who may only read it" {
	needs_root
	chmod 444 "$ZONEMARK_DB"
	run_split as_nobody "$ZONEMARK" show 1
	succeeds
	has_line '^run 1: '
}

@test "a comma locale changes no number" {
	needs_command localedef
	mkdir locale
	localedef --no-archive -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/locale/de_DE.UTF-8" 2> /dev/null ||
		[ -d "$BATS_TEST_TMPDIR/locale/de_DE.UTF-8" ] || skip "no locale sources"
	run_split zonemark show 1 --json
	plain=$out
	LOCPATH=$BATS_TEST_TMPDIR/locale LC_ALL=de_DE.UTF-8 run_split zonemark show 1 --json
	succeeds
	[ "$out" = "$plain" ]
}
