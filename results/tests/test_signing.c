/*
 * signing: keys made, read and refused; what one key signed, no other did.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/signing.h"
#include "workloads/base/tests/tree.h"

static struct tree tree;

static const char *path(const char *name)
{
	static char text[256];

	(void)snprintf(text, sizeof(text), "%s/%s", tree.path, name);
	return text;
}

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static void write_text(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(path(name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path(name), mode), 0);
}

static struct zm_signer *make_signer(const char *name)
{
	struct zm_signer *signer = NULL;

	assert_int_equal(zm_signer_make(path(name), NULL), 0);
	assert_int_equal(zm_signer_open(path(name), &signer, NULL), 0);
	return signer;
}

static void a_new_key_is_its_owners_alone(void **state)
{
	struct zm_signer *signer = make_signer("deep/er/key.pem");
	struct zm_public_key public;
	char fingerprint[ZM_FINGERPRINT_SIZE];
	struct zm_why why;
	struct stat info;

	(void)state;
	assert_int_equal(stat(path("deep/er/key.pem"), &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(zm_public_key_read(path("deep/er/key.pem.pub"), &public, NULL), 0);
	assert_memory_equal(public.bytes, zm_signer_public(signer)->bytes, sizeof(public.bytes));
	zm_public_key_fingerprint(&public, fingerprint);
	assert_int_equal(strlen(fingerprint), 64);
	assert_int_equal(zm_signer_make(path("deep/er/key.pem"), &why), -EEXIST);
	zm_signer_free(signer);
}

/* A key of RFC 8410, section 10.1, and what openssl and sha256sum say of it. */
static void the_fingerprint_is_what_others_compute(void **state)
{
	struct zm_public_key public;
	char fingerprint[ZM_FINGERPRINT_SIZE];

	(void)state;
	write_text("rfc.pub",
		   "-----BEGIN PUBLIC KEY-----\n"
		   "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
		   "-----END PUBLIC KEY-----\n",
		   0644);
	assert_int_equal(zm_public_key_read(path("rfc.pub"), &public, NULL), 0);
	zm_public_key_fingerprint(&public, fingerprint);
	assert_string_equal(fingerprint,
			    "a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f");
}

static void what_was_signed_is_told_from_what_was_not(void **state)
{
	struct zm_signer *one = make_signer("one.pem"), *other = make_signer("other.pem");
	char text[] = "what was measured";
	struct zm_signature signature;

	(void)state;
	assert_int_equal(zm_signer_sign(one, text, sizeof(text), &signature, NULL), 0);
	assert_int_equal(zm_signature_check(zm_signer_public(one), text, sizeof(text), &signature),
			 0);
	assert_int_equal(
		zm_signature_check(zm_signer_public(other), text, sizeof(text), &signature),
		-EBADMSG);
	assert_int_equal(
		zm_signature_check(zm_signer_public(one), text, sizeof(text) - 1, &signature),
		-EBADMSG);
	for (size_t i = 0; i < 8 * sizeof(text); i++) {
		text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
		assert_int_equal(
			zm_signature_check(zm_signer_public(one), text, sizeof(text), &signature),
			-EBADMSG);
		text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
	}
	for (size_t i = 0; i < 8 * sizeof(signature.bytes); i++) {
		signature.bytes[i / 8] = (uint8_t)(signature.bytes[i / 8] ^ 1u << i % 8);
		assert_int_equal(
			zm_signature_check(zm_signer_public(one), text, sizeof(text), &signature),
			-EBADMSG);
		signature.bytes[i / 8] = (uint8_t)(signature.bytes[i / 8] ^ 1u << i % 8);
	}
	zm_signer_free(one);
	zm_signer_free(other);
	zm_signer_free(NULL);
}

static void a_file_that_is_no_key_is_refused(void **state)
{
	static const struct {
		const char *name, *text;
		mode_t mode;
		int error;
		const char *says;
	} cases[] = {
		{ "empty", "", 0600, -EINVAL, "no private Ed25519 key" },
		{ "text", "hello\n", 0600, -EINVAL, "no private Ed25519 key" },
		{ "open", "hello\n", 0644, -EACCES, "chmod 600" },
		{ "cut", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n", 0600, -EINVAL,
		  "no private Ed25519 key" },
	};
	struct zm_signer *signer = NULL;
	struct zm_public_key public;
	struct zm_why why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_text(cases[i].name, cases[i].text, cases[i].mode);
		assert_int_equal(zm_signer_open(path(cases[i].name), &signer, &why),
				 cases[i].error);
		assert_non_null(strstr(why.text, cases[i].says));
		assert_int_equal(zm_public_key_read(path(cases[i].name), &public, &why), -EINVAL);
	}
	assert_null(signer);
	assert_int_equal(zm_signer_open(path("absent"), &signer, &why), -ENOENT);
	assert_int_equal(zm_signer_open(tree.path, &signer, &why), -EINVAL);
	assert_int_equal(zm_signer_open("/dev/zero", &signer, &why), -EINVAL);
}

static void digits_are_read_as_they_are_written(void **state)
{
	static const char *const bad[] = { "", "0", "0g", "0A", "000", " 0", "0 " };
	uint8_t byte = 7;
	char text[3];

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		byte = (uint8_t)i;
		zm_hex_print(&byte, 1, text);
		byte = 0;
		assert_int_equal(zm_hex_parse(text, &byte, 1), 0);
		assert_int_equal(byte, i);
	}
	byte = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(zm_hex_parse(bad[i], &byte, 1), -EINVAL);
	assert_int_equal(byte, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_key_is_its_owners_alone),
		cmocka_unit_test(the_fingerprint_is_what_others_compute),
		cmocka_unit_test(what_was_signed_is_told_from_what_was_not),
		cmocka_unit_test(a_file_that_is_no_key_is_refused),
		cmocka_unit_test(digits_are_read_as_they_are_written),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
