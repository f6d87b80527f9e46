/* hostlist: commas outside brackets part the list; of each part the brackets are counted through. */
#include "runner/fleet/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

#define NAME_MAX_BYTES 63
#define DIGITS_MAX     9
#define DIGITS         "0123456789"
#define PLAIN          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-"

struct reader {
	const char *text; /* all of it, for the sentence */
	struct zm_hostlist list;
	struct zm_why *why;
};

bool zm_hostlist_is_name(const char *name)
{
	return name[0] && name[0] != '-' && name[0] != '.' && strlen(name) <= NAME_MAX_BYTES &&
	       name[strspn(name, PLAIN)] == '\0';
}

static int refuse(struct reader *reader, const char *part)
{
	return zm_why_set(reader->why, -EINVAL,
			  "'%s' in '%s': machines are like n1,n2 or rack[01-16,20]", part,
			  reader->text);
}

static int add(struct reader *reader, const char *name)
{
	struct zm_hostlist *list = &reader->list;
	char **grown;

	if (!zm_hostlist_is_name(name))
		return refuse(reader, name);
	for (size_t i = 0; i < list->nr; i++) {
		if (strcmp(list->names[i], name) == 0)
			return zm_why_set(reader->why, -EINVAL, "'%s': %s is there twice",
					  reader->text, name);
	}
	if (list->nr == ZM_HOSTLIST_MAX)
		return zm_why_set(reader->why, -ERANGE, "'%s': more than %d machines", reader->text,
				  ZM_HOSTLIST_MAX);
	grown = realloc(list->names, (list->nr + 1) * sizeof(*grown));
	if (grown)
		list->names = grown;
	if (!grown || !(list->names[list->nr] = strdup(name)))
		return zm_why_errno(reader->why, -ENOMEM, "%s", reader->text);
	list->nr++;
	return 0;
}

/* "07-12", "7": digits keep their width. */
static int add_range(struct reader *reader, const char *prefix, const char *range,
		     const char *suffix)
{
	size_t width = strspn(range, DIGITS);
	const char *end = range[width] == '-' ? range + width + 1 : range;
	size_t end_width = strspn(end, DIGITS);
	unsigned long first, last;
	int r = 0;

	if (width == 0 || width > DIGITS_MAX || end_width == 0 || end_width > DIGITS_MAX ||
	    end[end_width] != '\0')
		return refuse(reader, range);
	first = strtoul(range, NULL, 10);
	last = strtoul(end, NULL, 10);
	if (last < first)
		return refuse(reader, range);
	for (unsigned long i = first; r == 0 && i <= last; i++) {
		char name[NAME_MAX_BYTES + 2];
		int n = snprintf(name, sizeof(name), "%s%0*lu%s", prefix, (int)width, i, suffix);

		r = n > NAME_MAX_BYTES ? refuse(reader, range) : add(reader, name);
	}
	return r;
}

/* "rack[01-16,20]-a"; the part is cut up. */
static int add_part(struct reader *reader, char *part)
{
	char *open = strchr(part, '['), *close = open ? strchr(open, ']') : NULL;
	char *rest, *range;
	int r = 0;

	if (!open)
		return add(reader, part);
	if (!close || close == open + 1)
		return refuse(reader, part);
	*open = *close = '\0';
	rest = open + 1;
	while (r == 0 && (range = strsep(&rest, ",")))
		r = add_range(reader, part, range, close + 1);
	return r;
}

/* Up to the next comma that stands in no brackets. */
static char *next_part(char **rest)
{
	char *part = *rest, *at = part;
	bool is_inside = false;

	if (!part)
		return NULL;
	for (; *at && (is_inside || *at != ','); at++)
		is_inside = *at == '[' || (is_inside && *at != ']');
	*rest = *at ? at + 1 : NULL;
	*at = '\0';
	return part;
}

int zm_hostlist_parse(const char *text, struct zm_hostlist *ret_list, struct zm_why *why)
{
	zm_autofree char *copy = strdup(text);
	struct reader reader = { .text = text, .why = why };
	char *rest = copy, *part;
	int r = copy ? 0 : zm_why_errno(why, -ENOMEM, "%s", text);

	while (r == 0 && (part = next_part(&rest)))
		r = add_part(&reader, part);
	if (r < 0)
		zm_hostlist_release(&reader.list);
	else
		*ret_list = reader.list;
	return r;
}

void zm_hostlist_release(struct zm_hostlist *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct zm_hostlist){ 0 };
}
