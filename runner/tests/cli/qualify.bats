#!/usr/bin/env bats
# qualify: a profile of one's own that takes seconds; its bundle, its verdicts, what is refused.
# labels: cli
# timeout: 120
load helper

setup_more() {
	"$ZONEMARK" verify /nonexistent 2>&1 | grep -q 'without libarchive' && skip "built without libarchive"
	cat > p.yaml <<- 'END'
		summary: for the tests
		repeat: 3
		options: {idle: 0.1s, warmup: 0s, drain: 0.1s, runtime: 0.2s}
		runs:
		- "null": {mode: process, nr_task: 1}
		criteria:
		- throughput: "null"
		  least: 1
		- machine: cpus
		  least: 1
		- time: all
		  most: 1h
	END
}

@test "a machine that passes: verdicts, bundle, key, runs kept" {
	run_split zonemark qualify --share ./p.yaml -o q.tar --pdf none --key k.pem
	succeeds
	has_line '^verdict  *criterion  *value  *limits  *why$'
	has_line '^pass +runs all .* all 3 launches went well'
	has_line '^pass +throughput null .* at least 1 '
	has_line '^\./p\.yaml: pass$'
	[[ $err == *'a new key: k.pem; who checks its bundles needs k.pem.pub'* ]] || explain
	[ "$(stat -c %a k.pem)" = 600 ]
	[ ! -e q.tar.work ]
	run_split zonemark verify q.tar --pubkey k.pem.pub
	succeeds
	has_line '^verdict     pass, by the profile ./p.yaml, on [0-9a-f]{16} '
	needs_command tar
	tar xf q.tar
	for name in qualification.json summary.txt report.html inventory.json counters.json profile.yaml store.db; do
		[ -s bundle/$name ] || { echo "no $name"; return 1; }
	done
	cmp p.yaml bundle/profile.yaml
	[ ! -e bundle/report.pdf ]
	grep -q '"no_pdf": "it was not asked for' bundle/qualification.json
	run_split zonemark runs --db bundle/store.db
	succeeds
	[ "$(zonemark runs --json | grep -c '"uuid"')" -eq 3 ] || { zonemark runs; return 1; }
}

@test "what fails and what cannot be told: exit status 1, and why" {
	sed -i 's/least: 1$/least: 1e300/' p.yaml
	cat >> p.yaml <<- 'END'
		- symmetry: "null"
		  of: sockets
		  where: {sockets: 1000}
		  most: 5%
		- payload: all
	END
	sed -i 's/^- machine: cpus/- machine: sockets/; s/least: 1e300$/least: 1/2' p.yaml
	sed -i '/machine: sockets/{n;s/.*/  least: 1/}' p.yaml
	run_split zonemark qualify --share ./p.yaml -o q.tar --pdf none --key k.pem
	[ "$status" -eq 1 ] || explain
	has_line '^(fail|inconclusive) +throughput null .* too low(, but [0-9] of its launches were disturbed .*)?$'
	has_line '^inconclusive +payload all .* none of its runs verifies what it carries'
	has_line '^not for it +symmetry null of=sockets .* it is for 1000 sockets or more$'
	has_line '^\./p\.yaml: (fail|inconclusive)$'
	run_split zonemark verify q.tar
	succeeds
	has_line '^verdict     (fail|inconclusive), '
}

@test "another machine than the profile is for: nothing runs" {
	sed -i '/machine: cpus/{n;s/.*/  least: 1000000/}' p.yaml
	run_split zonemark qualify --share ./p.yaml -o q.tar --pdf none --key k.pem --json
	[ "$status" -eq 1 ] || explain
	needs_command python3
	printf '%s' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
verdicts = {c["criterion"]: c for c in answer["criteria"]}
assert answer["verdict"] == "fail" and verdicts["machine cpus"]["verdict"] == "fail"
for name in ("runs all", "throughput null", "time all"):
	assert verdicts[name]["verdict"] == "inconclusive" and "not the machine" in verdicts[name]["why"]
'
}

@test "what is wrong is said before anything runs" {
	run_split zonemark qualify
	fails_with 2 'one profile is wanted: quick'
	run_split zonemark qualify quik
	fails_with 2 'qualify: quik: no such profile; did you mean quick'
	sed -i 's/^- throughput: "null"/- throughput: nul/' p.yaml
	run_split zonemark qualify ./p.yaml
	fails_with 2 './p.yaml:7: nul: no such workload; did you mean null?'
	sed -i 's/^- throughput: nul$/- throughput: page_fault1/' p.yaml
	run_split zonemark qualify ./p.yaml -o q.tar
	fails_with 2 './p.yaml:7: throughput page_fault1: none of the runs is such'
	sed -i 's/^- throughput: .*/- throughput: "null"/; s/nr_task: 1}/nr_tsk: 1}/' p.yaml
	run_split zonemark qualify ./p.yaml -o q.tar
	fails_with 2 './p.yaml:5: nr_tsk: no such option; did you mean nr_task'
	sed -i 's/nr_tsk/nr_task/' p.yaml
	echo text > k.pem
	chmod 600 k.pem
	run_split zonemark qualify ./p.yaml --key k.pem -o q.tar
	fails_with 2 'k.pem: no private Ed25519 key'
	chmod 644 k.pem
	run_split zonemark qualify ./p.yaml --key k.pem -o q.tar
	fails_with 2 'chmod 600'
	run_split zonemark qualify ./p.yaml -o /nonexistent/q.tar
	fails_with 2 '/nonexistent/q.tar: cannot be written'
	mkdir q.tar.work
	run_split zonemark qualify ./p.yaml -o q.tar
	fails_with 2 'q.tar.work: an earlier qualification that did not end left it'
	[ -d q.tar.work ]
	printf 'profile: x\nmodel: another\nof: machines\nbands:\n- {criterion: a, least: 1, most: 2, median: 1, number: 2}\n' > b.yaml
	run_split zonemark qualify ./p.yaml --bands b.yaml -o r.tar
	fails_with 2 "bands of 'another', and this machine is"
	[ ! -e q.tar ] && [ ! -e r.tar ] && [ ! -e r.tar.work ]
}

@test "bands are learned from stores and bundles, and judge" {
	run_split zonemark qualify --share ./p.yaml -o q.tar --pdf none --key k.pem
	succeeds
	run_split zonemark qualify --learn ./p.yaml q.tar
	fails_with 2 'one boot has of this profile.s runs: bands are learned from two machines'
	run_split zonemark qualify --learn ./p.yaml
	fails_with 2 'from what\? give a profile, and stores or bundles'
	run_split zonemark qualify --learn ./p.yaml p.yaml
	fails_with 2 'p.yaml: neither a store nor a whole bundle'
	needs_command python3 tar
	tar xf q.tar
	# The same runs as if of four machines, each a little quicker than the one before.
	for i in 1 2 3 4; do
		cp bundle/store.db $i.db
		python3 - $i.db $i <<- 'END'
			import sqlite3, sys
			store = sqlite3.connect(sys.argv[1])
			number = int(sys.argv[2])
			store.execute("UPDATE machine SET key = ?", ("good%d" % number,))
			store.execute("UPDATE result SET value = ? WHERE is_primary <> 0", (1000 + number,))
			store.commit()
		END
	done
	run_split zonemark qualify --learn ./p.yaml 1.db 2.db 3.db 4.db -o b.yaml
	succeeds
	[[ $err == *' bands of '*', from 4 machines'* ]] || explain
	grep -q '^- criterion: "throughput null"$' b.yaml
	grep -q '^  number: 4$' b.yaml
	run_split zonemark qualify --share ./p.yaml --bands b.yaml -o r.tar --pdf none --key k.pem
	[ "$status" -eq 1 ] || explain
	has_line '^(fail|inconclusive) +throughput null .* too high'
	tar tf r.tar | grep -qx bundle/bands.yaml
}

@test "a signal ends it: no bundle, the runs are kept" {
	sed -i 's/runtime: 0.2s/runtime: 30s/' p.yaml
	"$ZONEMARK" qualify --share ./p.yaml -o q.tar --pdf none --key k.pem > out 2> err 3>&- &
	pid=$!
	for _ in $(seq 100); do
		[ -s q.tar.work/store.db-wal ] && break
		sleep 0.1
	done
	sleep 0.5
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 143 ]
	grep -q 'ended by a signal; no bundle was made' err
	[ ! -e q.tar ] && [ ! -e q.tar.work ]
}

@test "the PDF by whatever program is here; without one, or when it fails, why there is none" {
	needs_command tar timeout
	sed -i 's/^repeat: 3/repeat: 1/' p.yaml
	mkdir bin
	for name in timeout sh cat; do
		ln -s "$(command -v $name)" bin/$name
	done
	PATH=$PWD/bin run_split "$ZONEMARK" qualify --share ./p.yaml -o none.tar --key k.pem
	succeeds
	[[ $err == *'no PDF: neither chromium nor LibreOffice is here to make it; install chromium'* ]] || explain
	cat > bin/chromium <<- 'END'
		#!/bin/sh
		for word; do
			case $word in
			--print-to-pdf=*) printf '%%PDF-1.4 made up\n' > "${word#*=}" ;;
			file://*/report.html) cat "${word#file://}" > /dev/null || exit 3 ;;
			esac
		done
	END
	chmod 755 bin/chromium
	PATH=$PWD/bin run_split "$ZONEMARK" qualify --share ./p.yaml -o made.tar --key k.pem
	succeeds
	[ "$(tar xOf made.tar bundle/report.pdf)" = '%PDF-1.4 made up' ]
	printf '#!/bin/sh\necho "it has no head" >&2\nexit 5\n' > bin/chromium
	PATH=$PWD/bin run_split "$ZONEMARK" qualify --share ./p.yaml -o failed.tar --key k.pem
	succeeds
	[[ $err == *'no PDF: chromium: timeout ended with status 5: it has no head'* ]] || explain
	tar xOf failed.tar bundle/qualification.json | grep -q '"no_pdf": "chromium: timeout ended with status 5'
}
