#!/bin/sh
# shell: the scripts are clean under shellcheck.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

command -v shellcheck > /dev/null || { echo "shellcheck is not here"; exit 77; }
# SC1091: a sourced file is checked as itself; SC2016: sh -c expands; the rest: bats files share with
# their helper.
sources '*.sh' 'quickstart' '.ci/run' | xargs shellcheck -x -e SC1091 || exit 1
sources '*.bats' '*.bash' | xargs -r shellcheck -s bats -e SC1091,SC2016,SC2154,SC2030,SC2031,SC2034,SC2317 || exit 1
finish
