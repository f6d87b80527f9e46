/*
 * cpuset: bits in a growing array of unsigned long, which is also the kernel's form of an affinity
 * mask. Words beyond nr_words count as zero everywhere, so sets of different sizes compare and
 * combine without growing.
 */
#include "workloads/base/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS  (sizeof(unsigned long) * CHAR_BIT)
#define MAX_WORDS  (ZM_CPUSET_MAX / WORD_BITS + 1)
#define FIRST_MASK 16 /* words: 1,024 CPUs, what most kernels need */

static unsigned long bit_of(unsigned int number)
{
	return 1ul << (number % WORD_BITS);
}

static unsigned long word_at(const struct zm_cpuset *set, size_t index)
{
	return index < set->nr_words ? set->words[index] : 0;
}

static size_t max_words(const struct zm_cpuset *a, const struct zm_cpuset *b)
{
	return a->nr_words > b->nr_words ? a->nr_words : b->nr_words;
}

static int grow_to_hold(struct zm_cpuset *set, unsigned int number)
{
	size_t need = number / WORD_BITS + 1;
	unsigned long *words;

	if (number > ZM_CPUSET_MAX)
		return -ERANGE;
	if (need <= set->nr_words)
		return 0;
	words = reallocarray(set->words, need, sizeof(*words));
	if (!words)
		return -ENOMEM;
	memset(words + set->nr_words, 0, (need - set->nr_words) * sizeof(*words));
	set->words = words;
	set->nr_words = need;
	return 0;
}

/* The set must be large enough. Whole words at a time: hostile lists repeat large ranges. */
static void fill(struct zm_cpuset *set, unsigned int first, unsigned int last)
{
	size_t from = first / WORD_BITS, to = last / WORD_BITS;
	unsigned long low = ~0ul << (first % WORD_BITS);
	unsigned long high = ~0ul >> (WORD_BITS - 1 - last % WORD_BITS);

	if (from == to) {
		set->words[from] |= low & high;
		return;
	}
	set->words[from] |= low;
	for (size_t i = from + 1; i < to; i++)
		set->words[i] = ~0ul;
	set->words[to] |= high;
}

/* dst becomes src, which becomes empty. */
static int replace(struct zm_cpuset *dst, struct zm_cpuset *src)
{
	free(dst->words);
	*dst = *src;
	*src = (struct zm_cpuset){ 0 };
	return 0;
}

void zm_cpuset_release(struct zm_cpuset *set)
{
	int saved = errno;

	if (!set)
		return;
	free(set->words);
	*set = (struct zm_cpuset){ 0 };
	errno = saved;
}

int zm_cpuset_add(struct zm_cpuset *set, unsigned int number)
{
	int error = grow_to_hold(set, number);

	if (!error)
		set->words[number / WORD_BITS] |= bit_of(number);
	return error;
}

void zm_cpuset_remove(struct zm_cpuset *set, unsigned int number)
{
	if (number / WORD_BITS < set->nr_words)
		set->words[number / WORD_BITS] &= ~bit_of(number);
}

bool zm_cpuset_has(const struct zm_cpuset *set, unsigned int number)
{
	return word_at(set, number / WORD_BITS) & bit_of(number);
}

size_t zm_cpuset_count(const struct zm_cpuset *set)
{
	size_t count = 0;

	for (size_t i = 0; i < set->nr_words; i++)
		count += (size_t)__builtin_popcountl(set->words[i]);
	return count;
}

bool zm_cpuset_is_equal(const struct zm_cpuset *a, const struct zm_cpuset *b)
{
	size_t nr_words = max_words(a, b);

	for (size_t i = 0; i < nr_words; i++)
		if (word_at(a, i) != word_at(b, i))
			return false;
	return true;
}

int zm_cpuset_copy(struct zm_cpuset *dst, const struct zm_cpuset *src)
{
	unsigned long *words = NULL;

	if (dst == src)
		return 0;
	if (src->nr_words) {
		words = reallocarray(NULL, src->nr_words, sizeof(*words));
		if (!words)
			return -ENOMEM;
		memcpy(words, src->words, src->nr_words * sizeof(*words));
	}
	free(dst->words);
	dst->words = words;
	dst->nr_words = src->nr_words;
	return 0;
}

void zm_cpuset_and(struct zm_cpuset *dst, const struct zm_cpuset *src)
{
	for (size_t i = 0; i < dst->nr_words; i++)
		dst->words[i] &= word_at(src, i);
}

void zm_cpuset_subtract(struct zm_cpuset *dst, const struct zm_cpuset *src)
{
	for (size_t i = 0; i < dst->nr_words; i++)
		dst->words[i] &= ~word_at(src, i);
}

int zm_cpuset_next(const struct zm_cpuset *set, unsigned int from)
{
	unsigned long word = word_at(set, from / WORD_BITS) & (~0ul << (from % WORD_BITS));

	for (size_t i = from / WORD_BITS; i < set->nr_words; word = word_at(set, ++i))
		if (word)
			return (int)(i * WORD_BITS) + __builtin_ctzl(word);
	return -1;
}

/* --- the list form --------------------------------------------------------------------------- */

struct range {
	unsigned int first, last;
	unsigned int used, group; /* of each group of CPUs, the first `used`; alike: all */
};

/* Digits only; a number too large for the set is kept as one that is just too large. */
static int read_number(const char **at, unsigned int *ret_number)
{
	const char *digit = *at;
	unsigned int number = 0;

	if (!isdigit((unsigned char)*digit))
		return -EINVAL;
	for (; isdigit((unsigned char)*digit); digit++)
		if (number <= ZM_CPUSET_MAX)
			number = number * 10 + (unsigned int)(*digit - '0');
	*at = digit;
	*ret_number = number;
	return 0;
}

static int read_pattern(const char **at, struct range *range)
{
	if (**at != ':')
		return 0;
	++*at;
	if (read_number(at, &range->used) || *(*at)++ != '/' || read_number(at, &range->group))
		return -EINVAL;
	return range->group == 0 || range->used > range->group ? -EINVAL : 0;
}

static int read_range(const char **at, struct range *ret_range)
{
	struct range range = { .used = 1, .group = 1 };

	if (read_number(at, &range.first))
		return -EINVAL;
	range.last = range.first;
	if (**at == '-') {
		++*at;
		if (read_number(at, &range.last) || read_pattern(at, &range))
			return -EINVAL;
	}
	if (range.last < range.first)
		return -EINVAL;
	*ret_range = range;
	return 0;
}

static int add_range(struct zm_cpuset *set, const struct range *range)
{
	int error = grow_to_hold(set, range->last);

	if (error || range->used == 0)
		return error;
	if (range->used == range->group) {
		fill(set, range->first, range->last);
		return 0;
	}
	for (unsigned int start = range->first; start <= range->last; start += range->group) {
		unsigned int end = start + range->used - 1;

		fill(set, start, end < range->last ? end : range->last);
	}
	return 0;
}

static const char *skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int parse_ranges(const char *at, struct zm_cpuset *set)
{
	struct range range;
	int error, too_large = 0;

	for (;; at++) {
		error = read_range(&at, &range);
		if (!error)
			error = add_range(set, &range);
		if (error == -ERANGE)
			too_large = error; /* go on: is the rest of the form at all? */
		else if (error)
			return error;
		if (*at != ',')
			break;
	}
	return *skip_space(at) ? -EINVAL : too_large;
}

int zm_cpuset_parse(const char *text, struct zm_cpuset *ret_set)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	int error = 0;

	text = skip_space(text);
	if (*text)
		error = parse_ranges(text, &set);
	if (error)
		return error;
	return replace(ret_set, &set);
}

/* The last member of the run of neighbours that starts at first. */
static int last_neighbour(const struct zm_cpuset *set, int first)
{
	int last = first;

	while (zm_cpuset_has(set, (unsigned int)last + 1))
		last++;
	return last;
}

size_t zm_cpuset_print(const struct zm_cpuset *set, char *buf, size_t size)
{
	size_t length = 0;
	int last;

	if (size > 0)
		buf[0] = '\0';
	for (int cpu = zm_cpuset_next(set, 0); cpu >= 0;
	     cpu = zm_cpuset_next(set, (unsigned int)last + 1)) {
		char item[32];
		int item_length;

		last = last_neighbour(set, cpu);
		item_length = last > cpu ? snprintf(item, sizeof(item), ",%d-%d", cpu, last)
					 : snprintf(item, sizeof(item), ",%d", cpu);
		if (length < size)
			(void)snprintf(buf + length, size - length, "%s", item + (length == 0));
		length += (size_t)item_length - (length == 0);
	}
	return length;
}

/* --- the kernel's masks ---------------------------------------------------------------------- */

/* The system call itself: it writes as many bytes as the kernel's own mask has, and refuses fewer. */
int zm_cpuset_get_affinity(pid_t tid, struct zm_cpuset *ret_set)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	for (size_t words = FIRST_MASK; words <= 2 * MAX_WORDS; words *= 2) {
		zm_cpuset_release(&set);
		set.words = calloc(words, sizeof(*set.words));
		if (!set.words)
			return -ENOMEM;
		set.nr_words = words;
		if (syscall(SYS_sched_getaffinity, tid, words * sizeof(*set.words), set.words) >= 0)
			return replace(ret_set, &set);
		if (errno != EINVAL)
			return -errno;
	}
	return -EINVAL;
}

int zm_cpuset_set_affinity(pid_t tid, const struct zm_cpuset *set)
{
	size_t bytes = set->nr_words * sizeof(*set->words);

	if (zm_cpuset_next(set, 0) < 0)
		return -EINVAL;
	return syscall(SYS_sched_setaffinity, tid, bytes, set->words) ? -errno : 0;
}
