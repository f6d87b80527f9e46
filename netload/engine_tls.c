/*
 * engine_tls: TLS over the pair's TCP connection, by OpenSSL, one message per call.
 *
 *     user     OpenSSL encrypts and decrypts in the task
 *     kernel   OpenSSL shakes hands and gives the keys to the kernel, which does the rest
 *
 * The handshake is over before the gate opens. One cipher, AES-128-GCM, and a key that both ends know:
 * what is measured is the stream, and nobody is to be kept out. TLS 1.2, because for it the kernel can
 * take over both directions whatever OpenSSL's age.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netload/engine.h"
#include "workloads/base/cleanup.h"

#ifdef ZM_HAVE_SSL
#include <openssl/err.h>
#include <openssl/ssl.h>

#define CIPHER   "PSK-AES128-GCM-SHA256"
#define IDENTITY "zonemark"

static const unsigned char shared_key[16] = "zonemark's ends";

struct tls {
	SSL_CTX *context;
	SSL *ssl;
};

/* --- can it be? --- */

/* A connection is needed to switch it on, so being told so means that it is there. */
static bool kernel_has_tls(void)
{
	zm_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) < 0 &&
	       errno == ENOTCONN;
}

static int check(const struct zm_family *family, const struct zm_net_options *options,
		 struct zm_why *why)
{
	(void)family;
	if (options->engine != ZM_NET_ENGINE_SYSCALL || options->zerocopy)
		return zm_why_set(why, -EINVAL,
				  "tls sends by OpenSSL's own calls: engine=syscall zerocopy=off");
	if (options->tls != ZM_NET_TLS_KERNEL)
		return 0;
#ifdef OPENSSL_NO_KTLS
	return zm_why_set(why, -ENOTSUP,
			  "tls=kernel: this OpenSSL was built without kernel TLS; take tls=user");
#endif
	if (kernel_has_tls())
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "tls=kernel: this kernel has no TLS: load it (modprobe tls), boot one "
			  "built with CONFIG_TLS, or take tls=user");
}

/* --- shaking hands --- */

static unsigned int client_key(SSL *ssl, const char *hint, char *identity,
			       unsigned int identity_size, unsigned char *key,
			       unsigned int key_size)
{
	(void)ssl;
	(void)hint;
	if (identity_size < sizeof(IDENTITY) || key_size < sizeof(shared_key))
		return 0;
	memcpy(identity, IDENTITY, sizeof(IDENTITY));
	memcpy(key, shared_key, sizeof(shared_key));
	return sizeof(shared_key);
}

static unsigned int server_key(SSL *ssl, const char *identity, unsigned char *key,
			       unsigned int key_size)
{
	(void)ssl;
	if (strcmp(identity, IDENTITY) != 0 || key_size < sizeof(shared_key))
		return 0;
	memcpy(key, shared_key, sizeof(shared_key));
	return sizeof(shared_key);
}

static const char *openssl_error(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	return text ? text : "unknown error";
}

/* -EPROTO, with what OpenSSL says. */
static int fail(struct zm_why *why, const char *what)
{
	return zm_why_set(why, -EPROTO, "tls: %s: %s", what, openssl_error());
}

static int make_context(struct tls *tls, const struct zm_net_options *options, struct zm_why *why)
{
	tls->context = SSL_CTX_new(TLS_method());
	if (!tls->context || SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(tls->context, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(tls->context, CIPHER) != 1)
		return fail(why, CIPHER);
	SSL_CTX_set_psk_client_callback(tls->context, client_key);
	SSL_CTX_set_psk_server_callback(tls->context, server_key);
	(void)SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
	/* The sender ends its stream as others do, by shutting it down; the totals of both ends are
	 * compared afterwards. */
	(void)SSL_CTX_set_options(tls->context, SSL_OP_IGNORE_UNEXPECTED_EOF |
							SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
	if (options->tls != ZM_NET_TLS_USER)
		(void)SSL_CTX_set_options(tls->context, SSL_OP_ENABLE_KTLS);
	return 0;
}

static int shake_hands(struct tls *tls, int fd, bool is_client, struct zm_why *why)
{
	int r;

	tls->ssl = SSL_new(tls->context);
	if (!tls->ssl || SSL_set_fd(tls->ssl, fd) != 1)
		return fail(why, "a session");
	r = is_client ? SSL_connect(tls->ssl) : SSL_accept(tls->ssl);
	return r == 1 ? 0 : fail(why, "the handshake");
}

static bool is_in_kernel(const struct tls *tls, bool is_sender)
{
	return is_sender ? BIO_get_ktls_send(SSL_get_wbio(tls->ssl))
			 : BIO_get_ktls_recv(SSL_get_rbio(tls->ssl));
}

static int open_engine(struct zm_flow *flow, bool is_client, struct zm_why *why)
{
	struct tls *tls = calloc(1, sizeof(*tls));
	int r;

	if (!tls)
		return zm_why_set(why, -ENOMEM, "no memory for a TLS session");
	flow->engine_state = tls;
	r = make_context(tls, flow->options, why);
	if (r == 0)
		r = shake_hands(tls, flow->fd, is_client, why);
	if (r < 0)
		return r;
	flow->is_tls_in_kernel = is_in_kernel(tls, flow->out.nr > 0);
	if (flow->options->tls == ZM_NET_TLS_KERNEL && !flow->is_tls_in_kernel)
		return zm_why_set(why, -ENOTSUP,
				  "tls=kernel: the kernel did not take " CIPHER
				  " over (it needs its own AES-GCM: modprobe gcm); take tls=user");
	return 0;
}

static void close_engine(struct zm_flow *flow)
{
	struct tls *tls = flow->engine_state;

	if (!tls)
		return;
	SSL_free(tls->ssl);
	SSL_CTX_free(tls->context);
	free(tls);
	flow->engine_state = NULL;
}

/* --- moving --- */

/* What a call that did not succeed means: 1: once more; 0: the stream's end; or -errno. */
static int judge(const struct tls *tls, int result)
{
	int error = errno;

	switch (SSL_get_error(tls->ssl, result)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 1; /* a signal came */
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		return error ? -error : -ECONNRESET;
	default:
		return -EPROTO;
	}
}

static int send_one(const struct tls *tls, const struct iovec *message)
{
	size_t done = 0;
	int r;

	do {
		ERR_clear_error();
		errno = 0;
		r = SSL_write_ex(tls->ssl, message->iov_base, message->iov_len, &done);
		if (r == 1)
			return 0;
		r = judge(tls, r);
	} while (r > 0);
	return r < 0 ? r : -EPIPE;
}

static int send_all(struct zm_flow *flow, const struct iovec *messages, unsigned int nr,
		    struct zm_moved *moved)
{
	for (unsigned int i = 0; i < nr; i++) {
		int r = send_one(flow->engine_state, &messages[i]);

		if (r < 0)
			return r;
		moved->messages++;
		moved->bytes += messages[i].iov_len;
	}
	return 0;
}

static int recv_some(struct zm_flow *flow, struct zm_piece *pieces)
{
	const struct iovec *slot = zm_ring_take(&flow->in);
	struct tls *tls = flow->engine_state;
	int r;

	*pieces = (struct zm_piece){ .data = slot->iov_base, .messages = 1 };
	do {
		ERR_clear_error();
		errno = 0;
		r = SSL_read_ex(tls->ssl, slot->iov_base, slot->iov_len, &pieces->size);
		if (r == 1)
			return 1;
		r = judge(tls, r);
	} while (r > 0);
	return r;
}

const struct zm_net_engine zm_net_engine_tls = {
	.name = "tls",
	.check = check,
	.open = open_engine,
	.send = send_all,
	.recv = recv_some,
	.close = close_engine,
};

#else

static int check(const struct zm_family *family, const struct zm_net_options *options,
		 struct zm_why *why)
{
	(void)family;
	(void)options;
	return zm_why_set(why, -ENOTSUP,
			  "tls: this zonemark was built without libssl; install libssl-dev and "
			  "build again");
}

const struct zm_net_engine zm_net_engine_tls = { .name = "tls", .check = check };
#endif
