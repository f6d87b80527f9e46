#!/usr/bin/env bats
# documented: the catalogue, what it runs, and both side by side.
# timeout: 180
load helper

short=(--runtime 0.2s --share)

@test "the list has every document, with what cannot run here" {
	needs_command python3
	run_split zonemark list documented
	succeeds
	has_line '^  bulk-free/ladder +page_fault1, 2 to 320 processes'
	has_line 'from: mm: PCP high auto-tuning, v3, cover letter'
	run_split zonemark list documented --json
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
documents = {d["name"]: d for d in json.load(sys.stdin)["documented"]}
assert len(documents) >= 13, documents.keys()
assert documents["pcp-v3/batch-latency"]["tables"] == 5
assert documents["bulk-free/ladder"]["figures"] == 32
assert sum(d["figures"] for d in documents.values()) > 3800
for document in documents.values():
    assert document["source"] and ("runs_here" in document), document
'
	[ "$(zonemark list documented --names | wc -l)" -ge 13 ]
}

@test "a dry run says what it would run, scaled to this machine" {
	run_split zonemark reproduce pcp-v3/lkp-page_fault2 --dry-run
	succeeds
	has_line 'zonemark run page_fault2 '
	has_line 'ba6149e960 \("mm: tune PCP high automatically"\)'
	has_line 'will-it-scale.per_process_ops \+8\.4 % \(improvement\)'
	run_split zonemark reproduce bulk-free/ladder --dry-run
	succeeds
	has_line 'zonemark run page_fault1 .*nr_task=1'
	run_split zonemark reproduce bulk-free/ladder --dry-run --as-reported
	has_line 'nr_task=2,5,8,12,21,30,48,79,110,141,172,203,234,265,296,320'
}

@test "it runs, and both stand in the robot's form" {
	run_split zonemark reproduce pcp-v3/lkp-page_fault2 "${short[@]}" --monitor none
	succeeds
	has_line '^pcp-v3/lkp-page_fault2: page_fault2, 16 processes$'
	has_line '^  there   Cooper Lake, 4 sockets, 224 CPUs$'
	has_line '^ +307105 +\+8\.4% +332876 +.*[0-9] +will-it-scale.per_process_ops$'
	has_line "^  $(uname -r) \(\"measured here\"\)$"
}

@test "two kernels: the shape of every figure, in the document's own columns" {
	needs_command python3
	for label in old new; do
		zonemark reproduce pcp-v3/unix "${short[@]}" --monitor none --label $label > one.txt 2> log.txt
	done
	grep -Eq '^  documented  base +100\.0 +51\.4 ' one.txt
	grep -Eq "^  measured    $(uname -r) +100\.0 +- " one.txt
	grep -Eq 'score: 100.0 here is [0-9.]+ MB/s(ec)? \(lmbench3.UNIX.bandwidth.MB/sec\)' one.txt
	grep -q 'lock contend%: not measured here' one.txt
	run_split zonemark reproduce pcp-v3/unix --runtime 0.2s --measured base=old,patch3=new
	succeeds
	has_line '^  measured    old +100\.0 '
	has_line 'score +new against old +\+99\.1% +[+-][0-9.]+%'
	run_split zonemark reproduce pcp-v3/unix --runtime 0.2s --measured old,new --json
	succeeds
	printf '%s\n' "$out" | python3 -c '
import json, sys
view, = json.load(sys.stdin)["measured"]
assert [m["stands_for"] for m in view["measured"]] == ["base", "patch9"], view
line = view["shape"][0]
assert line["figure"] == "score" and abs(line["documented%"] - 93.4) < 1e-6, line
'
}

@test "what is asked for wrongly is one line" {
	while IFS='|' read -r words pattern; do
		# shellcheck disable=SC2086
		run_split zonemark reproduce $words
		fails_with 2 "$pattern"
	done <<- END
		pcp-v3/unx|did you mean pcp-v3/unix
		pcp-v3/unix --measured old,new|there is no store yet
		pcp-v3/unix --measured base=|an empty name
		pcp-v3/unix --record 2|--record 2: there are 1
	END
}

@test "a workload that is not here is named, with status 77" {
	zonemark list workloads --names > names.txt
	! grep -qx kbuild names.txt || skip "kbuild is there"
	run_split zonemark reproduce pcp-v3/kbuild
	fails_with 77 'kbuild: kbuild.s kbuild is not among zonemark.s workloads'
	has_line 'nr_instances=8'
}
