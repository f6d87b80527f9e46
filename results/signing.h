/*
 * signing: Ed25519 keys in PEM files, and signatures by them (OpenSSL).
 *
 *     key.pem        the private key, mode 0600, as `openssl genpkey -algorithm ed25519` makes it
 *     key.pem.pub    its public half, to be given to those who check
 *     fingerprint    SHA-256 of the public key in DER form, in hexadecimal digits: what
 *                    `openssl pkey -pubin -in key.pem.pub -outform DER | sha256sum` says
 */
#ifndef ZM_RESULTS_SIGNING_H
#define ZM_RESULTS_SIGNING_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

#define ZM_PUBLIC_KEY_SIZE  32
#define ZM_SIGNATURE_SIZE   64
#define ZM_FINGERPRINT_SIZE 65 /* with the terminator */

struct zm_public_key {
	uint8_t bytes[ZM_PUBLIC_KEY_SIZE];
};

struct zm_signature {
	uint8_t bytes[ZM_SIGNATURE_SIZE];
};

struct zm_signer;

/* Where the key is when nobody says: zonemark/key.pem in the data folder. -ENOBUFS. */
int zm_signer_default_path(char *buf, size_t size);

/* Makes a new key and writes both files; missing folders too. -EEXIST: one of them is there. */
int zm_signer_make(const char *path, struct zm_why *why);

/* -ENOENT; -EINVAL: no Ed25519 key in PEM; -EACCES: others may read it, or we may not. */
int zm_signer_open(const char *path, struct zm_signer **ret_signer, struct zm_why *why);
void zm_signer_free(struct zm_signer *signer);

const struct zm_public_key *zm_signer_public(const struct zm_signer *signer);
int zm_signer_sign(const struct zm_signer *signer, const void *data, size_t size,
		   struct zm_signature *ret_signature, struct zm_why *why);

/* A public key in PEM. */
int zm_public_key_read(const char *path, struct zm_public_key *ret_key, struct zm_why *why);
void zm_public_key_fingerprint(const struct zm_public_key *key, char ret_text[ZM_FINGERPRINT_SIZE]);

/* 0: the key's owner signed these bytes; -EBADMSG: not so. */
int zm_signature_check(const struct zm_public_key *key, const void *data, size_t size,
		       const struct zm_signature *signature);

/* Hexadecimal digits, lower case, terminated: 2 * size + 1 bytes. */
void zm_hex_print(const uint8_t *bytes, size_t size, char *ret_text);

/* The reverse, of exactly so many digits; -EINVAL for anything else, capitals too. */
int zm_hex_parse(const char *text, uint8_t *ret_bytes, size_t size);

#endif
