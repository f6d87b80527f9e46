/*
 * option: lines of NAME=VALUE set options of every type; what was taken prints, reads back and prints
 * the same, what was refused changed nothing and has a sentence.
 */
#include "workloads/base/option.h"
#include "workloads/fuzz/fuzz.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>

struct chosen {
	bool truth;
	uint64_t u64, size, duration_ns;
	double number;
	struct zm_amount amount;
	unsigned int choice;
	char *string;
};

static const char *const choices[] = { "never", "madvise", "always", NULL };

#define ROW(member, kind, value, ...)                                                              \
	{                                                                                          \
		.name = #member, .type = kind, .offset = offsetof(struct chosen, member),          \
		.preset = value, __VA_ARGS__                                                       \
	}

static const struct zm_option rows[] = {
	ROW(truth, ZM_OPTION_BOOL, "off", .unit = NULL),
	ROW(u64, ZM_OPTION_U64, "10", .min = 2, .max = 1000000),
	ROW(size, ZM_OPTION_SIZE, "128M", .min = 4096, .unit = "bytes"),
	ROW(duration_ns, ZM_OPTION_DURATION, "5s", .max = UINT64_C(3600000000000)),
	ROW(number, ZM_OPTION_DOUBLE, "0.5", .max = 4),
	ROW(amount, ZM_OPTION_AMOUNT, "100%", .min = 1, .unit = "tasks"),
	ROW(choice, ZM_OPTION_CHOICE, "madvise", .choices = choices),
	ROW(string, ZM_OPTION_STRING, NULL, .unit = NULL),
	{ .name = NULL },
};

static char *printed(const struct zm_option *row, const struct chosen *chosen, size_t size)
{
	char *buf = malloc(size);

	fuzz_check(buf);
	fuzz_check(zm_option_print(row, chosen, buf, size) == 0);
	return buf;
}

/* The sentence is one line, and says something. */
static void check_sentence(const struct zm_why *why)
{
	fuzz_check(strlen(why->text) > 0 && strlen(why->text) < ZM_WHY_SIZE);
	for (const char *at = why->text; *at; at++)
		fuzz_check(!iscntrl((unsigned char)*at));
}

/* room: what any value so far may need. */
static void set_one(struct chosen *chosen, const char *name, const char *value, size_t room)
{
	const struct zm_option *row = zm_option_find(rows, name);
	struct zm_why why = { "" };
	char *before = row ? printed(row, chosen, room) : NULL, *after;
	int error = zm_option_set(rows, chosen, name, value, &why);

	fuzz_check(row || error == -ENOENT);
	if (error)
		check_sentence(&why);
	if (row) {
		after = printed(row, chosen, error ? room : strlen(value) + 64);
		fuzz_check(!error || strcmp(before, after) == 0);
		fuzz_check(zm_option_set(rows, chosen, name, after, NULL) == 0);
		free(before);
		before = printed(row, chosen, room);
		fuzz_check(strcmp(before, after) == 0);
		free(after);
	}
	free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chosen chosen = { 0 };
	char *text = fuzz_text(data, size), *rest = text;

	fuzz_check(zm_options_init(rows, &chosen, NULL) == 0);
	for (char *line; (line = strsep(&rest, "\n"));) {
		char *value = strchr(line, '=');

		if (value) {
			*value++ = '\0';
			set_one(&chosen, line, value, size + 64);
		} else {
			const char *nearest = zm_option_nearest(line, choices);

			fuzz_check(!nearest || strlen(line) >= 3 || strcmp(line, nearest) == 0);
		}
	}
	zm_options_release(rows, &chosen);
	fuzz_check(!chosen.string);
	free(text);
	return 0;
}
