#!/usr/bin/env bats
# verify: whole bundles and whose they are; every way of being not whole.
load helper

setup_more() {
	zonemark verify /nonexistent 2>&1 | grep -q 'without libarchive' && skip "built without libarchive"
	printf 'hello\n' > report.html
	head -c 5000 /dev/zero > store.db
	cat > qualification.json <<- 'END'
		{"profile": "quick", "verdict": "pass", "machine": "0123456789abcdef",
		 "finished": "2026-05-01T12:00:00Z", "version": "0.1.0"}
	END
	"$ZM_BINARY_DIR/tests/sample_bundle" key.pem q.tar report.html store.db qualification.json
	fingerprint=$(sha256sum <(openssl pkey -pubin -in key.pem.pub -outform DER) | cut -c1-64)
}

@test "a whole bundle: what is in it, who signed it, what it says" {
	run_split zonemark verify q.tar --pubkey key.pem.pub
	succeeds
	wanted="whole       q.tar: 3 files, $(stat -c %s report.html store.db qualification.json |
		awk '{ n += $1 } END { printf "%.2f KiB", n / 1024 }'); not a byte was changed
signed by   $fingerprint
            which is the key that was given
verdict     pass, by the profile quick, on 0123456789abcdef (2026-05-01T12:00:00Z), zonemark 0.1.0"
	[ "$out" = "$wanted" ] || { diff <(echo "$wanted") <(echo "$out"); return 1; }
}

@test "an unknown key is said to be unknown, one's own is known, another is refused" {
	run_split zonemark verify q.tar
	succeeds
	has_line '^ +which is not known here: anybody can have made it'
	mkdir -p "$XDG_DATA_HOME/zonemark"
	cp key.pem.pub "$XDG_DATA_HOME/zonemark/key.pem.pub"
	run_split zonemark verify q.tar
	succeeds
	has_line '^ +which is your own key here$'
	"$ZM_BINARY_DIR/tests/sample_bundle" other.pem other.tar report.html
	run_split zonemark verify q.tar --pubkey other.pem.pub
	fails_with 1 "^zonemark: q.tar: refused: signed by the key ${fingerprint:0:16}…, not by other.pem.pub"
	run_split zonemark verify q.tar --pubkey report.html
	fails_with 2 'report.html: no public Ed25519 key in PEM'
}

@test "in JSON" {
	needs_command python3
	run_split zonemark verify q.tar --json
	succeeds
	printf '%s' "$out" | python3 -c '
import hashlib, json, sys
answer = json.load(sys.stdin)
assert answer["whole"] and answer["key"] == "unknown" and answer["qualification"]["verdict"] == "pass"
assert [file["name"] for file in answer["files"]] == ["report.html", "store.db", "qualification.json"]
for file in answer["files"]:
	assert file["sha256"] == hashlib.sha256(open(file["name"], "rb").read()).hexdigest()
'
}

@test "a changed file is named, and so is one that is missing or was added" {
	needs_command tar
	mkdir unpacked
	tar xf q.tar -C unpacked
	[ "$(cat unpacked/bundle/report.html)" = hello ]
	pack() { # FILE …
		tar cf changed.tar --format ustar -b 1 -C unpacked "${@/#/bundle/}"
	}
	pack MANIFEST report.html store.db qualification.json SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'changed.tar: refused: it is not what was signed'
	pack MANIFEST report.html qualification.json SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'changed.tar: refused: qualification.json stands where store.db was'
	pack MANIFEST report.html store.db SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'changed.tar: refused: qualification.json is missing'
	echo more > unpacked/bundle/more.txt
	pack MANIFEST report.html store.db qualification.json more.txt SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'changed.tar: refused: more.txt is not in the manifest: it was added'
	echo hellO > unpacked/bundle/report.html
	pack MANIFEST report.html store.db qualification.json SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'changed.tar: refused: report.html was changed'
}

@test "links, paths to elsewhere and doubles are refused, and nothing is written" {
	needs_command tar
	mkdir unpacked
	tar xf q.tar -C unpacked
	pack() { # TRANSFORM FILE …
		local transform=$1
		shift
		tar cf changed.tar --format ustar -b 1 -C unpacked -P --transform "$transform" "${@/#/bundle/}"
	}
	files=(MANIFEST report.html store.db qualification.json SIGNATURE)
	pack 's,bundle/report,../report,' "${files[@]}"
	run_split zonemark verify changed.tar
	fails_with 1 'changed.tar: refused: it holds something that is no plain file of the folder bundle/'
	pack 's,^bundle/report,/tmp/report,' "${files[@]}"
	run_split zonemark verify changed.tar
	fails_with 1 'no plain file of the folder'
	pack 's,bundle/report.html,bundle/../report.html,' "${files[@]}"
	run_split zonemark verify changed.tar
	fails_with 1 'report.html stands where report.html was|no plain file of the folder'
	pack '' MANIFEST report.html report.html store.db qualification.json SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'report.html stands where store.db was|no plain file of the folder'
	pack '' MANIFEST report.html store.db qualification.json SIGNATURE SIGNATURE
	run_split zonemark verify changed.tar
	fails_with 1 'refused: (SIGNATURE stands behind the signature|no bundle of zonemark)'
	rm unpacked/bundle/report.html
	ln -s /etc/hostname unpacked/bundle/report.html
	pack '' "${files[@]}"
	run_split zonemark verify changed.tar
	fails_with 1 'no plain file of the folder'
	run_split zonemark verify q.tar
	succeeds
}

@test "what is no bundle is refused in one line" {
	for bytes in 0 1 511 512 1536 3072 8191; do
		head -c $bytes q.tar > cut.tar
		run_split zonemark verify cut.tar
		fails_with 1 'cut.tar: refused: no bundle of zonemark'
	done
	run_split zonemark verify /dev/zero
	fails_with 1 'refused: not a file'
	run_split zonemark verify .
	fails_with 1 'refused: not a file'
	run_split zonemark verify nothing.tar
	fails_with 2 'nothing.tar: No such file'
	run_split zonemark verify
	fails_with 2 'which bundle'
}

@test "it can be checked without zonemark" {
	needs_command openssl tar xxd
	size=$(stat -c %s q.tar)
	signature=$(tail -c 1536 q.tar | head -c 512 | tr -d '\0' | sed -n 's/^signature //p')
	[ ${#signature} -eq 128 ]
	at=$((size - 1536 + $(tail -c 1536 q.tar | head -c 512 | grep -abo "$signature" | cut -d: -f1)))
	{ head -c $at q.tar; printf '0%.0s' $(seq 128); tail -c +$((at + 129)) q.tar; } > zeroed
	{ printf 'zonemark bundle 1\n'; openssl dgst -sha512 -binary zeroed; } > message
	printf %s "$signature" | xxd -r -p > signature
	openssl pkeyutl -verify -pubin -inkey key.pem.pub -rawin -in message -sigfile signature
}
