/* uuid: random names (version 4) by which runs and invocations are the same in every store. */
#include "results/uuid.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

int zm_uuid_make(char ret_text[ZM_UUID_SIZE])
{
	uint8_t bytes[16];
	ssize_t got;

	do
		got = getrandom(bytes, sizeof(bytes), 0);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(bytes))
		return got < 0 ? -errno : -EIO;
	bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0, at = 0; i < sizeof(bytes); i++, at += 2) {
		if (form[at] == '-')
			ret_text[at++] = '-';
		(void)snprintf(ret_text + at, 3, "%02x", bytes[i]);
	}
	return 0;
}

bool zm_uuid_is(const char *text)
{
	if (strlen(text) != ZM_UUID_SIZE - 1)
		return false;
	for (size_t i = 0; form[i]; i++) {
		if (form[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdef", text[i]))
			return false;
	}
	return true;
}
