# server: what a script of push.bats begins with; run by with_server, which is $PPID. $1 is the script.
URL=$ZM_SERVER_URL
# shellcheck disable=SC2034 # the scripts use it
quick=(nr_task=1 idle=0 warmup=0 runtime=100ms drain=0 --monitor none --share)

away() {
	kill -USR1 "$PPID"
	until [ -e away ]; do sleep 0.05; done
}

back() {
	kill -USR2 "$PPID"
	while [ -e away ]; do sleep 0.05; done
}

lacks() { # PATTERN FILE …
	if grep -r -- "$@"; then return 1; fi
}

export URL
set -o pipefail
# shellcheck source=/dev/null
. "$1"
