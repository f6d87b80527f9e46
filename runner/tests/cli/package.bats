#!/usr/bin/env bats
# package: what `cmake --install` puts where, and the Debian package.
# labels: package
# timeout: 120
load helper
bats_require_minimum_version 1.5.0

setup_more() {
	[ -f "$ZM_BINARY_DIR/share/zonemark.1" ] || skip "this build is not for installing"
}

@test "an installed copy runs, with its man page, completion, licence and documents" {
	DESTDIR=$PWD/root cmake --install "$ZM_BINARY_DIR" --prefix /usr --strip > /dev/null
	run_split root/usr/bin/zonemark list workloads --names
	succeeds
	[ -s root/usr/share/man/man1/zonemark.1.gz ] || [ -s root/usr/share/man/man1/zonemark.1 ]
	grep -q _zonemark root/usr/share/bash-completion/completions/zonemark
	grep -q 'MIT License' root/usr/share/doc/zonemark/copyright
	[ -s root/usr/share/doc/zonemark/README.md ]
	[ -x root/usr/libexec/zonemark/kbuild-step ]
	[ -s root/usr/share/zonemark/profiles/small.json ]
	[ -s root/usr/share/zonemark/qualify/quick.yaml ]
	[ -s root/usr/share/doc/zonemark/examples/zonemark-nightly.cron ]
	grep -q '^ExecStart=zonemark nightly' root/usr/lib/systemd/system/zonemark-nightly.service
	grep -q '^OnCalendar=' root/usr/lib/systemd/system/zonemark-nightly.timer
	run -1 grep -rlF "$ZM_SOURCE_DIR" root # nothing of the build's place is in it
}

@test "the Debian package holds the same and says what it depends on" {
	needs_command cpack dpkg-deb dpkg-shlibdeps
	run_split cpack --config "$ZM_BINARY_DIR/CPackConfig.cmake" -B "$PWD"
	succeeds
	deb=$(ls ./*.deb)
	run_split dpkg-deb -f "$deb" Package Depends Architecture
	succeeds
	has_line '^Package: zonemark$'
	has_line '^Depends: .*libc6 \(>= '
	for library in libsqlite3-0 libnuma1 libhwloc15 libjansson4 libzstd1 gnuplot-nox; do
		has_line "^Depends: .*$library"
	done
	run_split dpkg-deb -c "$deb"
	has_line ' \./usr/bin/zonemark$'
	has_line ' \./usr/libexec/zonemark/kbuild-step$'
	has_line ' \./usr/share/zonemark/profiles/small\.json$'
	has_line ' \./usr/share/man/man1/zonemark\.1'
	has_line ' \./usr/share/bash-completion/completions/zonemark$'
	has_line ' \./usr/share/doc/zonemark/copyright$'
	has_line ' \./usr/share/doc/zonemark/changelog\.gz$'
	has_line '^-rwxr-xr-x root/root .* \./usr/bin/zonemark$'
	dpkg-deb -x "$deb" unpacked
	unpacked/usr/bin/zonemark --version
	if command -v lintian > /dev/null; then
		run_split lintian --allow-root "$deb"
		succeeds
		[ -z "$out" ] || explain
	fi
}
