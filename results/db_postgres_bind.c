/* db_postgres_bind: numbers as text, which a server reads as whatever type is wanted; blobs as they are. */
#include "results/db_postgres_bind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/utf8.h"

#define BLOB_MOST ((size_t)1 << 29) /* with all that a message holds besides it stays below 1 GiB */

void zm_postgres_unbind(struct zm_postgres_binds *values)
{
	for (int i = 0; i < values->nr; i++)
		free(values->copies[i]);
}

static bool is_utf8(const char *text)
{
	unsigned int character;

	while (*text) {
		size_t size = zm_utf8_next(text, &character);

		if (character == 0xfffd && size == 1)
			return false;
		text += size;
	}
	return true;
}

/* A server takes no text that is not of its encoding; SQLite does. */
static int put_text(struct zm_postgres_binds *values, int place, const char *text)
{
	if (is_utf8(text)) {
		values->texts[place] = text;
		return 0;
	}
	values->copies[place] = zm_utf8_valid(text);
	values->texts[place] = values->copies[place];
	return values->copies[place] ? 0 : -ENOMEM;
}

static int put_value(struct zm_postgres_binds *values, int place, const struct zm_bind *bind)
{
	char *number = values->numbers[place];

	switch (bind->type) {
	case ZM_BIND_INT:
		(void)snprintf(number, sizeof(values->numbers[place]), "%" PRId64, bind->integer);
		values->texts[place] = number;
		break;
	case ZM_BIND_REAL:
		(void)snprintf(number, sizeof(values->numbers[place]), "%.17g", bind->real);
		values->texts[place] = number;
		break;
	case ZM_BIND_TEXT:
		return put_text(values, place, bind->data);
	case ZM_BIND_BLOB:
		if (bind->size > BLOB_MOST)
			return -EFBIG;
		values->texts[place] = bind->data ? bind->data : "";
		values->lengths[place] = (int)bind->size;
		values->are_binary[place] = 1;
		break;
	case ZM_BIND_NULL:
	case ZM_BIND_END:
		break;
	}
	return 0;
}

int zm_postgres_bind(const struct zm_postgres_places *places, const struct zm_bind *binds,
		     struct zm_postgres_binds *values)
{
	size_t nr_binds = 0;
	int error = 0;

	while (binds[nr_binds].type != ZM_BIND_END)
		nr_binds++;
	for (size_t i = 0; i < places->nr && !error; i++) {
		values->nr = (int)i + 1;
		if (places->from[i] < nr_binds)
			error = put_value(values, (int)i, &binds[places->from[i]]);
	}
	return error;
}
