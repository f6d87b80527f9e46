/* payload: three kinds of content, one digest, one stamp. */
#include "netload/payload.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#define STAMP_MAGIC 0x7a6d5031u
#define CHUNK       4096
#define KEY_BYTES   ZM_PAYLOAD_KEY_BYTES

static const unsigned char zeros[CHUNK];

static const char *const words[] = {
	"page ",  "zone ",   "node ",    "free ",  "list ",      "lock ",  "batch ", "high ",
	"the ",   "of ",     "and ",     "to ",    "allocated ", "freed ", "order ", "0x1f ",
	"cache ", "kernel ", "socket\n", "reads ", "writes ",    "sent ",  "by ",    "cpu ",
};

#define NR_WORDS (sizeof(words) / sizeof(words[0]))

static void key_of(struct zm_random *random, unsigned char key[KEY_BYTES])
{
	uint64_t halves[2] = { zm_random_next(random), zm_random_next(random) };

	memcpy(key, halves, KEY_BYTES);
}

static EVP_CIPHER_CTX *cipher_new(const EVP_CIPHER *cipher, const unsigned char key[KEY_BYTES])
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	const unsigned char start[KEY_BYTES] = { 0 };

	if (context && EVP_EncryptInit_ex(context, cipher, NULL, key, start) == 1)
		return context;
	EVP_CIPHER_CTX_free(context);
	return NULL;
}

static int no_cipher(struct zm_why *why)
{
	return zm_why_set(why, -ENOTSUP,
			  "payload: this libcrypto gives no AES-128; take another one");
}

int zm_payload_open(struct zm_payload *payload, enum zm_net_payload kind, uint64_t seed,
		    unsigned int pair, struct zm_why *why)
{
	unsigned char key[KEY_BYTES];

	*payload = (struct zm_payload){ .kind = kind };
	zm_random_init(&payload->random, seed, pair);
	payload->key = zm_random_next(&payload->random);
	key_of(&payload->random, payload->digest_key);
	if (kind != ZM_NET_PAYLOAD_RANDOM)
		return 0;
	key_of(&payload->random, key);
	payload->stream = cipher_new(EVP_aes_128_ctr(), key);
	return payload->stream ? 0 : no_cipher(why);
}

int zm_payload_open_digest(struct zm_payload *payload, struct zm_why *why)
{
	payload->digest = cipher_new(EVP_aes_128_gcm(), payload->digest_key);
	return payload->digest ? 0 : no_cipher(why);
}

void zm_payload_release(struct zm_payload *payload)
{
	EVP_CIPHER_CTX_free(payload->digest);
	EVP_CIPHER_CTX_free(payload->stream);
	payload->digest = NULL;
	payload->stream = NULL;
}

static int fill_random(struct zm_payload *payload, unsigned char *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t part = size - at < CHUNK ? size - at : CHUNK;
		int written;

		if (EVP_EncryptUpdate(payload->stream, data + at, &written, zeros, (int)part) != 1)
			return -EIO;
		at += part;
	}
	return 0;
}

static void fill_text(struct zm_payload *payload, unsigned char *data, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (words[payload->word][payload->word_at] == '\0') {
			payload->word = zm_random_below(&payload->random, NR_WORDS);
			payload->word_at = 0;
		}
		data[at] = (unsigned char)words[payload->word][payload->word_at++];
	}
}

int zm_payload_fill(struct zm_payload *payload, void *data, size_t size)
{
	switch (payload->kind) {
	case ZM_NET_PAYLOAD_RANDOM:
		return fill_random(payload, data, size);
	case ZM_NET_PAYLOAD_TEXT:
		fill_text(payload, data, size);
		return 0;
	case ZM_NET_PAYLOAD_ZERO:
		break;
	}
	memset(data, 0, size);
	return 0;
}

/* GMAC: GCM with everything authenticated and nothing encrypted. The start value is constant: this
 * is a check against mistakes, not against an enemy. */
int zm_payload_digest_begin(struct zm_payload *payload)
{
	static const unsigned char start[12];

	return EVP_EncryptInit_ex(payload->digest, NULL, NULL, NULL, start) == 1 ? 0 : -EIO;
}

int zm_payload_digest_add(struct zm_payload *payload, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	while (size > 0) {
		size_t part = size < (1u << 30) ? size : (1u << 30);
		int ignored;

		if (EVP_EncryptUpdate(payload->digest, NULL, &ignored, bytes, (int)part) != 1)
			return -EIO;
		bytes += part;
		size -= part;
	}
	return 0;
}

int zm_payload_digest_end(struct zm_payload *payload, uint64_t *ret_digest)
{
	unsigned char tag[16], rest[16];
	int ignored;

	if (EVP_EncryptFinal_ex(payload->digest, rest, &ignored) != 1 ||
	    EVP_CIPHER_CTX_ctrl(payload->digest, EVP_CTRL_AEAD_GET_TAG, sizeof(tag), tag) != 1)
		return -EIO;
	memcpy(ret_digest, tag, sizeof(*ret_digest));
	return 0;
}

int zm_payload_digest(struct zm_payload *payload, const void *message, size_t size,
		      uint64_t *ret_digest)
{
	size_t skip = sizeof(struct zm_stamp);
	int r = zm_payload_digest_begin(payload);

	if (r == 0 && size > skip)
		r = zm_payload_digest_add(payload, (const char *)message + skip, size - skip);
	return r == 0 ? zm_payload_digest_end(payload, ret_digest) : r;
}

static uint64_t mix(uint64_t value)
{
	value ^= value >> 32;
	value *= UINT64_C(0xd6e8feb86659fd93);
	value ^= value >> 32;
	value *= UINT64_C(0xd6e8feb86659fd93);
	return value ^ value >> 32;
}

static uint64_t seal_of(const struct zm_payload *payload, const struct zm_stamp *stamp)
{
	return mix(mix(mix(payload->key ^ stamp->number) ^ stamp->digest) ^ stamp->size);
}

void zm_payload_stamp(const struct zm_payload *payload, void *message, size_t size, uint64_t number,
		      uint64_t digest)
{
	struct zm_stamp stamp = {
		.magic = STAMP_MAGIC,
		.size = (uint32_t)size,
		.number = number,
		.digest = digest,
	};

	stamp.seal = seal_of(payload, &stamp);
	memcpy(message, &stamp, sizeof(stamp));
}

bool zm_payload_is_sealed(const struct zm_payload *payload, const struct zm_stamp *stamp)
{
	return stamp->magic == STAMP_MAGIC && stamp->seal == seal_of(payload, stamp);
}
