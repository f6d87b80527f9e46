/*
 * bundle: files in one file, signed, of which not a byte can be changed without its being seen.
 *
 *     a tar archive (ustar)
 *         bundle/MANIFEST     a line per file: "SHA-256  bytes  name"
 *         bundle/NAME …       the files, in the manifest's order
 *         bundle/SIGNATURE    the public key and the signature, two lines of hexadecimal digits
 *
 * What is signed is ZM_BUNDLE_CONTEXT and the SHA-512 of the whole archive, from its first byte to its
 * last, with the signature's own digits as zeros: so padding, headers and dates are covered, too.
 * SIGNATURE is the last entry, fits one block, and stands where it is looked for: 1,536 bytes before the
 * end. `tar xf` unpacks a bundle as any archive.
 *
 * A bundle comes from anywhere: what is not exactly of this form is refused with one sentence, which
 * names the file that was changed, is missing or was added, where that can be told. Nothing of a bundle
 * is written to a path that it names.
 *
 * Without libarchive everything here gives -ENOTSUP and says so.
 */
#ifndef ZM_RESULTS_BUNDLE_H
#define ZM_RESULTS_BUNDLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "results/signing.h"
#include "workloads/base/why.h"

#define ZM_BUNDLE_CONTEXT "zonemark bundle 1\n"
#define ZM_BUNDLE_FILES   64 /* at most */
#define ZM_BUNDLE_NAME    64 /* bytes, with the terminator; of [A-Za-z0-9._-], no '.' first */

/* A file to be put in. */
struct zm_bundle_source {
	const char *name; /* there */
	const char *path; /* here */
};

struct zm_bundle_file {
	char name[ZM_BUNDLE_NAME];
	uint64_t bytes;
	uint8_t sha256[32];
};

/* What a bundle that is whole holds. */
struct zm_bundle {
	struct zm_bundle_file files[ZM_BUNDLE_FILES];
	size_t nr_files;
	struct zm_public_key signer;
};

/* Can this build make and read bundles? -ENOTSUP, and the sentence. */
int zm_bundle_possible(struct zm_why *why);

/* Into `out`, an empty file opened for reading and writing (zm_outfile). wall_ns: the date of its files. */
int zm_bundle_write(FILE *out, const struct zm_bundle_source *sources, size_t nr_sources,
		    uint64_t wall_ns, const struct zm_signer *signer, struct zm_why *why);

/* Is it whole, and did the key that it names sign it? (Whose key that is, is another question.)
 * -EBADMSG: it is no bundle, or not as it was signed; else what reading gave. */
int zm_bundle_check(int fd, struct zm_bundle *ret_bundle, struct zm_why *why);

/* Copies one file of a bundle that was checked. -ENOENT: it has none of that name. */
int zm_bundle_extract(int fd, const char *name, FILE *out, struct zm_why *why);

#endif
