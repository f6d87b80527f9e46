#!/bin/sh
# guards: every header is guarded by a name made of its path: ZM_RUNNER_CMD_H.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

for file in $(sources '*.h'); do
	guard=ZM_$(printf '%s' "$file" | tr 'a-z/.-' 'A-Z___')
	first=$(grep -m1 -E '^#' "$file")
	second=$(grep -E '^#' "$file" | sed -n 2p)
	if [ "$first" != "#ifndef $guard" ] || [ "$second" != "#define $guard" ]; then
		offence "$file: is not guarded by $guard"
	fi
done
finish
