#!/usr/bin/env bats
# nightly: nights one after the other, a regression seen, confirmed and told once; what is refused; what is
# left after a kill.
#
# The history is made of one real night: thousand times as quick, so that the nights after it are a regression
# however slow or quick this machine is.
# timeout: 240
load helper

setup_more() {
	export ZONEMARK_DB=$PWD/n.db
	night=("$ZONEMARK" nightly null idle=0 warmup=0 drain=0 runtime=200ms --share --monitor none)
}

# The store's only run, NIGHTS times, each its own night, a thousand times as quick; then SLOW times as it is.
make_history() { # NIGHTS SLOW
	python3 - "$ZONEMARK_DB" "$1" "$2" << 'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
nights, slow = int(sys.argv[2]), int(sys.argv[3])
def columns(table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
def copy(table, key, old, **new):
    names = columns(table)
    for row in db.execute(f"SELECT * FROM {table} WHERE {key} = ?", (old,)).fetchall():
        values = dict(zip(names, row)) | new
        if table == "result":
            factor = 1000 if new["run"] <= 1000 + nights else 1
            values["value"] *= factor * (1 + new["run"] * 7 % 11 / 1000)
        marks = ", ".join("?" * len(names))
        db.execute(f"INSERT INTO {table} VALUES ({marks})", [values[name] for name in names])
run, invocation = db.execute("SELECT id, invocation FROM run").fetchone()
for night in range(1, nights + slow + 1):
    number = 1000 + night
    copy("invocation", "id", invocation, id=number, uuid=f"aaaaaaaa-0000-4000-8000-{number:012x}")
    copy("run", "id", run, id=number, invocation=number, uuid=f"bbbbbbbb-0000-4000-8000-{number:012x}")
    copy("result", "run", run, run=number)
db.execute("DELETE FROM run WHERE id = ?", (run,))
db.execute("DELETE FROM result WHERE run = ?", (run,))
db.execute("DELETE FROM invocation WHERE id = ?", (invocation,))
db.commit()
END
}

@test "a first night has nothing to compare with, and leaves its files" {
	run_split "${night[@]}"
	succeeds
	has_line '^zonemark nightly: 1 too few nights$'
	has_line '^too few nights +null +null.throughput +[0-9.e+]+ +ops/s'
	has_line '^It was: zonemark nightly null '
	[[ $err == *"the files are in $PWD/nightly"* ]]
	grep -qx 'Subject: zonemark nightly: 1 too few nights' nightly/mail.txt
	grep -q 'tests="1" failures="0" errors="0" skipped="1"' nightly/junit.xml
	grep -qx '# EOF' nightly/openmetrics.txt
	grep -q '"state": "too few nights"' nightly/nightly.json
	[ "$(find nightly -type f | sort | tr '\n' ' ')" = \
		"nightly/junit.xml nightly/lock nightly/mail.txt nightly/nightly.json nightly/openmetrics.txt nightly/tonight.html " ]
	zonemark runs --json | grep -q '"label":"nightly"'
}

@test "a regression is seen, confirmed by runs of its own, told once" {
	needs_command python3
	"${night[@]}" > /dev/null
	make_history 40 3
	run_split "${night[@]}" # four nights are not enough
	succeeds
	has_line '^as usual|^outlier'
	run_split "${night[@]}" --confirm 6 --out told -o site
	fails_with_regression
	[ "$(sqlite_count "SELECT count(*) FROM run JOIN invocation ON invocation.id = run.invocation
		WHERE label = 'nightly confirmation'")" -eq 6 ]
	grep -q 'failures="1"' told/junit.xml
	grep -q '"state": "confirmed"' told/nightly.json
	grep -q '^zonemark_night_figures{state="regression"} 1$' told/openmetrics.txt
	grep -q '<strong>regression</strong>: null' told/tonight.html
	[ -s site/index.html ]
	run_split "${night[@]}" --out told
	succeeds # it has been told
	has_line '^(as usual|outlier) +null'
}

fails_with_regression() {
	[ "$status" -eq 1 ] || explain
	has_line '^zonemark nightly: 1 regression$'
	has_line '^regression: null, null.throughput$'
	has_line 'ops/s, -[0-9.]+% .* confirmed, by runs of their own: -'
}

sqlite_count() { # SQL
	python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' \
		"$ZONEMARK_DB" "$1"
}

@test "without a confirmation it is asked for, and the next night tells it" {
	needs_command python3
	"${night[@]}" > /dev/null
	make_history 40 4
	run_split "${night[@]}" --confirm 0 --json
	succeeds
	has_line '"state": "not settled"'
	run_split "${night[@]}"
	fails_with_regression
}

@test "one bad night is an outlier" {
	needs_command python3
	"${night[@]}" > /dev/null
	make_history 40 0
	run_split "${night[@]}"
	succeeds
	has_line '^zonemark nightly: 1 outlier$'
	grep -q 'failures="0"' nightly/junit.xml
}

@test "another nightly at work is said, and nothing is run" {
	needs_command flock
	mkdir -p nightly
	run_split flock nightly/lock "$ZONEMARK" nightly null runtime=200ms
	fails_with 2 '^zonemark: nightly: another nightly is at work on .*nightly: wait for its end, or give this one a folder of its own with --out$'
	[ ! -e n.db ]
}

@test "what cannot be is refused before anything is run" {
	run_split "${night[@]}" no_such_option=1
	fails_with 2 'no_such_option'
	touch file
	run_split "${night[@]}" --out file/below
	fails_with 2 '^zonemark: nightly: file: cannot make this folder|^zonemark: nightly: file/below: '
	run_split zonemark nightly nulll
	fails_with 2 'did you mean null'
	[ ! -e n.db ]
}

@test "files that cannot be written are said, and the runs are kept" {
	mkdir -p files/mail.txt
	run_split "${night[@]}" --out files
	[ "$status" -eq 2 ] || explain
	[[ $err == *"zonemark: nightly: "*"mail.txt: cannot be written"* ]] || explain
	has_line '^zonemark nightly: 1 too few nights$'
	[ "$(zonemark runs --json | grep -c '"label":"nightly"')" -eq 1 ]
	[ ! -e files/nightly.json ]
}

@test "a site that cannot be written is said behind everything else" {
	mkdir site
	echo mine > site/index.html
	run_split "${night[@]}" -o site
	[ "$status" -eq 2 ] || explain
	[[ $err == *"zonemark: nightly: "*site* ]] || explain
	has_line '^zonemark nightly: 1 too few nights$'
	[ -s nightly/nightly.json ]
	[ "$(cat site/index.html)" = mine ]
}

@test "a full disk leaves the files as they were" {
	needs_root
	needs_command unshare mount
	unshare -m true 2> /dev/null || skip "no mount namespace can be made here"
	"${night[@]}" > /dev/null
	cat > full << END
mount -t tmpfs -o size=64k none "\$1" && echo old > "\$1/nightly.json" || exit 99
"$ZONEMARK" nightly null idle=0 warmup=0 drain=0 runtime=200ms --share --monitor none --out "\$1" > /dev/null 2>&1
rm "\$1"/*.txt "\$1"/*.xml "\$1"/*.html
head -c 200000 /dev/zero > "\$1/filler" 2> /dev/null
echo was > "\$1/nightly.json" 2> /dev/null
cp "\$1/nightly.json" before
"$ZONEMARK" nightly null idle=0 warmup=0 drain=0 runtime=200ms --share --monitor none --out "\$1" > out 2> err
echo \$? > status
cmp "\$1/nightly.json" before && ls "\$1" > left
END
	mkdir small
	unshare -m sh full small || [ $? -ne 99 ] || skip "no tmpfs can be mounted here"
	[ "$(cat status)" -eq 2 ]
	grep -q 'No space left on device' err
	grep -q '1 too few nights' out
	[ "$(tr '\n' ' ' < left)" = "filler lock nightly.json " ]
}

@test "a nightly that is killed can be gone on with" {
	"$ZONEMARK" nightly null nr_task=1,2 idle=0 warmup=0 drain=0 runtime=2s --share --monitor none \
		> /dev/null 2>&1 3>&- &
	pid=$!
	for _ in $(seq 200); do
		zonemark runs --json 2> /dev/null | grep -q '"status":"running"' && break
		sleep 0.05
	done
	kill -KILL $pid
	wait $pid || true
	[ ! -e nightly/nightly.json ]
	run_split zonemark nightly null nr_task=1,2 idle=0 warmup=0 drain=0 runtime=2s --share --monitor none --resume
	succeeds
	has_line '^zonemark nightly: 2 too few nights, 1 run without a result$'
	has_line 'run [0-9]+, null.*: interrupted'
}

@test "one that is told to end does, and tells nothing" {
	"$ZONEMARK" nightly null idle=0 warmup=0 drain=0 runtime=60s --share --monitor none \
		> out 2> err 3>&- &
	pid=$!
	for _ in $(seq 200); do
		zonemark runs --json 2> /dev/null | grep -q '"status":"running"' && break
		sleep 0.05
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 143 ]
	[ ! -s out ]
	[ ! -e nightly/nightly.json ]
}
