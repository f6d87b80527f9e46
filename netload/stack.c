/* stack: three forms of files, one list of counters that they are added to. */
#include "netload/stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum form {
	FORM_TABLE,   /* a line of names, a line of values */
	FORM_LINES,   /* a name and a value per line */
	FORM_SOFTNET, /* hexadecimal columns, a line per CPU */
};

struct row {
	const char *name; /* below proc/net or proc/PID/net */
	enum form form;
	bool is_global; /* the same in every namespace */
};

static const struct row rows[ZM_STACK_FILES] = {
	{ "snmp", FORM_TABLE, false },          { "netstat", FORM_TABLE, false },
	{ "snmp6", FORM_LINES, false },         { "sctp/snmp", FORM_LINES, false },
	{ "softnet_stat", FORM_SOFTNET, true },
};

static const char *const softnet_columns[] = { "softnet.processed", "softnet.dropped",
					       "softnet.time_squeeze" };

#define NR_SOFTNET (sizeof(softnet_columns) / sizeof(softnet_columns[0]))

/* Prefixes and whole names that are not kept. */
static const char *const unkept[] = { "MPTcpExt.", "UdpLite", "IcmpMsg.", "Icmp6InType",
				      "Icmp6OutType" };
static const char *const gauges[] = { "Ip.Forwarding",     "Ip.DefaultTTL",  "Tcp.RtoAlgorithm",
				      "Tcp.RtoMin",        "Tcp.RtoMax",     "Tcp.MaxConn",
				      "Tcp.CurrEstab",     "SctpCurrEstab",  "SctpRtoMin",
				      "SctpRtoMax",        "SctpRtoInitial", "SctpRtoAlgorithm",
				      "SctpValCookieLife", "SctpMaxInitRetr" };

static bool is_kept(const char *name)
{
	for (size_t i = 0; i < sizeof(unkept) / sizeof(unkept[0]); i++)
		if (strncmp(name, unkept[i], strlen(unkept[i])) == 0)
			return false;
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		if (strcmp(name, gauges[i]) == 0)
			return false;
	return true;
}

uint64_t zm_stack_rise(uint64_t last, uint64_t now)
{
	if (now >= last)
		return now - last;
	if (last - now > UINT32_MAX / 2 && last - now <= UINT32_MAX)
		return (UINT64_C(1) << 32) - (last - now);
	return 0;
}

/* --- counters --- */

/* A file gives them in the same order every time: the one after the last is tried first. */
static struct zm_stack_counter *find_counter(struct zm_stack *stack, const char *name)
{
	size_t i = stack->expected;

	if (i < stack->nr_counters && strcmp(stack->counters[i].name, name) == 0) {
		stack->expected++;
		return &stack->counters[i];
	}
	for (i = 0; i < stack->nr_counters; i++)
		if (strcmp(stack->counters[i].name, name) == 0) {
			stack->expected = i + 1;
			return &stack->counters[i];
		}
	return NULL;
}

static int add_counter(struct zm_stack *stack, const char *name, uint64_t value)
{
	struct zm_stack_counter *grown =
		realloc(stack->counters, (stack->nr_counters + 1) * sizeof(*grown));
	struct zm_stack_counter *counter;

	if (!grown)
		return -ENOMEM;
	stack->counters = grown;
	counter = &grown[stack->nr_counters++];
	*counter = (struct zm_stack_counter){ .total = value };
	counter->last[stack->space] = value;
	counter->has_last[stack->space] = true;
	(void)snprintf(counter->name, sizeof(counter->name), "%s", name);
	return 0;
}

/* A figure of a file. While the stack is opened it makes its counter. */
static int take(struct zm_stack *stack, const char *name, uint64_t value, bool is_opening)
{
	unsigned int space = stack->space;
	struct zm_stack_counter *counter;

	if (!is_kept(name))
		return 0;
	counter = find_counter(stack, name);
	if (!counter)
		return is_opening ? add_counter(stack, name, value) : 0;
	if (counter->has_last[space])
		counter->total += zm_stack_rise(counter->last[space], value);
	counter->last[space] = value;
	counter->has_last[space] = true;
	return 0;
}

/* --- forms --- */

/* The next word of a line, without blanks; *at moves behind it. Length 0 at the line's end. */
static size_t next_word(const char **at, const char **ret_word)
{
	*at += strspn(*at, " \t");
	*ret_word = *at;
	*at += strcspn(*at, " \t\n");
	return (size_t)(*at - *ret_word);
}

static bool parse_number(const char *word, size_t length, int base, uint64_t *ret_value)
{
	char *end;

	if (length == 0 || *word == '-')
		return false;
	errno = 0;
	*ret_value = strtoull(word, &end, base);
	return errno == 0 && end == word + length;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* "Udp: InDatagrams NoPorts" over "Udp: 5 0". */
static int take_pair(struct zm_stack *stack, const char *names, const char *values, bool is_opening)
{
	const char *prefix, *word, *number;
	size_t prefix_length = next_word(&names, &prefix);
	size_t length;
	uint64_t value;
	int r = 0;

	if (prefix_length < 2 || strncmp(prefix, values, prefix_length) != 0)
		return 0;
	(void)next_word(&values, &number);
	while (r == 0 && (length = next_word(&names, &word)) > 0) {
		size_t digits = next_word(&values, &number);
		char name[ZM_STACK_NAME];

		if (parse_number(number, digits, 10, &value)) {
			(void)snprintf(name, sizeof(name), "%.*s.%.*s", (int)prefix_length - 1,
				       prefix, (int)length, word);
			r = take(stack, name, value, is_opening);
		}
	}
	return r;
}

static int take_table(struct zm_stack *stack, const char *text, bool is_opening)
{
	int r = 0;

	while (r == 0 && *text) {
		const char *values = next_line(text);

		if (!*values)
			break;
		r = take_pair(stack, text, values, is_opening);
		text = next_line(values);
	}
	return r;
}

static int take_lines(struct zm_stack *stack, const char *text, bool is_opening)
{
	int r = 0;

	for (; r == 0 && *text; text = next_line(text)) {
		const char *at = text, *word, *number;
		size_t length = next_word(&at, &word);
		size_t digits = next_word(&at, &number);
		char name[ZM_STACK_NAME];
		uint64_t value;

		if (length == 0 || !parse_number(number, digits, 10, &value))
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)length, word);
		r = take(stack, name, value, is_opening);
	}
	return r;
}

/* Columns of 32 bits: each CPU's can run over by itself, so the sums are taken of what is read, and a
 * fall of the sum is one of them running over. */
static int take_softnet(struct zm_stack *stack, const char *text, bool is_opening)
{
	uint64_t sums[NR_SOFTNET] = { 0 };
	int r = 0;

	for (; *text; text = next_line(text)) {
		const char *at = text, *word;

		for (size_t i = 0; i < NR_SOFTNET; i++) {
			size_t length = next_word(&at, &word);
			uint64_t value;

			if (parse_number(word, length, 16, &value))
				sums[i] += value;
		}
	}
	for (size_t i = 0; r == 0 && i < NR_SOFTNET; i++)
		r = take(stack, softnet_columns[i], sums[i], is_opening);
	return r;
}

static int take_file(struct zm_stack *stack, enum form form, const char *text, bool is_opening)
{
	switch (form) {
	case FORM_TABLE:
		return take_table(stack, text, is_opening);
	case FORM_LINES:
		return take_lines(stack, text, is_opening);
	case FORM_SOFTNET:
		break;
	}
	return take_softnet(stack, text, is_opening);
}

/* --- files --- */

static void open_files(struct zm_stack *stack, unsigned int space, const char *directory)
{
	for (unsigned int i = 0; i < ZM_STACK_FILES; i++) {
		char path[64];

		if (rows[i].is_global && space > 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", directory, rows[i].name);
		stack->has_file[space][i] =
			zm_sysfile_open(&stack->files[space][i], stack->root, path) == 0;
	}
}

static void close_files(struct zm_stack *stack, unsigned int space)
{
	for (unsigned int i = 0; i < ZM_STACK_FILES; i++) {
		if (stack->has_file[space][i])
			zm_sysfile_release(&stack->files[space][i]);
		stack->has_file[space][i] = false;
	}
	for (size_t i = 0; i < stack->nr_counters; i++)
		stack->counters[i].has_last[space] = false;
}

static int read_files(struct zm_stack *stack, bool is_opening)
{
	int first_error = 0;

	for (unsigned int i = 0; i < ZM_STACK_FILES; i++) {
		struct zm_sysfile *file = &stack->files[stack->space][i];
		int r;

		if (!stack->has_file[stack->space][i])
			continue;
		r = zm_sysfile_read(file);
		if (r == 0 || r == -ENOBUFS)
			r = take_file(stack, rows[i].form, file->text, is_opening);
		if (r < 0 && first_error == 0)
			first_error = r;
	}
	return first_error;
}

int zm_stack_open(struct zm_stack *stack, const struct zm_sysroot *root, struct zm_why *why)
{
	int r;

	*stack = (struct zm_stack){ .root = root, .nr_spaces = 1 };
	open_files(stack, 0, "proc/net");
	r = read_files(stack, true);
	if (r < 0)
		return zm_why_errno(why, r, "the network's counters in /proc/net");
	if (stack->nr_counters == 0)
		return zm_why_set(why, -ENOENT, "there are no counters in /proc/net");
	return 0;
}

void zm_stack_release(struct zm_stack *stack)
{
	for (unsigned int space = 0; space < stack->nr_spaces; space++)
		close_files(stack, space);
	free(stack->counters);
	*stack = (struct zm_stack){ 0 };
}

int zm_stack_read(struct zm_stack *stack)
{
	int first_error = 0;

	for (stack->space = 0; stack->space < stack->nr_spaces; stack->space++) {
		int r;

		stack->expected = 0;
		r = read_files(stack, false);
		if (r < 0 && first_error == 0)
			first_error = r;
	}
	return first_error;
}

/* --- namespaces --- */

static bool read_space(const char *owner, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%s/ns/net", owner);
	n = readlink(path, buf, size - 1);
	if (n < 0)
		return false;
	buf[n] = '\0';
	return true;
}

/* Is the task in this process's network namespace? When it cannot be told, it is. */
static bool is_here(pid_t tid)
{
	char own[64], other[64], owner[32];

	(void)snprintf(owner, sizeof(owner), "%d", (int)tid);
	return !read_space("thread-self", own, sizeof(own)) ||
	       !read_space(owner, other, sizeof(other)) || strcmp(own, other) == 0;
}

int zm_stack_follow(struct zm_stack *stack, const pid_t *tids, unsigned int nr_tids)
{
	unsigned int space = 0;

	if (!stack->root->is_live || nr_tids == 0 || is_here(tids[0]))
		return 0;
	for (unsigned int i = 0; i < nr_tids && space < ZM_STACK_SPACES; i++, space++) {
		char directory[32];

		close_files(stack, space);
		(void)snprintf(directory, sizeof(directory), "proc/%d/net", (int)tids[i]);
		open_files(stack, space, directory);
	}
	stack->nr_spaces = space;
	return zm_stack_read(stack);
}
