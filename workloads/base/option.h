/*
 * option: a typed row per option; help, checking and the record of effective values come from it.
 *
 *     struct my_options { uint64_t size; char *dir; };
 *     static const struct zm_option rows[] = {
 *             { .name = "size", .type = ZM_OPTION_SIZE, .offset = offsetof(struct my_options, size),
 *               .preset = "128M", .min = 4096, .help = "bytes mapped at a time" },
 *             { .name = NULL },
 *     };
 *
 * An option struct is plain memory: strings in it belong to it (zm_options_release frees them).
 */
#ifndef ZM_WORKLOADS_BASE_OPTION_H
#define ZM_WORKLOADS_BASE_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/units.h"
#include "workloads/base/why.h"

enum zm_option_type {
	ZM_OPTION_BOOL,     /* bool: 1, 0, on, off, yes, no, true, false */
	ZM_OPTION_U64,      /* uint64_t */
	ZM_OPTION_DOUBLE,   /* double */
	ZM_OPTION_SIZE,     /* uint64_t, bytes */
	ZM_OPTION_DURATION, /* uint64_t, ns */
	ZM_OPTION_AMOUNT,   /* struct zm_amount: a count or a percentage */
	ZM_OPTION_CHOICE,   /* unsigned int, an index into choices */
	ZM_OPTION_STRING,   /* char *, NULL when unset, which is written as the empty text */
};

struct zm_option {
	const char *name; /* as the field names it: "nr_task"; NULL ends the rows */
	enum zm_option_type type;
	size_t offset;      /* into the option struct */
	const char *preset; /* the default, in the form a user types; NULL only for strings */
	/* Bounds of numeric types, in base units; max 0 means none. As min is at least 0, no double is
	 * negative. A percentage is only asked to be above 0 where min is. */
	uint64_t min;
	uint64_t max;
	const char *const *choices; /* NULL-terminated, for ZM_OPTION_CHOICE */
	const char *help;           /* one line, no full stop */
	const char *unit;           /* a word for help: "bytes", "tasks"; may be NULL */
	const char *also; /* another name that the field has for it, taken too; may be NULL */
};

/* Fills the struct with every row's preset. Called once on zeroed memory; -EINVAL names a bad row. */
int zm_options_init(const struct zm_option *rows, void *options, struct zm_why *why);
void zm_options_release(const struct zm_option *rows, void *options);

/* The row of that name, its own or the other, or NULL. */
const struct zm_option *zm_option_find(const struct zm_option *rows, const char *name);

/* Sets one option from text. -ENOENT: no such row (the sentence suggests the nearest), -EINVAL or
 * -ERANGE: a bad value (the sentence says what is taken). */
int zm_option_set(const struct zm_option *rows, void *options, const char *name, const char *value,
		  struct zm_why *why);

/* The effective value in canonical form, which reads back as the same value. */
int zm_option_print(const struct zm_option *row, const void *options, char *buf, size_t size);

/* The nearest of a NULL-terminated list by edit distance (at most a third of the word), or NULL. */
const char *zm_option_nearest(const char *word, const char *const *names);

#endif
