#!/bin/sh
# layers: no include crosses the arrows.
#
#     workloads <- faultload netload buildload results <- runner
#
# An include in quotes names the file from the source folder, and the file is there (but for what the
# build writes: *.skel.h). A file that has a header of its own includes it first.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

list=$(mktemp)
found=$(mktemp)
trap 'rm -f "$list" "$found"' EXIT
sources '*.c' '*.h' > "$list"
# shellcheck disable=SC2016 # awk's own
xargs awk -v list="$list" '
	BEGIN {
		while ((getline name < list) > 0)
			is_there[name] = 1
		may["workloads"] = " workloads "
		may["faultload"] = " workloads faultload "
		may["netload"] = " workloads netload "
		may["buildload"] = " workloads buildload "
		may["results"] = " workloads results "
		all = " workloads faultload netload buildload results runner bench "
	}
	FNR == 1 {
		room = FILENAME
		sub(/\/.*/, "", room)
		allowed = room in may ? may[room] : all
		own = FILENAME
		if (!sub(/\.c$/, ".h", own) || !(own in is_there))
			own = ""
	}
	own != "" && /^#include/ {
		if ($0 !~ "\"" own "\"")
			printf "%s: its own header %s is not the first include\n", FILENAME, own
		own = ""
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		header = $0
		sub(/^[^"]*"/, "", header)
		sub(/".*/, "", header)
		if (header ~ /\.skel\.h$/)
			next
		if (header !~ /\//) {
			printf "%s:%d: \"%s\" is not named from the source folder\n", FILENAME, FNR, header
			next
		}
		if (!(header in is_there))
			printf "%s:%d: there is no %s\n", FILENAME, FNR, header
		top = header
		sub(/\/.*/, "", top)
		if (!index(allowed, " " top " "))
			printf "%s:%d: %s may not know %s\n", FILENAME, FNR, room, header
	}
' < "$list" > "$found" || exit 2
offences_from "$found"
finish
