#!/usr/bin/env bats
# bisect: real git, a tree of tiny commits, and a build and a boot that pretend: a commit's kernel is its file
# `speed`.
# timeout: 120
load helper

setup_more() {
	needs_command git
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db LOG=$BATS_TEST_TMPDIR/log
	export ONE_BOOT=$ZM_BINARY_DIR/tests/one_boot
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	: > "$LOG"
	cat > boot << 'END'
speed=$(cat "$ZONEMARK_KERNEL")
echo "$speed $ZONEMARK_LABEL" >> "$LOG"
[ "$speed" != panic ] || exit 3
n=$(wc -l < "$LOG")
"$ONE_BOOT" "$(awk -v n="$n" -v speed="$speed" 'BEGIN { print speed * (1 + (n * 7 % 5 - 2) * 0.002) }')"
END
	git init -q -b trunk tree
	bisect=("$ZONEMARK" bisect --source tree --build 'cp speed kernel && grep -q . kernel' --image kernel
		--boot '. ./boot' --name hunt)
}

# A commit per word: what its kernel comes to; "broken" does not build.
commits() {
	local n=0 word
	for word; do
		[ "$word" != broken ] || word=
		echo "$n" > tree/number
		printf '%s' "$word" > tree/speed
		git -C tree add -A
		git -C tree commit -q -m "change $n"
		git -C tree tag "c$n"
		n=$((n + 1))
	done
}

leaves_nothing() {
	[ "$(git -C tree worktree list | wc -l)" -eq 1 ]
	[ "$(git -C tree symbolic-ref HEAD)" = refs/heads/trunk ]
	[ -z "$(git -C tree status --porcelain)" ]
	rm -f "$XDG_CACHE_HOME"/zonemark/*.lock
	rmdir "$XDG_CACHE_HOME/zonemark"
}

is_culprit() { # TAG
	has_line "^$(git -C tree rev-parse "$1") is the first bad commit: change ${1#c}$"
}

@test "the commit that made it slower is found, and confirmed" {
	commits 100 100 100 100 100 100 100 90 90 90 90 90
	run_split "${bisect[@]}" --good c0 --bad c11 page_fault1
	succeeds
	is_culprit c7
	has_line '^page_fault1 will-it-scale.per_process_ops, 11 commits, [0-9] measured$'
	has_line ' good +4 +(100|99)[0-9.]* .*  change 0 +given$'
	has_line ' bad +4 +(90|89)[0-9.]* .* -(10|9)\..* change 11 +given$'
	has_line '^against its parent, 4 boots of each in turn: -(9|10)\.[0-9]+% \(.*\): confirmed$'
	# Few of twelve were booted.
	[ "$(grep -vc -- '-for-\|-again' "$LOG")" -le 28 ]
	leaves_nothing
}

@test "a machine that drifts leads nowhere: commits are in turn with good and bad" {
	commits 100 100 100 90 90 90
	echo 'n=$(wc -l < "$LOG"); speed=$(awk -v n="$n" -v speed="$speed" "BEGIN { print speed * (1 + n / 200) }")' > drift
	sed -i '/^n=/{r drift
d}' boot
	run_split "${bisect[@]}" --good c0 --bad c5 page_fault1
	succeeds
	is_culprit c3
}

@test "wherever it is" {
	for at in 1 5; do
		rm -rf tree store.db*
		git init -q -b trunk tree
		list=()
		for n in 0 1 2 3 4 5; do
			if [ $n -lt $at ]; then list+=(100); else list+=(105); fi
		done
		commits "${list[@]}"
		run_split "${bisect[@]}" --good c0 --bad c5 --confirm=0 page_fault1
		succeeds
		is_culprit c$at
	done
	leaves_nothing
}

@test "what does not build, and what does not boot, is skipped and said" {
	commits 100 100 100 broken panic 100 90 90 90
	run_split "${bisect[@]}" --good c0 --bad c8 page_fault1
	succeeds
	is_culprit c6
	has_line ' skipped .* change [34] +.*(ended with status 1|does not boot)'
	leaves_nothing
}

@test "when only such ones are left, they are the answer" {
	commits 100 broken broken 90
	run_split "${bisect[@]}" --good c0 --bad c3 page_fault1
	[ "$status" -eq 1 ] || explain
	has_line '^The first bad commit is one of these'
	for n in 1 2 3; do
		has_line "^  $(git -C tree rev-parse c$n)$"
	done
	leaves_nothing
}

@test "without a difference there is nothing to bisect" {
	commits 100 100 100
	run_split "${bisect[@]}" --good c0 --bad c2 --boots 6 page_fault1
	[ "$status" -eq 1 ] || explain
	has_line 'do not differ in any primary figure, with up to 6 boots of each'
	leaves_nothing
}

@test "what was measured under a name counts the next time" {
	commits 100 100 90 90
	echo '[ "$(wc -l < "$LOG")" -ne 14 ] || kill -9 $PPID' >> boot
	run_split "${bisect[@]}" --good c0 --bad c3 page_fault1
	[ "$status" -ne 0 ]
	run_split "${bisect[@]}" --good c0 --bad c3 page_fault1
	succeeds
	is_culprit c2
	# Each commit four times; with each step the good and the bad one, and the culprit and its parent once more.
	[ "$(grep -vc -- '-for-\|-again' "$LOG")" -eq 16 ] || { cat "$LOG"; return 1; }
	[ "$(grep -c -- -for- "$LOG")" -eq 16 ]
	[ "$(grep -c again "$LOG")" -eq 8 ]
	leaves_nothing
}

@test "a working tree of one's own stays" {
	commits 100 90
	run_split "${bisect[@]}" --good c0 --bad c1 --work mine page_fault1
	succeeds
	[ -e mine/kernel ]
	run_split "${bisect[@]}" --good c0 --bad c1 --work mine page_fault1
	succeeds
	is_culprit c1
	git -C tree worktree remove --force "$PWD/mine"
}

@test "what cannot work is said at once" {
	commits 100 90
	run_split zonemark bisect --source tree page_fault1
	fails_with 2 'between which commits'
	run_split zonemark bisect --good c0 --bad c1 page_fault1
	fails_with 2 'of which repository'
	run_split zonemark bisect --good c0 --bad c1 --source tree
	fails_with 2 'what shall be measured'
	run_split zonemark bisect --good c0 --bad c1 --source tree nosuch
	fails_with 2 'bisect: nosuch: no such workload or matrix'
	run_split zonemark bisect --good c0 --bad c1 --source nowhere page_fault1
	fails_with 2 '--source nowhere: No such file'
	run_split "${bisect[@]}" --good c0 --bad c9 page_fault1
	fails_with 2 'there is no commit c9'
	mkdir bare
	GIT_CEILING_DIRECTORIES=$PWD run_split zonemark bisect --good c0 --bad c1 --source bare page_fault1
	fails_with 2 'not a git repository'
	run_split "${bisect[@]}" --good c1 --bad c0 page_fault1
	fails_with 2 'c1 comes not before c0'
	run_split zonemark bisect --good c0 --bad c1 --source tree --image kernel --build 'false' page_fault1
	[ "$status" -eq 3 ] || explain
	[[ $err == *"the good commit "*" does not build"* ]] || explain
	leaves_nothing
}
