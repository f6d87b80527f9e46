/* signing: PEM files to keys by OpenSSL; all else is bytes. */
#include "results/signing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

#define KEY_FILE_MOST 65536 /* bytes */

struct zm_signer {
	EVP_PKEY *key;
	struct zm_public_key public;
};

static void free_key(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}
#define autokey __attribute__((cleanup(free_key)))

void zm_hex_print(const uint8_t *bytes, size_t size, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		ret_text[2 * i] = digits[bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_text[2 * size] = '\0';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int zm_hex_parse(const char *text, uint8_t *ret_bytes, size_t size)
{
	if (strlen(text) != 2 * size)
		return -EINVAL;
	for (size_t i = 0; i < 2 * size; i++) {
		if (digit(text[i]) < 0)
			return -EINVAL;
	}
	for (size_t i = 0; i < size; i++)
		ret_bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	return 0;
}

/* --- public keys --- */

static int take_public(const EVP_PKEY *key, struct zm_public_key *ret_key)
{
	struct zm_public_key public;
	size_t size = sizeof(public.bytes);

	if (EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 ||
	    EVP_PKEY_get_raw_public_key(key, public.bytes, &size) != 1 ||
	    size != sizeof(public.bytes))
		return -EINVAL;
	*ret_key = public;
	return 0;
}

/* The key behind this prefix is the whole DER form. */
void zm_public_key_fingerprint(const struct zm_public_key *key, char ret_text[ZM_FINGERPRINT_SIZE])
{
	static const uint8_t prefix[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
					  0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };
	uint8_t der[sizeof(prefix) + ZM_PUBLIC_KEY_SIZE], digest[EVP_MAX_MD_SIZE] = { 0 };

	memcpy(der, prefix, sizeof(prefix));
	memcpy(der + sizeof(prefix), key->bytes, sizeof(key->bytes));
	(void)EVP_Digest(der, sizeof(der), digest, NULL, EVP_sha256(), NULL);
	zm_hex_print(digest, ZM_FINGERPRINT_SIZE / 2, ret_text);
}

/* A file that is no device or pipe, of a size that a key can have. */
static int open_file(const char *path, FILE **ret_file, struct stat *ret_stat, struct zm_why *why)
{
	zm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, ret_stat) < 0)
		return zm_why_errno(why, -errno, "%s", path);
	if (!S_ISREG(ret_stat->st_mode) || ret_stat->st_size > KEY_FILE_MOST)
		return zm_why_set(why, -EINVAL, "%s: no key: a PEM file is wanted", path);
	*ret_file = fdopen(fd, "r");
	if (!*ret_file)
		return zm_why_errno(why, -errno, "%s", path);
	fd = -1;
	return 0;
}

int zm_public_key_read(const char *path, struct zm_public_key *ret_key, struct zm_why *why)
{
	zm_autofclose FILE *file = NULL;
	autokey EVP_PKEY *key = NULL;
	struct stat info;
	int r = open_file(path, &file, &info, why);

	if (r < 0)
		return r;
	key = PEM_read_PUBKEY(file, NULL, NULL, NULL);
	if (!key || take_public(key, ret_key) < 0)
		return zm_why_set(why, -EINVAL,
				  "%s: no public Ed25519 key in PEM (BEGIN PUBLIC KEY)", path);
	return 0;
}

int zm_signature_check(const struct zm_public_key *key, const void *data, size_t size,
		       const struct zm_signature *signature)
{
	autokey EVP_PKEY *pkey =
		EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->bytes, sizeof(key->bytes));
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_good =
		pkey && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, pkey) == 1 &&
		EVP_DigestVerify(context, signature->bytes, sizeof(signature->bytes), data, size) ==
			1;

	EVP_MD_CTX_free(context);
	return is_good ? 0 : -EBADMSG;
}

/* --- private keys --- */

/* Beside the store that nobody named. */
int zm_signer_default_path(char *buf, size_t size)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;

	if (data && data[0] == '/')
		n = snprintf(buf, size, "%s/zonemark/key.pem", data);
	else if (home && home[0])
		n = snprintf(buf, size, "%s/.local/share/zonemark/key.pem", home);
	else
		n = snprintf(buf, size, "/var/lib/zonemark/key.pem");
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

/* An encrypted key would be asked for on the terminal: it is refused. */
static int no_password(char *buf, int size, int is_writing, void *context)
{
	(void)buf;
	(void)size;
	(void)is_writing;
	(void)context;
	return -1;
}

int zm_signer_open(const char *path, struct zm_signer **ret_signer, struct zm_why *why)
{
	zm_autofclose FILE *file = NULL;
	struct zm_signer *signer;
	struct stat info;
	int r = open_file(path, &file, &info, why);

	if (r < 0)
		return r;
	if (info.st_mode & (S_IRWXG | S_IRWXO))
		return zm_why_set(why, -EACCES,
				  "%s: others can read this private key; chmod 600 %s", path, path);
	signer = calloc(1, sizeof(*signer));
	if (!signer)
		return zm_why_errno(why, -ENOMEM, "%s", path);
	signer->key = PEM_read_PrivateKey(file, NULL, no_password, NULL);
	if (!signer->key || take_public(signer->key, &signer->public) < 0) {
		zm_signer_free(signer);
		return zm_why_set(why, -EINVAL,
				  "%s: no private Ed25519 key in PEM without a password; `openssl "
				  "genpkey -algorithm ed25519` makes one",
				  path);
	}
	*ret_signer = signer;
	return 0;
}

void zm_signer_free(struct zm_signer *signer)
{
	if (!signer)
		return;
	EVP_PKEY_free(signer->key);
	free(signer);
}

const struct zm_public_key *zm_signer_public(const struct zm_signer *signer)
{
	return &signer->public;
}

int zm_signer_sign(const struct zm_signer *signer, const void *data, size_t size,
		   struct zm_signature *ret_signature, struct zm_why *why)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	struct zm_signature signature;
	size_t length = sizeof(signature.bytes);
	bool is_good = context && EVP_DigestSignInit(context, NULL, NULL, NULL, signer->key) == 1 &&
		       EVP_DigestSign(context, signature.bytes, &length, data, size) == 1 &&
		       length == sizeof(signature.bytes);

	EVP_MD_CTX_free(context);
	if (!is_good)
		return zm_why_set(why, -EIO, "OpenSSL could not sign");
	*ret_signature = signature;
	return 0;
}

/* --- a new key --- */

static int make_folders(const char *path)
{
	char folder[PATH_MAX];
	int n = snprintf(folder, sizeof(folder), "%s", path);

	if (n < 0 || (size_t)n >= sizeof(folder))
		return -ENAMETOOLONG;
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static int write_key(const char *path, const EVP_PKEY *key, bool is_private, struct zm_why *why)
{
	zm_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
				   is_private ? 0600 : 0644);
	zm_autofclose FILE *file = NULL;
	bool is_written;

	if (fd < 0)
		return zm_why_errno(why, -errno, "a new key, %s", path);
	file = fdopen(fd, "w");
	if (!file)
		return zm_why_errno(why, -errno, "a new key, %s", path);
	fd = -1;
	is_written = is_private
			     ? PEM_write_PKCS8PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1
			     : PEM_write_PUBKEY(file, key) == 1;
	errno = EIO;
	if (!is_written || fflush(file) != 0 || fsync(fileno(file)) < 0) {
		int error = -errno;

		(void)unlink(path);
		return zm_why_errno(why, error, "a new key, %s", path);
	}
	return 0;
}

int zm_signer_make(const char *path, struct zm_why *why)
{
	autokey EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	zm_autofree char *public = NULL;
	int r;

	if (!key || asprintf(&public, "%s.pub", path) < 0)
		return zm_why_set(why, -EIO, "%s: OpenSSL could not make a key", path);
	r = make_folders(path);
	if (r < 0)
		return zm_why_errno(why, r, "a new key, %s", path);
	r = write_key(path, key, true, why);
	if (r == 0) {
		r = write_key(public, key, false, why);
		if (r < 0)
			(void)unlink(path);
	}
	return r;
}
