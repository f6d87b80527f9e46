#!/usr/bin/env bats
# --monitor: which monitors a run reads: a list of names, the default ones, all of them, none.
load helper

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db
}

# The monitors that the newest run read, or says why not, one a line: LIST
seen_with() {
	if ! zonemark run --share --monitor "$1" null idle=0 warmup=0 drain=0 runtime=50ms > /dev/null 2> said; then
		cat said
		return 1
	fi
	# the columns behind label and kernel, which hold no comma here: record, source
	zonemark export last --format csv | tr -d '"' | cut -d, -f6,7 |
		sed -n 's/^reading,//p; s/^absent,//p' | sed 's/:.*//' | sort -u > all_seen
	zonemark list monitors --names | sort > names
	while read -r name; do
		# what is absent may be a figure of it: perf-stat.overall.…, turbostat.MHz
		if grep -Eq "^$name(\.|\$)" all_seen; then echo "$name"; fi
	done < names
}

extras() {
	zonemark list monitors --json | tr -d ' \n' | sed 's/},{/}\n{/g' |
		sed -n 's/.*"name":"\([^"]*\)".*"extra":true.*/\1/p' | sort
}

@test "a list is read, and nothing else" {
	[ "$(seen_with meminfo,proc-vmstat | tr '\n' ' ')" = "meminfo proc-vmstat " ]
	[ "$(seen_with proc-vmstat,proc-vmstat | tr '\n' ' ')" = "proc-vmstat " ]
}

@test "none is none" {
	[ -z "$(seen_with none)" ]
}

@test "the default ones are all but those that must be asked for" {
	seen_with default > usual
	extras > asked
	[ -s asked ]
	[ -z "$(comm -12 usual asked)" ]
	comm -23 names asked > expected
	diff expected usual
	run_split zonemark run --share null idle=0 warmup=0 drain=0 runtime=50ms
	succeeds
}

@test "all is every one, read or with its reason" {
	seen_with all > seen
	diff names seen
	seen_with default,pcp > some
	grep -qx pcp some
	[ "$(grep -cx perf-profile some)" -eq 0 ]
}

@test "a name that is none is refused before anything runs" {
	run_split zonemark run --share --monitor meminfo,perf-profil null
	fails_with 2 'no such monitor; did you mean perf-profile\?'
	[ ! -e "$ZONEMARK_DB" ]
}
