# shellcheck shell=sh
# files: what the checks share; sourced with the source folder as $1.
#
#     sources [PATTERN …]   the project's own files, one a line (git's list, or what lies there)
#     offence TEXT          prints it, and the check will fail
#     finish                ends the check: 0 or 1
#
# Each check prints one line per offence, "file:line: what is wrong", and nothing when all is well.
set -u
LC_ALL=C
export LC_ALL
cd "${1:?the source folder}" || exit 2
offences=0

sources() {
	if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
		# What was deleted but not yet committed is still on git's list.
		git ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r file; do
			[ -f "$file" ] && printf '%s\n' "$file"
		done
	else
		for pattern; do
			find . -path ./build -prune -o -type f -path "./$pattern" -print | sed 's|^\./||'
		done
	fi | sort -u
}

offence() {
	printf '%s\n' "$1"
	offences=$((offences + 1))
}

# One offence per line of a file: what a pipe's end counts is lost with its subshell.
offences_from() {
	while IFS= read -r line; do
		offence "$line"
	done < "$1"
}

finish() {
	[ "$offences" -eq 0 ] || { printf '%s offences\n' "$offences"; exit 1; }
	exit 0
}
