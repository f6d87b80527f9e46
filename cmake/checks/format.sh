#!/bin/sh
# format: the sources are as clang-format 14 writes them; other versions write differently.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

for clang_format in clang-format-14 clang-format; do
	if "$clang_format" --version 2> /dev/null | grep -q 'version 14\.'; then
		sources '*.c' '*.h' | xargs "$clang_format" --dry-run --Werror 2>&1 | grep ': error:' &&
			exit 1
		exit 0
	fi
done
echo "clang-format 14 is not here"
exit 77
