/*
 * cmd_verify: is a bundle as it was signed, and by whom?
 *
 *     bundle -> whole? -> whose key? -> what it says of itself -> answer
 */
#include "runner/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/bundle.h"
#include "results/utf8.h"
#include "runner/cmd_rows.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

struct switches {
	char *pubkey;
	bool json;
};

static const struct zm_option rows[] = {
	{ .name = "pubkey",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, pubkey),
	  .unit = "file",
	  .help = "the public key (PEM) by which it must be signed" },
	ZM_ROW_JSON(struct switches),
	{ .name = NULL },
};

/* Whose key it is. */
enum whose {
	WHOSE_UNKNOWN,
	WHOSE_GIVEN, /* that of --pubkey */
	WHOSE_OWN,   /* the one that this user signs with */
};

static const char *const whose_names[] = { "unknown", "given", "own" };

struct answer {
	const char *path;
	struct zm_bundle bundle;
	enum whose whose;
	char fingerprint[ZM_FINGERPRINT_SIZE];
	uint64_t bytes;
	json_t *qualification; /* NULL: it has none */
};

/* --- whose --- */

static bool is_own(const struct zm_public_key *key)
{
	char path[PATH_MAX - 8], public[PATH_MAX];
	struct zm_public_key own;

	if (zm_signer_default_path(path, sizeof(path)) < 0)
		return false;
	(void)snprintf(public, sizeof(public), "%s.pub", path);
	return zm_public_key_read(public, &own, NULL) == 0 &&
	       memcmp(own.bytes, key->bytes, sizeof(own.bytes)) == 0;
}

static int find_whose(struct answer *answer, const struct zm_public_key *given, const char *path,
		      struct zm_why *why)
{
	const struct zm_public_key *signer = &answer->bundle.signer;
	char other[ZM_FINGERPRINT_SIZE];

	zm_public_key_fingerprint(signer, answer->fingerprint);
	answer->whose = is_own(signer) ? WHOSE_OWN : WHOSE_UNKNOWN;
	if (!given)
		return 0;
	answer->whose = WHOSE_GIVEN;
	if (memcmp(given->bytes, signer->bytes, sizeof(given->bytes)) == 0)
		return 0;
	zm_public_key_fingerprint(given, other);
	return zm_why_set(why, -EBADMSG, "signed by the key %.16s…, not by %s (%.16s…)",
			  answer->fingerprint, path, other);
}

/* --- what it says --- */

static json_t *read_qualification(int fd)
{
	zm_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *object = NULL;
	int r;

	if (!out)
		return NULL;
	r = zm_bundle_extract(fd, "qualification.json", out, NULL);
	if (fclose(out) == 0 && r == 0)
		object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	return object;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

static void print_line(const char *name, const char *text)
{
	zm_autofree char *printable = zm_utf8_printable(text);

	(void)printf("%-12s%s\n", name, printable ? printable : "?");
}

static void print_qualification(const json_t *object)
{
	char line[512];

	(void)snprintf(line, sizeof(line), "%s, by the profile %s, on %s (%s), zonemark %s",
		       text_of(object, "verdict"), text_of(object, "profile"),
		       text_of(object, "machine"), text_of(object, "finished"),
		       text_of(object, "version"));
	print_line("verdict", line);
}

static void print_text(const struct answer *answer)
{
	char size[32], line[PATH_MAX + 128];

	(void)snprintf(line, sizeof(line), "%s: %zu files, %s; not a byte was changed",
		       answer->path, answer->bundle.nr_files,
		       zm_units_human_bytes(size, sizeof(size), (double)answer->bytes));
	print_line("whole", line);
	print_line("signed by", answer->fingerprint);
	if (answer->whose == WHOSE_GIVEN)
		print_line("", "which is the key that was given");
	else if (answer->whose == WHOSE_OWN)
		print_line("", "which is your own key here");
	else
		print_line("", "which is not known here: anybody can have made it. --pubkey FILE "
			       "says whose it must be");
	if (answer->qualification)
		print_qualification(answer->qualification);
}

static int print_json(const struct answer *answer)
{
	json_t *files = json_array();
	json_t *object =
		json_pack("{s:s, s:b, s:s, s:s, s:o, s:O?}", "bundle", answer->path, "whole", true,
			  "signed_by", answer->fingerprint, "key", whose_names[answer->whose],
			  "files", files, "qualification", answer->qualification);

	for (size_t i = 0; i < answer->bundle.nr_files; i++) {
		const struct zm_bundle_file *file = &answer->bundle.files[i];
		char digest[65];

		zm_hex_print(file->sha256, sizeof(file->sha256), digest);
		(void)json_array_append_new(files, json_pack("{s:s, s:I, s:s}", "name", file->name,
							     "bytes", (json_int_t)file->bytes,
							     "sha256", digest));
	}
	if (!object)
		return zm_cmd_failf(ZM_EXIT_USAGE, "verify: no memory for the answer");
	(void)json_dumpf(object, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(object);
	return ZM_EXIT_OK;
}

/* --- the command --- */

static int verify(struct answer *answer, const struct switches *switches, struct zm_why *why)
{
	zm_autoclose int fd = open(answer->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct zm_public_key given;
	int r;

	if (fd < 0)
		return zm_why_errno(why, -errno, "%s", answer->path);
	if (switches->pubkey) {
		r = zm_public_key_read(switches->pubkey, &given, why);
		if (r < 0)
			return r;
	}
	r = zm_bundle_check(fd, &answer->bundle, why);
	if (r == 0)
		r = find_whose(answer, switches->pubkey ? &given : NULL, switches->pubkey, why);
	if (r == -EBADMSG)
		zm_why_prefix(why, "%s: refused", answer->path);
	else if (r < 0)
		zm_why_prefix(why, "%s", answer->path);
	if (r < 0)
		return r;
	for (size_t i = 0; i < answer->bundle.nr_files; i++)
		answer->bytes += answer->bundle.files[i].bytes;
	answer->qualification = read_qualification(fd);
	return 0;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct answer answer = { 0 };
	struct zm_why why = { "" };
	int status = ZM_EXIT_OK;
	int r = zm_bundle_possible(&why);

	if (args->nr_words != 1)
		return zm_cmd_failf(ZM_EXIT_USAGE, "verify: which bundle? give its file");
	answer.path = args->words[0];
	if (r == 0)
		r = verify(&answer, switches, &why);
	if (r < 0)
		status = zm_cmd_fail(r == -EBADMSG ? ZM_EXIT_NO : ZM_EXIT_USAGE, &why);
	else if (switches->json)
		status = print_json(&answer);
	else
		print_text(&answer);
	json_decref(answer.qualification);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "check that a qualification's bundle is whole, and by whom it was signed",
	.usage = "BUNDLE",
	.details = "Every byte of the file is covered by its signature (Ed25519): one that was "
		   "changed, is missing or was added is refused with one line and exit status 1, "
		   "and the line names the file where that can be told.\n\n"
		   "That a bundle is whole says nothing of who made it. --pubkey names the key by "
		   "which it must be signed; without it the key's fingerprint is shown, and "
		   "whether it is your own.\n\n"
		   "A bundle is a tar archive; docs/qualify.md says what is in it, and how to "
		   "check one without zonemark.",
	.examples = "zonemark verify q.tar --pubkey vendor.pub\twhole, and signed by that key?\n"
		    "zonemark verify q.tar\twhole? by whom?",
	.completes = "files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
