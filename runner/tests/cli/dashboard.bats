#!/usr/bin/env bats
# dashboard: the site of a history that is the same every time; what the pages show is tested in a browser
# (results/web/tests/browser.mjs).
# timeout: 120
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_nights" "$BATS_FILE_TMPDIR/sample.db"
}

setup_more() {
	export ZONEMARK_DB=$BATS_TEST_TMPDIR/store.db
	cp "$BATS_FILE_TMPDIR/sample.db" "$ZONEMARK_DB"
}

site() {
	run_split "$ZONEMARK" dashboard -o site "$@"
}

@test "a history becomes a site that says what changed" {
	site
	succeeds
	has_line '^4 figures on 3 machines, up to 40 nights: 1 worse, 0 better, 0 changed, 2 steady, 1 with too few nights$'
	has_line '^1 had a run that failed in their last night$'
	has_line '^site/index\.html: [0-9]+ files, .* charts: '
	[ -z "$err" ]
	grep -q '<h1 id="headline">1 figure changed in the last 14 nights: <span class="worse">1 worse</span>' site/index.html
	grep -q '<tr data-verdict="worse">' site/index.html
	for page in index series compare run; do
		[ "$(grep -c 'Content-Security-Policy' "site/$page.html")" -eq 1 ]
		run -1 grep -q '<!--' "site/$page.html"
	done
	[ "$(find site/data/g -name '*.js' | wc -l)" -eq 8 ] # a group's own file, and one with its other figures
	[ ! -e site.part ]
}

@test "nothing is loaded from elsewhere" {
	site
	succeeds
	run -1 grep -rnE '(src|href)="(https?:)?//' site --include=*.html
	run -1 grep -nE '@import|url\(h' site/*.css
	run -1 grep -nE 'fetch\(|XMLHttpRequest|import\(|WebSocket' site/{site,chart,index,series,compare,run,theme}.js
}

@test "a store of one night does not say that nothing changed" {
	ZONEMARK_DB=$BATS_TEST_TMPDIR/one.db
	"$ZONEMARK" run null runtime=20ms warmup=0 idle=0 drain=0 --monitor none > /dev/null
	site
	succeeds
	grep -q '<h1 id="headline">Too few nights to say whether anything changed\.</h1>' site/index.html
}

@test "hostile names are texts" {
	site
	succeeds
	run -1 grep -rn '<script>alert\|<img src=x\|<b>&' site --include=*.html --include=*.js
	grep -q 'u003cimg src=x onerror=alert(1)' site/data/matrix.js
}

@test "the site is replaced as a whole, and something else never is" {
	site
	succeeds
	touch site/left-over
	site
	succeeds
	[ ! -e site/left-over ]
	mkdir mine
	touch mine/thesis
	run_split "$ZONEMARK" dashboard --output mine
	fails_with 2 'mine: is not empty and not a site of zonemark; give a folder of its own'
	[ -e mine/thesis ]
}

# A disk that holds a site, but not two.
fill_up() {
	mount -t tmpfs -o "size=$1k" none disk || exit 77
	"$ZONEMARK" dashboard --output disk/site > /dev/null || exit 78
	cksum disk/site/index.html disk/site/data/matrix.js > before
	"$ZONEMARK" dashboard --output disk/site 2> said && exit 79
	[ "$(cksum disk/site/index.html disk/site/data/matrix.js)" = "$(cat before)" ] || exit 80
	[ ! -e disk/site.part ] || exit 81
}

@test "a disk that is full midway leaves the old site" {
	needs_root
	needs_command unshare
	site --curves 0
	succeeds
	mkdir disk
	export -f fill_up
	status=0
	unshare -m bash -c 'fill_up "$1"' - $(($(du -sk site | cut -f1) * 3 / 2)) || status=$?
	[ "$status" -ne 77 ] || skip "nothing can be mounted here"
	[ "$status" -eq 0 ] || { echo "status $status: $(cat said)"; return 1; }
	grep -q 'No space left on device' said
	[ "$(wc -l < said)" -eq 1 ]
}

@test "labels and days choose, and nothing is said to be nothing" {
	site --label 'night*'
	succeeds
	has_line '^3 figures on 2 machines'
	site --label nobody
	fails_with 2 'no finished run like that is in it'
	[ -e site/index.html ]
	site --since 2026-04-01
	succeeds
	has_line 'up to 10 nights'
	site --since yesterday
	fails_with 2 'dashboard: --since yesterday: a date'
}

@test "wrong use is one line" {
	run_split "$ZONEMARK" dashboard
	fails_with 2 '--output FOLDER names it'
	site extra
	fails_with 2 'it takes switches only'
	run_split "$ZONEMARK" dashboard --output no/such/place
	fails_with 2 'no/such/place'
	run_split "$ZONEMARK" dashboard --output site --db none.db
	fails_with 2 'none.db: there is no store yet'
	[ ! -e site ]
}

@test "what does not change is taken over: the curves of a run" {
	site
	succeeds
	was=$(stat -c %i site/data/r1/*.js | sort)
	[ -n "$was" ]
	site
	succeeds
	[ "$(stat -c %i site/data/r1/*.js | sort)" = "$was" ]
	site --curves 0
	succeeds
	[ "$(find site/data/r1 -name '*.js' | wc -l)" -eq 0 ]
}

@test "the numbers are the store's" {
	needs_command python3
	site --json
	succeeds
	printf '%s\n' "$out" | python3 -c 'import json, sys; site = json.load(sys.stdin); assert site["worse"] == 1 and site["nights"] == 40, site'
	python3 - << 'END'
import glob, json, re, sqlite3, statistics
db = sqlite3.connect("store.db")
checked = 0
for path in glob.glob("site/data/g/*.js"):
    if not re.fullmatch(r"[0-9a-f]{16}\.js", path.split("/")[-1]):
        continue
    text = open(path).read()
    for other in glob.glob(path[:-3] + ".*.js"):
        text += open(other).read()
    group = json.loads(re.match(r"zonemark\.group\((.*?)\);\n", text, re.S).group(1))
    for number, line in re.findall(r'zonemark\.line\("[0-9a-f]{16}",(\d+),(\{.*\})\);\n', text):
        line, metric = json.loads(line), group["metrics"][int(number)]["name"]
        for night, value in enumerate(line["v"]):
            names = group["runs"][night]
            rows = [row[0] for name in names for row in db.execute(
                "SELECT value FROM result JOIN run ON run.id = run JOIN metric ON metric.id = metric"
                " WHERE uuid LIKE ? AND name = ? AND status = 1", (name + "%", metric))]
            if not rows:
                assert value is None, (path, metric, night)
                continue
            assert abs(value - statistics.mean(rows)) <= 1e-8 * abs(value), (metric, night, value, rows)
            if "lo" in line:
                assert abs(line["lo"][night] - min(rows)) <= 1e-8 * abs(value)
                assert abs(line["hi"][night] - max(rows)) <= 1e-8 * abs(value)
            checked += 1
assert checked > 400, checked
END
}

@test "a store on a server has the same site" {
	cat > script << 'END'
set -eu
"$ZONEMARK" store init --db "$ZM_SERVER_URL"
"$ZONEMARK" import "$ZONEMARK_DB" --db "$ZM_SERVER_URL"
"$ZONEMARK" dashboard --db "$ZM_SERVER_URL" -o there
"$ZONEMARK" dashboard -o here
diff -r here/data/g there/data/g
diff -r here/data/r1 there/data/r1
diff <(tail -n +2 here/data/matrix.js) <(tail -n +2 there/data/matrix.js) # its first line has the time
END
	status=0
	"$ZM_BINARY_DIR/tests/with_server" bash script 3>&- > script.log 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "$(cat script.log)"
	[ "$status" -eq 0 ] || { cat script.log; return 1; }
}
