/*
 * mime: the encodings in which a mail's text travels, undone.
 *
 * All of these take bytes from anywhere, never fail on them, and append UTF-8 or raw bytes to a zm_buf
 * (whose error says that memory ran out). What is damaged is taken as it stands: half a text is worth
 * more to its reader than none.
 */
#ifndef ZM_RESULTS_MIME_H
#define ZM_RESULTS_MIME_H

#include <stdbool.h>
#include <stddef.h>

#include "results/bytes.h"

/* "=3D", "=\n". An '=' that begins neither stays. */
void zm_mime_quoted(struct zm_buf *out, const char *text, size_t length);

/* Everything that is no base64 digit is passed over; '=' ends a group, and more may follow. */
void zm_mime_base64(struct zm_buf *out, const char *text, size_t length);

/* To UTF-8. charset NULL or unknown, or bytes that are not of it: UTF-8 where it is UTF-8, and each
 * byte that is not is taken for windows-1252. NUL bytes become blanks. */
void zm_mime_utf8(struct zm_buf *out, const char *text, size_t length, const char *charset);

/* A header's value with its encoded words ("=?utf-8?q?=C2=B1?=") undone, folded lines joined. */
void zm_mime_words(struct zm_buf *out, const char *text, size_t length);

/* How much of a text fits into `size` bytes without half a character at its end. */
size_t zm_mime_cut(const char *text, size_t length, size_t size);

/* The value of a parameter of a header's value: boundary of `multipart/mixed; boundary="x"`. False:
 * it has none, or it does not fit. */
bool zm_mime_parameter(const char *value, const char *name, char *buf, size_t size);

/* Was this text put into quoted-printable, and never taken out again? */
bool zm_mime_is_quoted(const char *text, size_t length);

#endif
