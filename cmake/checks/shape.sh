#!/bin/sh
# shape: a file begins with its plan, has at most 700 lines, and no function of more than 70.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

found=$(mktemp)
trap 'rm -f "$found"' EXIT
sources '*.c' '*.h' '*.sh' '*.cmake' '*CMakeLists.txt' '*.bats' '*.bash' | while IFS= read -r file; do
	awk -v file="$file" '
		NR == 1 && /^#!/ { next }
		!seen && NF {
			seen = 1
			if ($0 !~ (file ~ /\.[ch]$/ ? "^/\\*" : "^#"))
				printf "%s:%d: the first comment, its plan, is not there\n", file, NR
		}
		file ~ /\.c$/ && /^{/ { start = NR }
		file ~ /\.c$/ && /^}$/ && start {
			if (NR - start > 71)
				printf "%s:%d: a function of %d lines\n", file, start, NR - start - 1
			start = 0
		}
		END { if (NR > 700) printf "%s: %d lines; is it two rooms?\n", file, NR }
	' "$file"
done > "$found"
offences_from "$found"
finish
