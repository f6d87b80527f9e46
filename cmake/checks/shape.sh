#!/bin/sh
# shape: a file begins with its plan, has at most 700 lines, and no function of more than 70.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

found=$(mktemp)
trap 'rm -f "$found"' EXIT
# shellcheck disable=SC2016 # awk's own
sources '*.c' '*.h' '*.sh' '*.cmake' '*CMakeLists.txt' '*.bats' '*.bash' | xargs awk '
	function end() {
		if (lines > 700)
			printf "%s: %d lines; is it two rooms?\n", name, lines
	}
	FNR == 1 {
		end()
		name = FILENAME
		is_c = name ~ /\.c$/
		comment = name ~ /\.[ch]$/ ? "^/\\*" : "^#"
		seen = start = 0
	}
	{ lines = FNR }
	FNR == 1 && /^#!/ { next }
	!seen && NF {
		seen = 1
		if ($0 !~ comment)
			printf "%s:%d: the first comment, its plan, is not there\n", name, FNR
	}
	is_c && /^{/ { start = FNR }
	is_c && /^}$/ && start {
		if (FNR - start > 71)
			printf "%s:%d: a function of %d lines\n", name, start, FNR - start - 1
		start = 0
	}
	END { end() }
' > "$found" || exit 2
offences_from "$found"
finish
