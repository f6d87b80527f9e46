/*
 * payload: what the messages hold, and the stamp by which a receiver knows them again.
 *
 *     text     words, as a log or a page might hold
 *     random   AES-128 in counter mode, keyed by the run's seed and the pair
 *     zero     zero bytes
 *
 * The same seed and pair give the same bytes on any machine. A stamp (only when the receiver
 * verifies) takes the first 32 bytes of a message: its size, its number in the order of sending, a
 * digest of the bytes behind the stamp (GMAC), and a seal over these three.
 */
#ifndef ZM_NETLOAD_PAYLOAD_H
#define ZM_NETLOAD_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netload/options.h"
#include "workloads/base/random.h"
#include "workloads/base/why.h"

#define ZM_PAYLOAD_KEY_BYTES 16

struct zm_stamp {
	uint32_t magic;
	uint32_t size;
	uint64_t number;
	uint64_t digest;
	uint64_t seal;
};

/* OpenSSL's cipher contexts are opaque here. */
struct zm_payload {
	enum zm_net_payload kind;
	uint64_t key; /* of the seal */
	struct zm_random random;
	struct evp_cipher_ctx_st *stream; /* only with `random` */
	struct evp_cipher_ctx_st *digest; /* only after zm_payload_open_digest */
	unsigned char digest_key[ZM_PAYLOAD_KEY_BYTES];
	size_t word_at; /* text: how much of the present word has been written */
	size_t word;
};

/* Ciphers are made only for who needs them: libcrypto takes a millisecond or two to wake up.
 * -ENOTSUP where this libcrypto lacks AES. */
int zm_payload_open(struct zm_payload *payload, enum zm_net_payload kind, uint64_t seed,
		    unsigned int pair, struct zm_why *why);
int zm_payload_open_digest(struct zm_payload *payload, struct zm_why *why);
void zm_payload_release(struct zm_payload *payload);

/* The next `size` bytes of the pair's content. 0, or -EIO when libcrypto fails. */
int zm_payload_fill(struct zm_payload *payload, void *data, size_t size);

/* A digest of content that may come in parts: begin, add…, end. */
int zm_payload_digest_begin(struct zm_payload *payload);
int zm_payload_digest_add(struct zm_payload *payload, const void *data, size_t size);
int zm_payload_digest_end(struct zm_payload *payload, uint64_t *ret_digest);

/* What is behind the stamp of this message, digested in one go. */
int zm_payload_digest(struct zm_payload *payload, const void *message, size_t size,
		      uint64_t *ret_digest);

/* Writes the stamp into the first bytes of a message of at least sizeof(struct zm_stamp). */
void zm_payload_stamp(const struct zm_payload *payload, void *message, size_t size, uint64_t number,
		      uint64_t digest);
bool zm_payload_is_sealed(const struct zm_payload *payload, const struct zm_stamp *stamp);

#endif
