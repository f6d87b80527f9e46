#!/usr/bin/env bats
# dispatch: what the program does with a line before a command sees it.
load helper

@test "--help lists every command, and each explains itself" {
	run_split zonemark --help
	succeeds
	has_line '^Usage: zonemark COMMAND'
	commands=$(printf '%s\n' "$out" | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
	[ -n "$commands" ]
	for command in $commands; do
		run_split zonemark "$command" --help
		succeeds
		has_line "^Usage: zonemark $command"
		run_split zonemark help "$command"
		succeeds
	done
}

@test "--version says name and number" {
	run_split zonemark --version
	succeeds
	[[ $out =~ ^zonemark\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "without a command, the help goes to stderr and the status is 2" {
	run_split zonemark
	[ "$status" -eq 2 ]
	[ -z "$out" ]
	[[ $err == *"Usage: zonemark"* ]]
}

@test "an unknown command suggests the nearest" {
	run_split zonemark hepl
	fails_with 2 "no command hepl; did you mean help\?"
	run_split zonemark quux
	fails_with 2 "no command quux; .zonemark --help. lists"
}

@test "an unknown switch suggests the nearest" {
	run_split zonemark help --hepl
	fails_with 2 "help has no switch --hepl; did you mean --help\?"
	run_split zonemark help -x
	fails_with 2 "help has no switch -x"
	run_split zonemark help --wholly-else=3
	fails_with 2 "help has no switch --wholly-else; .zonemark help --help. lists them"
}

@test "after -- everything is a word" {
	run_split zonemark help -- --help
	fails_with 2 "no command --help"
}

@test "a full disk behind stdout is one line and status 2" {
	[ -c /dev/full ] || skip "no /dev/full"
	run_split sh -c '"$ZONEMARK" --help > /dev/full'
	fails_with 2 "standard output: No space left on device"
}

@test "a closed stdout is one line and status 2, and no file is written into" {
	run_split sh -c '"$ZONEMARK" --help >&-'
	fails_with 2 "standard output: Bad file descriptor"
}

@test "a reader that goes away ends the program silently" {
	exec 4> >(true)
	wait $!
	run_split bash -c '"$ZONEMARK" --help >&4; exit $?'
	exec 4>&-
	[ "$status" -eq 141 ]
	[ -z "$err" ]
}

@test "closed stdin, stdout and stderr harm nothing" {
	run_split sh -c '"$ZONEMARK" help <&- 2>&-'
	succeeds
	has_line '^Usage: zonemark'
}
