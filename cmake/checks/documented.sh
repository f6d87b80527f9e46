#!/bin/sh
# documented: every workload, monitor and command has its name in docs/.
#
# documented.sh SOURCE-FOLDER NAME …
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"
shift

for name; do
	grep -rqwF -- "$name" docs/ README.md || offence "docs/: nothing about $name"
done
finish
