#!/bin/sh
# self: each check finds what it is there for, in a small tree with one offence of each kind, and
# finds nothing in a good one.
set -u
checks=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

reset() {
	rm -rf "${tree:?}"/*
	mkdir -p "$tree/workloads" "$tree/results" "$tree/runner" "$tree/docs"
	printf '/* a: a plan. */\n#ifndef ZM_WORKLOADS_A_H\n#define ZM_WORKLOADS_A_H\n#endif\n' > "$tree/workloads/a.h"
	printf '/* a: a plan. */\n#include "workloads/a.h"\n' > "$tree/workloads/a.c"
	printf '/* b: a plan. */\n#include "workloads/a.h"\n' > "$tree/results/b.c"
	cp "$checks/../../.clang-format" "$tree" 2> /dev/null || true
}

finds() { # CHECK PATTERN: in its output, with status 1
	check=$1
	pattern=$2
	shift 2
	said=$(GIT_CEILING_DIRECTORIES=${tree%/*} sh "$checks/$check.sh" "$tree" "$@" 2>&1)
	status=$?
	[ "$status" -eq 77 ] && return
	if [ "$status" -ne 1 ] || ! printf '%s\n' "$said" | grep -q -- "$pattern"; then
		printf '%s does not find "%s" (status %s): %s\n' "$check" "$pattern" "$status" "$said"
		failed=1
	fi
	reset
}

passes() { # CHECK [ARG …]
	check=$1
	shift
	said=$(GIT_CEILING_DIRECTORIES=${tree%/*} sh "$checks/$check.sh" "$tree" "$@" 2>&1) ||
		[ $? -eq 77 ] || { printf '%s finds something in a good tree: %s\n' "$check" "$said"; failed=1; }
}

reset
for check in layers guards format banned words shape; do
	passes "$check"
done

echo '#include "runner/cmd.h"' >> "$tree/results/b.c"
: > "$tree/runner/cmd.h"
finds layers 'b.c:3: results may not know runner/cmd.h'
echo '#include "a.h"' >> "$tree/results/b.c"
finds layers 'b.c:3: "a.h" is not named'
echo '#include "workloads/none.h"' >> "$tree/results/b.c"
finds layers 'b.c:3: there is no workloads/none.h'
printf '/* a: a plan. */\n#include <stdio.h>\n#include "workloads/a.h"\n' > "$tree/workloads/a.c"
finds layers 'a.c: its own header'
printf '/* a: a plan. */\n#ifndef A_H\n#define A_H\n#endif\n' > "$tree/workloads/a.h"
finds guards 'a.h: is not guarded by ZM_WORKLOADS_A_H'
printf 'int  a ;\n' >> "$tree/workloads/a.c"
finds format 'a.c:3'
printf 'void f(char *p)\n{\n\tstrcpy(p, "x");\n}\n' >> "$tree/workloads/a.c"
finds banned 'a.c:5:.*snprintf'
printf 'void f(int n)\n{\n\tassert(n++ > 0);\n}\n' >> "$tree/workloads/a.c"
finds banned 'a.c:5:.*side effects'
printf '/* T%s: more */\n' 'ODO' >> "$tree/workloads/a.c"
finds words 'a.c:3'
printf '/* see %s */\n' "/wo""rk/main" >> "$tree/workloads/a.c"
finds words 'a.c:3'
printf 'int a;\n' > "$tree/workloads/a.c"
finds shape 'a.c:1: the first comment'
awk 'BEGIN { print "/* a */\nvoid f(void)\n{"; for (i = 0; i < 80; i++) print "\tg();"; print "}" }' > "$tree/workloads/a.c"
finds shape 'a function of 80 lines'
awk 'BEGIN { print "/* a */"; for (i = 0; i < 700; i++) print "" }' > "$tree/workloads/a.c"
finds shape 'a.c: 701 lines'
echo 'page_fault1 is a word here' > "$tree/docs/x.md"
passes documented page_fault1
echo 'page_fault11 is a word here' > "$tree/docs/x.md"
finds documented 'nothing about page_fault1' page_fault1
exit "$failed"
