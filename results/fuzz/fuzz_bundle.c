/*
 * bundle: any bytes are refused with a sentence, or are as they were signed. As no mutation keeps a
 * signature right, what stands behind it (the entries) is reached by extracting, which asks for none.
 *
 * timeout: 60
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "results/bundle.h"
#include "workloads/fuzz/fuzz.h"

static void check(int fd)
{
	static struct zm_bundle bundle;
	struct zm_why why = { "" };
	int r = zm_bundle_check(fd, &bundle, &why);

	fuzz_check(r == 0 || why.text[0]);
	fuzz_check(!strchr(why.text, '\n'));
	fuzz_check(r < 0 || bundle.nr_files <= ZM_BUNDLE_FILES);
	for (size_t i = 0; r == 0 && i < bundle.nr_files; i++)
		fuzz_check(bundle.files[i].name[0] && !strchr(bundle.files[i].name, '/'));
}

static void extract(int fd, const char *name)
{
	FILE *out = fopen("/dev/null", "w");
	struct zm_why why = { "" };

	fuzz_check(out != NULL);
	fuzz_check(zm_bundle_extract(fd, name, out, &why) == 0 || why.text[0]);
	(void)fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_check(fd >= 0);
	fuzz_check(write(fd, data, size) == (ssize_t)size);
	if (zm_bundle_possible(NULL) == 0) {
		check(fd);
		extract(fd, "one.txt");
		extract(fd, "not-there");
	}
	(void)close(fd);
	return 0;
}
