#!/usr/bin/env bats
# record: a real build of a small tree becomes a profile.
load helper

small=$ZM_SOURCE_DIR/buildload/tests/trees/small

record() {
	run_split zonemark record kbuild "$@"
	[[ $err != *"may not be traced here"* && $err != *"cannot be filtered here"* ]] || skip "$err"
}

setup_more() {
	mkdir built
}

@test "a build's processes, as a profile" {
	record --name small -- make -C "$small" "O=$PWD/built" -j2 tinyconfig program
	succeeds
	[[ $err == *"processes in "*" programs, "*" forms of jobs, "*" stages, in small.json"* ]]
	[ -s built/program ]
	for word in '"name": *"small"' '"command": *"make -C .* -j2 tinyconfig program"' '"slots": *2' \
		'"name": *"make"' '"name": *"sh"' '"name": *"cat"'; do
		grep -Eq "$word" small.json || { cat small.json; return 1; }
	done
}

@test "whatever starts jobs: a script" {
	printf '#!/bin/sh\nls > /dev/null\nls / > /dev/null\n' > script
	record --output here.json -- sh script
	succeeds
	grep -q '"name": *"ls"' here.json
}

@test "a command that fails, or does nothing, leaves no file" {
	record -- make -C "$small" "O=$PWD/built" broken
	[ "$status" -eq 3 ]
	[[ $err == *"record: make ended with status 2; nothing is written" ]]
	record -- no-such-command-anywhere
	fails_with 2 "record: cannot start no-such-command-anywhere: No such file"
	record -- true
	fails_with 2 "record: true started nothing that could be a job of a build"
	[ -z "$(ls ./*.json 2> /dev/null)" ]
}

@test "wrong use" {
	run_split zonemark record
	fails_with 2 "record: what is recorded is a build: zonemark record kbuild -- make -j2"
	run_split zonemark record kbuild
	fails_with 2 "record kbuild: which command"
	record --output /nowhere/x.json -- sh -c "ls > /dev/null; echo ran >&2"
	fails_with 2 "/nowhere/x.json"
	[[ $err != *ran* ]]
}

@test "only a file is replaced, and that is said before the build" {
	mkfifo pipe
	record --output pipe -- sh -c "ls > /dev/null; touch began"
	fails_with 2 "pipe: cannot be written: not a file"
	[ -p pipe ] && [ ! -e began ]
}
