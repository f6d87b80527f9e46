#!/usr/bin/env bats
# fetch-kernel-source, with packages and an apt of the test's own.
load helper

# apt-cache, apt-get and dpkg-deb that know one package; $APT_FAILS says what apt-get says instead.
setup_more() {
	mkdir -p bin tree/linux-source-9.9/usr tree/linux-source-9.9/kernel package/usr/src
	touch tree/linux-source-9.9/Makefile tree/linux-source-9.9/usr/Kconfig
	tar -C tree -cJf package/usr/src/linux-source-9.9.tar.xz linux-source-9.9
	cat > bin/apt-cache <<-'END'
		#!/bin/sh
		[ "$2" = linux-source ] && printf 'linux-source\n  Depends: linux-source-9.9\n'
	END
	cat > bin/apt-get <<-'END'
		#!/bin/sh
		[ -z "$APT_FAILS" ] || { echo "$APT_FAILS" >&2; exit 100; }
		[ "$3" = linux-source-9.9 ] && : > linux-source-9.9_all.deb
	END
	cat > bin/dpkg-deb <<-END
		#!/bin/sh
		cp -r "$PWD/package/usr" "\$3"
	END
	chmod 755 bin/*
	PATH=$PWD/bin:$PATH
}

folder() {
	echo "$XDG_CACHE_HOME/zonemark/linux-source-9.9"
}

@test "fetched once, and found by kbuild_real" {
	needs_command tar xz
	run_split zonemark fetch-kernel-source
	succeeds
	[ "$out" = "$(folder)" ]
	[ -f "$(folder)/Makefile" ] && [ -f "$(folder)/usr/Kconfig" ]
	[ ! -e "$(folder)/usr/src" ] && [ ! -e "$(folder)/.package" ] && [ ! -e "$(folder)+" ]
	export APT_FAILS="E: not a second time"
	run_split zonemark fetch-kernel-source linux-source-9.9
	succeeds
	[ "$out" = "$(folder)" ]
}

@test "no network: one line, nothing left" {
	export APT_FAILS="E: Failed to fetch: Could not resolve 'deb.example.org'"
	run_split zonemark fetch-kernel-source
	[ "$status" -eq 2 ]
	[ "$(tail -1 <<< "$err")" = "zonemark: fetch-kernel-source: the package linux-source-9.9 cannot be had (try apt-get update): apt-get ended with status 100: $APT_FAILS" ]
	[ "$(ls "$XDG_CACHE_HOME/zonemark")" = lock ]
}

@test "a signal ends all of it, and nothing is left" {
	for signal in TERM INT HUP; do
		printf '#!/bin/sh\ntouch half; sleep 60 & echo $! > "%s/sleeper"; wait\n' "$PWD" > bin/dpkg-deb
		rm -f sleeper
		setsid env --default-signal "$ZONEMARK" fetch-kernel-source > out 2> err 3>&- &
		for _ in $(seq 100); do [ -s sleeper ] && break || sleep 0.05; done
		kill -$signal $!
		status=0
		wait $! || status=$?
		[ "$status" -eq $((128 + $(kill -l $signal))) ]
		[ "$(ls "$XDG_CACHE_HOME/zonemark")" = lock ]
		if kill -0 "$(< sleeper)" 2> /dev/null; then return 1; fi
	done
}

@test "no such package, no such word" {
	run_split zonemark fetch-kernel-source linux-image-9.9
	fails_with 2 "linux-image-9.9: a package of this kind is called linux-source-6.1"
	run_split zonemark fetch-kernel-source linux-source-9.9 linux-source-6.1
	fails_with 2 "one package at a time, and linux-source-6.1 is a second"
	printf '#!/bin/sh\necho nothing\n' > bin/apt-cache
	run_split zonemark fetch-kernel-source
	fails_with 2 "apt knows no linux-source; run apt-get update"
}

@test "too little room is seen before" {
	needs_root
	needs_command unshare
	mkdir -p "$XDG_CACHE_HOME"
	run_split unshare -m sh -c 'mount -t tmpfs -o size=64M none "$XDG_CACHE_HOME" && exec "$ZONEMARK" fetch-kernel-source'
	[[ $err != *mount:* ]] || skip "no mounts here"
	fails_with 2 "fetch-kernel-source: 2200 MiB are needed in .*, and [0-9]+ are left; make room, or set XDG_CACHE_HOME"
}
