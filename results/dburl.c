/* dburl: the pieces of a URL are looked for by hand, so that also a wrong one shows no password. */
#include "results/dburl.h"

#include <stdlib.h>
#include <string.h>

bool zm_dburl_is(const char *path)
{
	return strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0;
}

/* Where a URL's pieces begin; `at` is NULL without credentials. */
struct pieces {
	const char *credentials, *at, *settings;
};

static struct pieces find_pieces(const char *url)
{
	struct pieces pieces = { .credentials = strstr(url, "//") + 2 };

	pieces.settings = strchrnul(pieces.credentials, '?');
	pieces.at =
		memrchr(pieces.credentials, '@', (size_t)(pieces.settings - pieces.credentials));
	return pieces;
}

/* NULL-terminated names, each with its '='. */
static bool is_one_of(const char *setting, const char *const *names)
{
	for (; *names; names++) {
		if (strncasecmp(setting, *names, strlen(*names)) == 0)
			return true;
	}
	return false;
}

static bool is_public(const char *setting)
{
	return !is_one_of(setting, (const char *const[]){ "password=", "sslpassword=", NULL });
}

static bool is_place(const char *setting)
{
	return is_one_of(setting,
			 (const char *const[]){ "host=", "hostaddr=", "port=", "dbname=", NULL });
}

static char *put(char *out, const char *from, const char *to)
{
	return mempcpy(out, from, (size_t)(to - from));
}

static char *put_settings(char *out, const char *settings, bool (*is_wanted)(const char *setting))
{
	char before = '?';

	while (*settings) {
		const char *end = strchrnul(settings + 1, '&');

		if (is_wanted(settings + 1)) {
			*out++ = before;
			out = put(out, settings + 1, end);
			before = '&';
		}
		settings = end;
	}
	return out;
}

char *zm_dburl_public(const char *path)
{
	char *public = strdup(path), *out = public;
	struct pieces pieces;

	if (!public || !zm_dburl_is(path))
		return public;
	pieces = find_pieces(path);
	out = put(out, path, pieces.credentials);
	if (pieces.at) {
		const char *colon =
			memchr(pieces.credentials, ':', (size_t)(pieces.at - pieces.credentials));

		out = put(out, pieces.credentials, colon ? colon : pieces.at);
	}
	out = put(out, pieces.at ? pieces.at : pieces.credentials, pieces.settings);
	*put_settings(out, pieces.settings, is_public) = '\0';
	return public;
}

char *zm_dburl_place(const char *path)
{
	static const char scheme[] = "postgresql://"; /* also for the shorter one */
	char *place = malloc(sizeof(scheme) + strlen(path)), *out = place;
	struct pieces pieces;

	if (!place)
		return NULL;
	if (!zm_dburl_is(path))
		return memcpy(place, path, strlen(path) + 1);
	pieces = find_pieces(path);
	out = put(out, scheme, scheme + sizeof(scheme) - 1);
	out = put(out, pieces.at ? pieces.at + 1 : pieces.credentials, pieces.settings);
	*put_settings(out, pieces.settings, is_place) = '\0';
	return place;
}
