#!/bin/sh
# words: nothing is marked as left undone, and nothing names the machine that it was written on.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

found=$(mktemp)
trap 'rm -f "$found"' EXIT
# Classes of one letter keep these patterns from finding themselves.
undone='(^|[^X[:alnum:]])(T[O]DO|F[I]XME|X[X]X)([^X[:alnum:]]|$)'
machine='/w[o]rk/|/r[o]ot/|/h[o]me/[a-z]|\.l[i]brary|s[u]bagent|f[a]rm-[0-9a-z]|the C[E]O|th[i]s session'
sources '*' | xargs -d '\n' grep -nIE -- "$undone|$machine" > "$found"
offences_from "$found"
finish
