# push: runs for a store on a server: sent at the end, kept when it is away, sent later.
bats_require_minimum_version 1.5.0
load helper

# The rest of a test, with a server: $URL. away and back take it away and bring it back.
with_server() {
	local status=0
	cat > script
	"$ZM_BINARY_DIR/tests/with_server" bash -eu "$BATS_TEST_DIRNAME/server.bash" "$PWD/script" \
		3>&- > script.log 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "$(cat script.log)"
	cat script.log
	return "$status"
}

@test "a run is sent when it has ended, and is there as in a file" {
	with_server << 'END'
"$ZONEMARK" store init --db "$URL" > out
grep -q '^postgresql://.*: ready$' out
"$ZONEMARK" run null "${quick[@]}" --label base --db "$URL" > table 2> err
grep -q '^1 run sent to postgresql://' err
lacks 'zonemark show' err
"$ZONEMARK" runs --db "$URL" > out
[ "$(grep -c ' null ' out)" -eq 1 ]
"$ZONEMARK" show base --db "$URL" > out
"$ZONEMARK" compare last last --db "$URL" > out
"$ZONEMARK" import "$URL" --db copy.db > out
"$ZONEMARK" export --db "$URL" --output there.json
"$ZONEMARK" export --db copy.db --output here.json
cmp there.json here.json
"$ZONEMARK" import copy.db --db "$URL" > out
grep -q '0 new, 0 replaced, 1 there already$' out
"$ZONEMARK" push --db "$URL" --json > out
grep -q '"new":0,"there":0,"left":0' out
END
}

@test "a server that goes away midway costs no run" {
	with_server << 'END'
"$ZONEMARK" run null "${quick[@]}" runtime=3 --db "$URL" > table 2> err &
until grep -q null err; do sleep 0.05; done
away
wait $!
grep -q '^postgresql://.* cannot be reached: .*; 1 run waits in .*/outbox/.*\.db: `zonemark push --db .*` sends it$' err
"$ZONEMARK" run null "${quick[@]}" --db "$URL" > table 2> err
grep -q '^postgresql://.* cannot be reached: .*; the runs wait in ' err
grep -q '2 runs wait in' err
status=0
"$ZONEMARK" push --db "$URL" > out 2> err || status=$?
[ "$status" -eq 2 ]
[ "$(wc -l < err)" -eq 1 ]
grep -q 'cannot be reached' err
back
"$ZONEMARK" push --db "$URL" > out
grep -q ': 2 new, 0 there already, 0 left here$' out
"$ZONEMARK" runs --db "$URL" > out
[ "$(grep -c ' null ' out)" -eq 2 ]
END
}

@test "what was sent is not run again by --resume" {
	with_server << 'END'
"$ZONEMARK" run null "${quick[@]}" --db "$URL" > table 2> err
"$ZONEMARK" run null "${quick[@]}" --db "$URL" --resume > table 2> err
"$ZONEMARK" runs --db "$URL" > out
[ "$(grep -c ' null ' out)" -eq 1 ]
END
}

@test "a role that may only add sends; a password is shown nowhere" {
	with_server << 'END'
"$ZONEMARK" store init --db "$URL" --role node > out
grep -q 'node may add runs' out
NODE="${URL/user=owner/user=node}&password=secret"
"$ZONEMARK" run null "${quick[@]}" --db="$NODE" > table 2> err
grep -q '^1 run sent' err
"$ZONEMARK" run null "${quick[@]}" --db "$NODE" > table 2> err
status=0
"$ZONEMARK" show last --db "$NODE" > out 2> err || status=$?
[ "$status" -eq 2 ]
grep -q 'not permitted to this role' err
"$ZONEMARK" export --db "$URL" > out
lacks secret out table err "$XDG_DATA_HOME"
END
}

@test "what makes no sense is refused in a line" {
	run_split zonemark push
	fails_with 2 'push: the store is a file'
	run_split zonemark push x.db
	fails_with 2 'push: x.db: it sends what waits here'
	run_split zonemark store
	fails_with 2 'store: what is to be done'
	run_split zonemark store init --db x.db --role node
	fails_with 2 'x.db is a file'
	run_split zonemark runs --db postgresql://a:secret@127.0.0.1:1/x
	fails_with 2 'postgresql://'
	[[ $err != *secret* ]]
}

# Of two sites only the moments at which they were made differ.
@test "what is told of a server's store is what is told of a file" {
	with_server << 'END'
"$ZM_BINARY_DIR/tests/sample_nights" nights.db
"$ZONEMARK" import nights.db --db "$URL" > out
for db in nights.db "$URL"; do
	"$ZONEMARK" dashboard --db "$db" --output site > site.out
	find site -type f -exec sed -i -E 's/"made":[0-9]+//; s/ on 20[0-9T:-]+Z//' {} +
	mkdir -p told
	"$ZONEMARK" outliers --db "$db" > told/outliers
	"$ZONEMARK" runs --limit 0 --db "$db" > told/runs
	"$ZONEMARK" export --db "$db" --output told/export
	mv site told/
	if [ -e first ]; then mv told second; else mv told first; fi
done
diff -r first second
grep -q '"series"' first/export
[ "$(wc -l < first/runs)" -gt 200 ]
END
}
