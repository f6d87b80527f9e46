#!/bin/sh
# symbols: what the rooms' libraries export and take.
#
#     - exported names carry the prefix: zm_, or the build's own wl_, mon_ and cmd_
#     - no mutable variable is exported
#     - no name is defined in two of them
#     - no library takes from one that it may not know (zm_report_add and _fail are the contract's calls upwards)
#
# symbols.sh SOURCE-FOLDER LIBRARY …   (libzm_ROOM.a)
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"
shift

found=$(mktemp)
trap 'rm -f "$found" "$found".*' EXIT

room_of() {
	basename "$1" .a | sed 's/^libzm_//'
}

for library; do
	room=$(room_of "$library")
	nm -f sysv --defined-only "$library" 2> /dev/null | awk -F '|' -v room="$room" '
		NF >= 7 {
			name = $1; class = $3; section = $7
			gsub(/ /, "", name); gsub(/ /, "", class); gsub(/ /, "", section)
			if (class !~ /^[A-Z]$/ || class == "U") next
			if (name !~ /^(zm_|wl_|mon_|cmd_)/)
				printf "%s exports %s without a prefix\n", room, name
			if (section ~ /^\.(data|bss)/ && section !~ /^\.data\.rel\.ro/)
				printf "%s exports the mutable variable %s\n", room, name
		}' >> "$found"
	nm --defined-only --extern-only "$library" 2> /dev/null | awk 'NF == 3 { print $3 }' |
		sort -u > "$found.$room.has"
	nm --undefined-only "$library" 2> /dev/null | awk 'NF == 2 { print $2 }' |
		sort -u > "$found.$room.takes"
done

for library; do
	room=$(room_of "$library")
	for other; do
		other=$(room_of "$other")
		case $room:$other in
		"$other:$room" | runner:* | *:workloads) continue ;;
		esac
		comm -12 "$found.$room.takes" "$found.$other.has" | grep -vxE 'zm_report_(add|fail)' |
			sed "s/.*/$room takes & from $other/" >> "$found"
	done
done
cat "$found".*.has | sort | uniq -d | sed 's/$/ is defined in two libraries/' >> "$found"
offences_from "$found"
finish
