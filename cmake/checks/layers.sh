#!/bin/sh
# layers: no include crosses the arrows.
#
#     workloads <- faultload netload buildload results <- runner
#
# An include in quotes names the file from the source folder, and the file is there (but for what the
# build writes: *.skel.h). A file that has a header of its own includes it first.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

may_know() { # ROOM: the rooms it may include from
	case $1 in
	workloads) echo "workloads" ;;
	faultload | netload | buildload | results) echo "workloads $1" ;;
	*) echo "workloads faultload netload buildload results runner bench" ;;
	esac
}

found=$(mktemp)
trap 'rm -f "$found"' EXIT
sources '*.c' '*.h' | while IFS= read -r file; do
	room=${file%%/*}
	allowed=" $(may_know "$room") "
	grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" |
		sed 's/^\([0-9]*\):.*"\(.*\)".*/\1 \2/' | while read -r line header; do
		case $header in
		*.skel.h) continue ;;
		*/*) ;;
		*) echo "$file:$line: \"$header\" is not named from the source folder"; continue ;;
		esac
		[ -f "$header" ] || echo "$file:$line: there is no $header"
		case $allowed in
		*" ${header%%/*} "*) ;;
		*) echo "$file:$line: $room may not know $header" ;;
		esac
	done
	own=${file%.c}.h
	if [ "$own" != "$file" ] && [ -f "$own" ]; then
		first=$(grep -m1 -E '^#include' "$file" | sed 's/.*"\(.*\)".*/\1/')
		[ "$first" = "$own" ] || echo "$file: its own header $own is not the first include"
	fi
done > "$found"
offences_from "$found"
finish
