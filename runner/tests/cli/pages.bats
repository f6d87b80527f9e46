#!/usr/bin/env bats
# pages: the man page and the completion that the program writes about itself.
load helper

@test "the man page has every command, switch and workload, and no roff warning" {
	zonemark help --as man > zonemark.1
	for name in $(zonemark list workloads --names); do
		grep -qx "\.SS $name" zonemark.1
	done
	commands=$(zonemark help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
	for command in $commands; do
		grep -Eq "^\.SS $command" zonemark.1
	done
	needs_command man groff
	run_split env MANWIDTH=80 man --warnings -E UTF-8 -l zonemark.1
	succeeds
	[ -z "$err" ] || explain
	has_line '^EXIT STATUS'
}

# What bash would offer for a line, the cursor at its end.
offers() {
	bash -c '
		compopt() { :; }
		source completion
		COMP_LINE=$1 COMP_POINT=${#1}
		_zonemark
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$1" | sort
}

@test "the completion offers commands, switches, workloads, options and choices" {
	zonemark help --as bash > completion
	bash -n completion
	offers "zonemark l" | grep -qx list
	offers "zonemark list --j" | grep -qx -- --json
	offers "zonemark list page_fault" | grep -qx page_fault1
	offers "zonemark help --as " | tr '\n' ' ' | grep -qx 'bash man text '
	[ "$(offers 'zonemark help li')" = list ]
}

@test "the completion offers what run takes" {
	zonemark help run > /dev/null 2>&1 || skip "no command run"
	zonemark help --as bash > completion
	offers "zonemark run " | grep -qx quick
	offers "zonemark run page_f" | grep -qx page_fault2
	offers "zonemark run page_fault1 " | grep -q '=$'
	offers "zonemark run page_fault1 thp_en" | grep -qx thp_enabled=
	offers "zonemark qualify server" | tr '\n' ' ' | grep -qx 'server-1s server-2s server-4s '
	touch some.db
	offers "zonemark run page_fault1 --db so" | grep -qx some.db
}
