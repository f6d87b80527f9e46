#!/usr/bin/env bats
# compare: verdicts and formats, from a store that is the same every time: eight boots a side, the new
# kernel 7.9 % quicker; page_fault2 ran on one side only.
# timeout: 120
load helper

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_store" "$BATS_FILE_TMPDIR/sample.db" 48
	"$ZM_BINARY_DIR/tests/sample_store" "$BATS_FILE_TMPDIR/small.db"
}

setup_more() {
	export ZONEMARK_DB=$BATS_FILE_TMPDIR/sample.db
}

@test "two labels: both centres, the change with its interval, the verdict" {
	run_split zonemark compare base new
	succeeds
	has_line '^base     base: 16 runs, 8 boots, Linux 6.18.0$'
	has_line '^against  new: 16 runs, 8 boots, Linux 6.19.0-rc1$'
	has_line '^1 better$'
	has_line '^  page_fault1  will-it-scale.per_process_ops  96334  0.32%  103964  0.32%  pages/s  \+7.92%  \+7.49% … \+8.35%  better +0.49%  8\+8 ranks$'
	has_line '^  ! 1 cell that only one side has is left out$'
	has_line '^  window.ops +963338  1039642 +\+7.92%  0.00027$'
	[[ $out != *one\ boot\ a\ side* ]]
}

@test "the other way round it is worse, and the gate says so" {
	run_split zonemark compare new base
	succeeds
	has_line '^1 worse$'
	has_line '  -7.34%  -7.71% … -6.97%  worse '
	for gate in 0 5 7.3; do
		run_split zonemark compare new base --gate $gate
		[ "$status" -eq 1 ]
	done
	run_split zonemark compare new base --gate
	[ "$status" -eq 1 ]
	run_split zonemark compare new base --gate --format csv
	[ "$status" -eq 1 ]
	run_split zonemark compare new base --gate 8
	succeeds
	run_split zonemark compare base new --gate 0
	succeeds
}

@test "git bisect gets 0, 1 or 125" {
	run_split zonemark compare new base --gate bisect
	[ "$status" -eq 1 ]
	run_split zonemark compare base new --gate bisect
	succeeds
	ZONEMARK_DB=$BATS_FILE_TMPDIR/small.db run_split zonemark compare 1 3 --gate bisect
	[ "$status" -eq 125 ]
	has_line '^1 not enough$'
}

# A copy of $1 in which every run of the new kernel has failed.
make_failing() {
	cp "$1" failing.db
	python3 -c '
import sqlite3
db = sqlite3.connect("failing.db")
db.execute("UPDATE run SET status = 2, reason = \"it panicked\" WHERE status = 1 AND (id - 1) % 6 IN (2, 3)")
db.commit()'
	ZONEMARK_DB=failing.db
}

@test "a kernel on which the runs fail does not pass the gate" {
	needs_command python3
	make_failing "$BATS_FILE_TMPDIR/sample.db"
	for gate in 0 50 bisect; do
		run_split zonemark compare base new --gate $gate
		[ "$status" -eq 1 ]
	done
	has_line '^no verdict: '
	has_line '^  page_fault1  0 of 16  new +16 of 16  .* not by chance$'
	run_split zonemark compare new base --gate bisect
	[ "$status" -eq 125 ]
	run_split zonemark compare base new --format junit
	has_line 'tests="1" failures="1" skipped="0"'
	has_line '<failure message="16 of 16 runs failed, before 0 of 16; not by chance '
	run_split zonemark compare base new --format markdown
	has_line '^\| page\\_fault1 \| 0 of 16 \| 16 of 16 \| .* \| not by chance \| new \|$'
	run_split zonemark compare base new --format csv
	has_line '^page_fault1,,runs.failed,%,failures,base,new,0,100,100,,,difference,worse,'
}

@test "two failed runs of two may be chance, and leave nothing to judge" {
	needs_command python3
	make_failing "$BATS_FILE_TMPDIR/small.db"
	run_split zonemark compare base new --gate 5
	fails_with 3 'compare: --gate: page_fault1: all 2 runs of new failed'
	run_split zonemark compare base new --gate bisect
	[ "$status" -eq 125 ]
	run_split zonemark compare base new --format junit
	has_line 'tests="1" failures="0" skipped="1"'
}

@test "the same against itself is the same" {
	run_split zonemark compare base 6.18.0
	succeeds
	has_line '^1 same$'
}

@test "one boot a side is said" {
	ZONEMARK_DB=$BATS_FILE_TMPDIR/small.db run_split zonemark compare base new
	succeeds
	has_line '^  ! one boot a side \(\*\): what differs between two boots of one kernel would look the same'
	has_line ' better \* .*  2\+2 welch$'
}

@test "what these runs cannot show is said, and what it would take" {
	run_split zonemark compare base new --least 7.95
	succeeds
	has_line '^1 too noisy$'
	has_line '  too noisy +0.49%  8\+8 ranks +[0-9]+$'
}

@test "the interval is of the confidence that was asked for, and says so" {
	run_split zonemark compare base new
	has_line '  95 % interval  '
	run_split zonemark compare base new --confidence 80
	has_line '  80 % interval  '
	[[ $out != *95\ %* ]]
	run_split zonemark compare base new --confidence 99.9 --format markdown
	has_line '\| 99.9 % interval \|'
	run_split zonemark compare base new --confidence 90 --format html
	has_line '>90 % interval<'
}

@test "stores, kernels and patterns are sides, too" {
	cp "$ZONEMARK_DB" copy.db
	run_split zonemark compare base ./copy.db
	succeeds
	has_line '^against  ./copy.db: 32 runs, 16 boots, Linux 6.18.0, 6.19.0-rc1$'
	run_split zonemark compare 6.18.0 '6.19*' new
	succeeds
	has_line '^2 better$'
	has_line '^  page_fault1 .* 6.19\* +103964 '
}

@test "the robot's table" {
	run_split zonemark compare base new 6.18.0 --format lkp --explain 1
	succeeds
	wanted=$(cat << 'TABLE'
=========================================================================================
mode/nr_task/test/testcase:
  process/2/page_fault1/zonemark

commit: 
  base ("Linux 6.18.0")
  new ("Linux 6.19.0-rc1")
  6.18.0 ("Linux 6.18.0")

            base                         new                      6.18.0 
---------------- --------------------------- --------------------------- 
         %stddev     %change         %stddev     %change         %stddev
             \          |                \          |                \  
     96334            +7.9%     103964            +0.0%      96334        will-it-scale.per_process_ops
    192668            +7.9%     207928            +0.0%     192668        will-it-scale.2.processes
TABLE
)
	[ "$out" = "$wanted" ] || { diff <(echo "$wanted") <(echo "$out"); return 1; }
}

@test "the robot's table is read back, and says what to run" {
	zonemark compare base new --format lkp > table.txt
	run_split zonemark reproduce --dry-run table.txt
	succeeds
	has_line 'zonemark run page_fault1 mode=process nr_task=2'
	has_line 'will-it-scale.per_process_ops, \+7\.9 % there'
	run_split zonemark reproduce --dry-run --json table.txt
	has_line '"value": 103964'
}

@test "the tables of commit messages, mmtests and benchstat" {
	run_split zonemark compare base new --format changelog
	succeeds
	has_line '^page_fault1 \(will-it-scale.per_process_ops\)$'
	has_line '^  mode=process nr_task=2$'
	has_line '^            score  lock contend%  free_high  alloc_zone  cache miss rate%$'
	has_line '^base        100.0              -          -           -                 -$'
	has_line '^new         107.9              -          -           -                 -$'
	[ "$(printf '%s\n' "$out" | awk '{ if (length($0) > n) n = length($0) } END { print n }')" -lt 75 ]
	run_split zonemark compare base new --format changelog --least 7.95
	has_line '^new: too noisy to tell from base$'
	run_split zonemark compare base new --format mmtests
	succeeds
	has_line '^Hmean     page_fault1        96332\.93 \(    0\.00%\)       103963\.27 \*    7\.92%\*$'
	run_split zonemark compare base new --format benchstat
	succeeds
	has_line '^page_fault1                    96.33k ± 0%  104.0k ± 0%  \+7.92% \(p=0.000 n=8\)$'
	run_split zonemark compare base 6.18.0 --format benchstat
	has_line '  ~ \(p=1.000 n=8\)$'
	run_split zonemark compare base new --format markdown
	has_line '^\| page\\_fault1 \| .* \| \+7.92% \| \+7.49% … \+8.35% \| better \| new \|$'
}

@test "the forms for programs are well-formed" {
	needs_command python3
	for format in json csv junit; do
		run_split zonemark compare new base --format $format --output answer.$format
		succeeds
	done
	python3 -c '
import csv, json, xml.etree.ElementTree as tree
answer = json.load(open("answer.json"))
assert answer["verdicts"]["worse"] == 1 and answer["corrected_for"] == 1
side = answer["cells"][0]["metrics"][0]["sides"][1]
assert side["runs"] == 16 and len(side["values"]) == 8
assert side["against_base"]["verdict"] == "worse" and side["against_base"]["method"] == "ranks"
assert -0.08 < side["against_base"]["change"] < -0.07
rows = list(csv.DictReader(open("answer.csv", newline="")))
assert rows[0]["verdict"] == "worse" and rows[0]["base"] == "new" and len(rows) > 4
suite = tree.parse("answer.junit").getroot()[0]
assert suite.get("failures") == "1" and suite[0][0].tag == "failure", tree.dump(suite)
'
}

@test "a page of verdicts: well-formed, and nothing of it is loaded or run" {
	needs_command python3
	run_split zonemark compare new base --format html --output page.html
	succeeds
	python3 -c '
import html.parser
class Page(html.parser.HTMLParser):
    open, cells = [], []
    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "form"), tag
        assert not {"src", "href", "style"} & set(dict(attributes)), attributes
        if tag != "meta":
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells.append(data)
page = Page()
page.feed(open("page.html", encoding="utf-8").read())
page.close()
assert not page.open
for cell in ("page_fault1", "96334", "103964", "worse", "8+8 ranks"):
    assert cell in page.cells, cell
'
}

@test "what others wrote is a side, too" {
	head='tasks,processes,processes_idle,threads,threads_idle,linear'
	printf '%s\n0,0,100,0,100,0\n2,%d,0,0,0,2\n2,%d,0,0,0,2\n2,%d,0,0,0,2\n' \
		"$head" 200000 200200 200400 > page_fault1.old.csv
	run_split zonemark compare ./page_fault1.old.csv base
	succeeds
	has_line '^base     ./page_fault1.old.csv: 3 runs, 1 boot$'
	has_line '  will-it-scale.per_process_ops  100100  '
	has_line '^  ! differs: machine: not known -> '
	mkdir -p result/0 result/1 result/2
	printf 'suite: netperf\ntestcase: netperf\nnr_threads: 1\ntest: TCP_RR\n' > result/job.yaml
	for run in 0 1 2; do
		echo "{\"netperf.Throughput_tps\": 2${run}000, \"boot-time.boot\": 1$run}" > result/$run/stats.json
	done
	run_split zonemark compare ./result ./result
	succeeds
	has_line '^base     ./result: 3 runs, 3 boots$'
	has_line '^  tcp_rr  netperf.Throughput_tps  21000 '
	echo '{"a": tcp}' > result/1/stats.json
	run_split zonemark compare ./result base
	fails_with 2 'compare: ./result/1/stats.json: line 1: '
}

@test "wrong use is said in one line" {
	run_split zonemark compare base
	fails_with 2 'a base and one to 7 others are wanted'
	run_split zonemark compare base nothing
	fails_with 2 'compare: nothing: no run has this number, name, label or kernel'
	run_split zonemark compare base new --gate much
	fails_with 2 'compare: --gate much: a percentage \(2\), or bisect, is wanted'
	run_split zonemark compare base new --format pdf
	fails_with 2 'pdf'
	run_split zonemark compare 5 6
	fails_with 2 'compare: 6 has no run that went well or failed'
	run_split zonemark compare 1 5
	fails_with 2 'no workload ran with the same parameters on 1 and another side'
}
