/*
 * sample_bundle: a bundle of some files, for the tests of what reads them.
 *
 *     sample_bundle KEY BUNDLE FILE…      KEY is made where it is not there
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/bundle.h"
#include "results/outfile.h"
#include "workloads/base/clock.h"

#define WALL_NS (UINT64_C(1777636800) * ZM_NS_PER_S) /* 2026-05-01 12:00:00 UTC */

static int make(char **words, int nr, struct zm_why *why)
{
	struct zm_bundle_source sources[ZM_BUNDLE_FILES];
	struct zm_signer *signer = NULL;
	struct zm_outfile file = { 0 };
	size_t n = 0;
	int r = zm_signer_open(words[0], &signer, why);

	if (r == -ENOENT) {
		r = zm_signer_make(words[0], why);
		if (r == 0)
			r = zm_signer_open(words[0], &signer, why);
	}
	for (int i = 2; i < nr && n < ZM_BUNDLE_FILES; i++) {
		const char *slash = strrchr(words[i], '/');

		sources[n].path = words[i];
		sources[n++].name = slash ? slash + 1 : words[i];
	}
	if (r == 0)
		r = zm_outfile_open(&file, words[1], why);
	if (r == 0)
		r = zm_bundle_write(file.out, sources, n, WALL_NS, signer, why);
	if (r == 0)
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	zm_signer_free(signer);
	return r;
}

int main(int argc, char **argv)
{
	struct zm_why why = { "KEY BUNDLE FILE…" };
	int r = zm_bundle_possible(&why);

	if (r < 0) {
		(void)fprintf(stderr, "sample_bundle: %s\n", why.text);
		return 77;
	}
	if (argc < 4 || make(argv + 1, argc - 1, &why) < 0) {
		(void)fprintf(stderr, "sample_bundle: %s\n", why.text);
		return 1;
	}
	return 0;
}
