#!/usr/bin/env bats
# report: one page that holds all it shows, from a store that is the same every time.
# timeout: 120
load helper

setup_file() {
	"$ZM_BINARY_DIR/tests/sample_store" "$BATS_FILE_TMPDIR/sample.db" 48
}

setup_more() {
	export ZONEMARK_DB=$BATS_FILE_TMPDIR/sample.db
}

# Every tag that is opened is closed in order, and nothing in it can act or load.
is_sound() { # FILE
	python3 - "$1" << 'EOF'
import base64, sys
from html.parser import HTMLParser
VOID = {"meta", "img", "br", "link", "input"}
class Page(HTMLParser):
    stack, tags, pictures = [], set(), []
    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("href", "action", "xlink:href"), (tag, value)
            if name == "src":
                assert value.startswith("data:image/svg+xml;base64,"), value[:40]
                self.pictures.append(base64.b64decode(value.split(",", 1)[1], validate=True))
        if tag not in VOID:
            self.stack.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
assert not page.stack, page.stack
assert not page.tags & {"script", "iframe", "object", "embed", "link", "base"}, page.tags
assert all(p.rstrip().endswith(b"</svg>") for p in page.pictures)
EOF
}

@test "verdicts stand first and are those of compare" {
	needs_command python3
	run_split zonemark report base new -o report.html
	succeeds
	[ -z "$out" ]
	is_sound report.html
	out=$(cat report.html)
	has_line '<strong>1 better</strong>'
	has_line '<td>better</td><td>page_fault1</td><td>will-it-scale.per_process_ops</td><td class="n">96334</td><td>new</td><td class="n">103964</td><td>pages/s</td><td class="n">\+7.92%</td><td>\+7.49% … \+8.35%</td>'
	[[ ${out%%1 better*} != *Curves* ]]
	[ "$(grep -c '<h2>Run ' report.html)" -eq 2 ]
	has_line 'The command that repeats it'
	has_line "default-src 'none'"
}

@test "a run alone has its figures, curves, histogram, flame graph, machine" {
	needs_command gnuplot python3
	run_split zonemark report 1 --output run.html
	succeeds
	is_sound run.html
	out=$(cat run.html)
	has_line 'per_process_ops</td><td class="n">95000</td>'
	has_line '<img alt="Curves'
	has_line '<h3>fault.latency</h3>'
	has_line 'class="zm-flame"'
	has_line 'cpus_online'
	[[ $out != *'<h2>Verdicts'* ]]
}

@test "what was run with several numbers of tasks stands against them" {
	needs_command python3
	export ZONEMARK_DB=$PWD/own.db
	for label in a b; do
		zonemark run null nr_task=1,2 mode=process,thread idle=0 warmup=0 drain=0 runtime=200ms \
			--share --monitor none --label $label > /dev/null
	done
	run_split zonemark report a b -o tasks.html
	succeeds
	is_sound tasks.html
	out=$(cat tasks.html)
	has_line '<h2>Against tasks</h2>'
	has_line '<caption>null mode=process: null.throughput \(ops/s\) against tasks</caption>'
	has_line '<caption>null mode=thread: null.throughput \(ops/s\) against tasks</caption>'
	has_line '<tr><td class="n">2</td><td class="n">[0-9.e+]+</td><td class="n">[0-9.e+]+</td></tr>'
	[ "$(grep -c '<th scope="col" class="n">tasks</th>' tasks.html)" -eq 2 ]
	run_split zonemark report a
	succeeds
	has_line '<h2>Against tasks</h2>'
}

@test "without gnuplot the page says so and has all else" {
	needs_command python3
	mkdir bin
	run_split env PATH="$BATS_TEST_TMPDIR/bin" "$ZONEMARK" report 1
	succeeds
	has_line '<p>gnuplot is not installed; apt-get install gnuplot-nox</p>'
	has_line '<h3>fault.latency</h3>'
}

@test "a hostile label is text" {
	needs_command python3
	run_split zonemark report 6 -o hostile.html
	succeeds
	is_sound hostile.html
}

@test "what cannot be written or found leaves the old page" {
	echo old > report.html
	run_split zonemark report base nothing-of-that-name -o report.html
	fails_with 2 '^zonemark: report: '
	run_split zonemark report -o report.html
	fails_with 2 'report: one to 8 labels'
	run_split zonemark report base -o no/such/report.html
	fails_with 2 '^zonemark: report: no/such/report.html'
	[ "$(cat report.html)" = old ]
	[ "$(ls report.html*)" = report.html ]
}
