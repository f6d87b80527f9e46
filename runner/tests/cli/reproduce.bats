#!/usr/bin/env bats
# reproduce: from a mail to what was understood, to runs, to both side by side.
# timeout: 120
load helper

setup_more() {
	cat > mail.txt << 'END'
Subject: [mm] 70a64b7919: will-it-scale.per_process_ops -10.0% regression

kernel test robot noticed a -10.0% regression of will-it-scale.per_process_ops on:

commit: 70a64b7919cbd6c12306051ff2825839a9d65605 ("mm: make it slower")

testcase: will-it-scale
test machine: 8 threads 2 sockets (Some Lake) with 64G memory
parameters:

	nr_task: 1
	mode: process
	test: page_fault1
	foo: bar

=========================================================================================
foo/mode/nr_task/test/testcase/ucode:
  bar/process/1/page_fault1/will-it-scale/0x21

commit: 
  59142d87ab ("mm: base")
  70a64b7919 ("mm: make it slower")

59142d87ab03b8ff 70a64b7919cbd6c12306051ff28 
---------------- --------------------------- 
         %stddev     %change         %stddev
             \          |                \  
      1000 ±  5%     -10.0%        900        will-it-scale.per_process_ops
      1000           -10.0%        900        will-it-scale.1.processes
      5.00            +1.0        6.00        mpstat.cpu.all.sys%
END
	printf 'testcase: stress-ng\nparameters:\n\n\ttest: shm\n\tnr_threads: 100%%\n' > other.txt
}

short=(--runtime 0.2s --share)

@test "a dry run says what was understood, and runs nothing" {
	run_split zonemark reproduce --dry-run mail.txt
	succeeds
	has_line 'zonemark run page_fault1 mode=process nr_task=1 runtime=295s'
	has_line 'will-it-scale.per_process_ops -10.0 % \(regression\)'
	has_line 'left out: foo=bar'
	has_line 'CPUs +8 '
	has_line 'microcode +0x21 '
	has_line '59142d87ab \("mm: base"\)'
	[ ! -e "$XDG_DATA_HOME/zonemark/zonemark.db" ]
}

@test "the understanding as data: one record per table, with every figure" {
	needs_command python3
	run_split zonemark reproduce --dry-run --json - < mail.txt
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
record, = answer["records"]
assert record["kind"] == "table" and record["testcase"] == "will-it-scale", record
assert record["params"] == {"foo": "bar", "mode": "process", "nr_task": "1", "test": "page_fault1"}
assert record["environment"] == {"ucode": "0x21"}
assert record["machine"]["cpus"] == 8 and record["machine"]["memory_bytes"] == 64 << 30
assert record["claim"] == {"metric": "will-it-scale.per_process_ops", "percent": -10.0,
                           "change%": -10.0, "verdict": "regression"}, record["claim"]
assert [commit["name"] for commit in record["commits"]] == ["59142d87ab", "70a64b7919"]
rows = {row["metric"]: row["columns"] for row in record["rows"]}
assert rows["will-it-scale.per_process_ops"] == [{"value": 1000.0, "stddev%": 5.0},
    {"value": 900.0, "stddev%": None, "change%": -10.0}], rows
assert rows["mpstat.cpu.all.sys%"][1]["change"] == 1.0
assert record["here"]["workload"] == "page_fault1"
assert record["here"]["words"][0] == "page_fault1"
'
}

@test "it runs, and the mail's table has this machine's column" {
	run_split zonemark reproduce "${short[@]}" --repeat 2 mail.txt
	succeeds
	has_line '0\.2s|200ms are measured instead of the 295s there'
	has_line '^ +1000 ± +5% +-10\.0% +900\.00 .* will-it-scale.per_process_ops$'
	has_line "\"this machine: page_fault1 mode=process nr_task=1\""
	run_split zonemark runs --json
	succeeds
	[ "$(printf '%s\n' "$out" | grep -Ec '"workload": ?"page_fault1"')" -eq 2 ]
}

@test "a ladder in mmtests' form: this machine's means stand in its rows" {
	cat > ladder.txt <<- 'END'
		2-socket Some Lake (40 cores, 80 CPUs HT enabled)
		                                             vanilla                  patched
		Hmean     page_fault1-processes-2   2694662.26 (   0.00%)   2695780.35 (   0.04%)
		Hmean     page_fault1-processes-5   6425819.34 (   0.00%)   6435544.57 *   0.15%*
	END
	run_split zonemark reproduce "${short[@]}" --cpus 0 --monitor none ladder.txt
	succeeds
	has_line 'zonemark run page_fault1 mode=process nr_task=1 '
	has_line '^Hmean page_fault1-processes-2 +2694662\.26 \( +0\.00%\) +2695780\.35 \( +0\.04%\) +[0-9.]+ \( +0\.00%\)$'
	has_line '^Hmean page_fault1-processes-5 .* 6435544\.57 \* +0\.15%\* +[0-9.]+ \( +0\.00%\)$'
}

@test "what it prints is a report again" {
	zonemark reproduce "${short[@]}" mail.txt > answer.txt 2> /dev/null
	sed -n '/^====/,$p' answer.txt > again.txt
	run_split zonemark reproduce --dry-run --json again.txt
	succeeds
	has_line '"name": "59142d87ab"'
	has_line "\"name\": \"$(uname -r)\""
	has_line '"value": 900'
}

@test "the figures measured here come as data, too" {
	needs_command python3
	run_split zonemark reproduce "${short[@]}" --json mail.txt
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
measured, = json.load(sys.stdin)["measured"]
assert measured["launches"] == 1
assert any(figure["metric"] == "will-it-scale.per_process_ops" and figure["mean"] > 0
           for figure in measured["figures"]), measured
'
}

@test "a workload that is not here is named, with status 77" {
	run_split zonemark reproduce other.txt
	fails_with 77 'stress-ng shm: zonemark has none of stress-ng'
	has_line 'test=shm nr_threads=100%'
}

@test "what is no report, or cannot be read, is one line and status 2" {
	run_split zonemark reproduce - < /dev/null
	fails_with 2 'standard input: this is no robot.s report'
	run_split zonemark reproduce /dev/null
	fails_with 2 '/dev/null: this is no robot'
	run_split zonemark reproduce nowhere.txt
	fails_with 2 'nowhere.txt: No such file'
	run_split zonemark reproduce .
	fails_with 2 '\.: Is a directory'
	run_split zonemark reproduce
	fails_with 2 'one report is read at a time'
	run_split zonemark reproduce --record 2 mail.txt
	fails_with 2 'there are 1'
	head -c 34000000 /dev/zero > large.txt
	run_split zonemark reproduce large.txt
	fails_with 2 'larger than 32 MiB'
}

@test "nothing in a mail is executed, and nothing reaches the terminal raw" {
	printf 'testcase: will-it-scale\nparameters:\n\n\ttest: $(touch made)\n\tmode: \033[31m`touch made`\n' > evil.txt
	run_split zonemark reproduce evil.txt
	[ "$status" -eq 77 ]
	[ ! -e made ]
	[[ $out != *$'\033'* ]]
	[[ $err != *$'\033'* ]]
}
