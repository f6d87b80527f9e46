#!/bin/sh
# guards: every header is guarded by a name made of its path: ZM_RUNNER_CMD_H.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

found=$(mktemp)
trap 'rm -f "$found"' EXIT
# shellcheck disable=SC2016 # awk's own
sources '*.h' | xargs awk '
	function end() {
		if (name != "" && !is_guarded)
			printf "%s: is not guarded by %s\n", name, guard
	}
	FNR == 1 {
		end()
		name = FILENAME
		guard = "ZM_" toupper(name)
		gsub(/[\/.-]/, "_", guard)
		nr = is_guarded = 0
	}
	/^#/ && ++nr == 1 { is_first = $0 == "#ifndef " guard }
	/^#/ && nr == 2 { is_guarded = is_first && $0 == "#define " guard }
	END { end() }
' > "$found" || exit 2
offences_from "$found"
finish
