#!/bin/sh
# banned: functions that have a better sister, and constructions that hide work.
# shellcheck source=cmake/checks/files.sh
. "$(dirname "$0")/files.sh"

found=$(mktemp)
lines=$(mktemp)
trap 'rm -f "$found" "$lines"' EXIT

# All lines as "file:line:text", without what stands in strings and in comments of whole lines.
sources '*.c' '*.h' | xargs grep -nH '' | grep -vE '^[^:]*:[0-9]+: \* ' |
	sed 's/"\([^"\\]\|\\.\)*"/""/g' > "$lines"

ban() { # EXTENDED-REGEX, what to do instead
	grep -E -- "$1" "$lines" | awk -v mend="$2" '{ print $0 "    <- " mend }' >> "$found"
}

name='(^|[^[:alnum:]_."])'
ban "$name(strcpy|strcat|stpcpy|sprintf|vsprintf)\\(" "snprintf, or memcpy of a known length"
ban "$name(strncpy|strncat)\\(" "snprintf"
ban "$name(atoi|atol|atoll|atof)\\(" "zm_units_parse_*"
ban "${name}gets\\(" "getline"
ban "$name(strtok|asctime|ctime|gmtime|localtime|strerror_l|readdir_r|rand|srand|random)\\(" \
	"the re-entrant one, or base/random.h"
ban "$name(system|popen)\\(" "fork and exec with an argument list"
ban "$name(alloca|tmpnam|tempnam|mktemp|vfork)\\(" "what does not blow up"
ban "$name(gettimeofday|ftime)\\(" "zm_clock_now_ns"
ban "${name}cpu_set_t +[a-z]" "struct zm_cpuset: machines have more than 1,024 CPUs"
ban "$name(signal|setjmp|longjmp)\\(SIG(SEGV|BUS)" "a check before the access"
ban '__attribute__\(\(.*constructor' "a table written by the build"
ban '(^|[^_[:alnum:]])assert\(.*(\+\+|--|[^=!<>]=[^=])' "an assertion without side effects"
offences_from "$found"
finish
