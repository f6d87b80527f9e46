/*
 * driver: runs a fuzzer without libFuzzer: on every file given, then on mutations of them.
 *
 *     driver [--mutations N] [--seed S] [--seconds S] FILE|DIRECTORY …
 *     driver --save N OUTPUT FILE|DIRECTORY …     writes mutation N down, to be run as a file
 *
 * Mutation N is made from the seed and N alone, so that the same ones come every time and each can be
 * made again. A child does the work, and notes in shared memory what it is at; when it dies or hangs,
 * the parent says at which input.
 *
 *     parent: reads the inputs, forks, waits, judges
 *     child:  inputs in the order of their names, then mutations until N or the time is up
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/units.h"
#include "workloads/fuzz/fuzz.h"

#define MAX_LENGTH 65536 /* of a mutation */
#define MAX_EDITS  6
#ifndef HANG_S
#define HANG_S 10
#endif
#define EXIT_USE 2

struct input {
	char *name;
	uint8_t *bytes;
	size_t length;
};

struct inputs {
	struct input *all;
	size_t nr;
};

struct plan {
	uint64_t nr_mutations, seed, seconds;
	uint64_t to_save;
	const char *output; /* NULL: run */
};

/* What the child is at, for the parent to say. */
struct progress {
	uint64_t nr_inputs;    /* begun */
	uint64_t nr_mutations; /* begun */
};

/* --- inputs ---------------------------------------------------------------------------------- */

static bool add_input(struct inputs *inputs, const char *name, const void *bytes, size_t length)
{
	struct input *larger = reallocarray(inputs->all, inputs->nr + 1, sizeof(*larger));
	struct input *input;

	if (!larger)
		return false;
	inputs->all = larger;
	input = &larger[inputs->nr++];
	*input = (struct input){ .name = strdup(name), .bytes = malloc(length + 1) };
	if (!input->name || !input->bytes)
		return false;
	memcpy(input->bytes, bytes, length);
	input->length = length;
	return true;
}

static bool add_file(struct inputs *inputs, const struct zm_sysroot *root, const char *path)
{
	zm_autofree char *text = NULL;
	size_t length;
	int error = zm_sysroot_read(root, path, &text, &length);

	if (error) {
		(void)fprintf(stderr, "%s: %s\n", path, strerrordesc_np(-error));
		return false;
	}
	return add_input(inputs, path, text, length);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* In the order of names, whatever the file system's is. */
static bool add_directory(struct inputs *inputs, const char *path)
{
	struct zm_sysroot root;
	struct dirent **entries;
	bool is_good = true;
	int nr;

	if (zm_sysroot_open(&root, path))
		return false;
	nr = scandir(path, &entries, is_shown, alphasort);
	for (int i = 0; i < nr; i++) {
		is_good = is_good && add_file(inputs, &root, entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	zm_sysroot_release(&root);
	return is_good && nr >= 0;
}

static bool add_path(struct inputs *inputs, const char *path)
{
	char here[] = ".";
	zm_autofree char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	struct zm_sysroot root;
	bool is_good;

	if (add_directory(inputs, path))
		return true;
	if (slash)
		*slash = '\0';
	if (!copy || zm_sysroot_open(&root, !slash ? here : slash == copy ? "/" : copy))
		return false;
	is_good = add_file(inputs, &root, slash ? slash + 1 : copy);
	zm_sysroot_release(&root);
	return is_good;
}

static void release_inputs(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->nr; i++) {
		free(inputs->all[i].name);
		free(inputs->all[i].bytes);
	}
	free(inputs->all);
	*inputs = (struct inputs){ 0 };
}

/* --- mutations ------------------------------------------------------------------------------- */

struct mutation {
	struct zm_random random;
	uint8_t bytes[MAX_LENGTH];
	size_t length;
};

static size_t pick(struct mutation *mutation, size_t bound)
{
	return bound > 0 ? (size_t)zm_random_below(&mutation->random, bound) : 0;
}

/* Puts bytes in at a place; what does not fit falls off the end. */
static void insert(struct mutation *mutation, size_t at, const void *bytes, size_t length)
{
	size_t tail = mutation->length - at;

	if (length > MAX_LENGTH - at)
		length = MAX_LENGTH - at;
	if (tail > MAX_LENGTH - at - length)
		tail = MAX_LENGTH - at - length;
	memmove(mutation->bytes + at + length, mutation->bytes + at, tail);
	memcpy(mutation->bytes + at, bytes, length);
	mutation->length = at + length + tail;
}

static void erase(struct mutation *mutation, size_t at, size_t length)
{
	memmove(mutation->bytes + at, mutation->bytes + at + length,
		mutation->length - at - length);
	mutation->length -= length;
}

static void flip_a_bit(struct mutation *mutation)
{
	if (mutation->length > 0)
		mutation->bytes[pick(mutation, mutation->length)] ^=
			(uint8_t)(1u << pick(mutation, 8));
}

static void set_a_byte(struct mutation *mutation)
{
	static const uint8_t odd[] = { 0,   '\n', ' ', '\t', '-', '+', ',', '.', ':',
				       '/', '=',  '%', '0',  '9', 'e', 'x', 'K', '[',
				       ']', '{',  '"', '\\', 127, 128, 255 };

	if (mutation->length > 0)
		mutation->bytes[pick(mutation, mutation->length)] =
			odd[pick(mutation, sizeof(odd))];
}

static void insert_a_word(struct mutation *mutation)
{
	static const char *const words[] = {
		"0",
		"-1",
		"4294967295",
		"4294967296",
		"18446744073709551615",
		"1e9",
		"99999999999999999999999999",
		"0x7fffffffffffffff",
		"1048576",
		"1048577",
		"nan",
		"inf",
		"\xff\xfe",
		"\xc3",
		"\n\n",
		"%s%n",
		"../../../",
		"=",
		",",
		"-",
	};
	const char *word = words[pick(mutation, sizeof(words) / sizeof(words[0]))];

	insert(mutation, pick(mutation, mutation->length + 1), word, strlen(word));
}

static void erase_a_part(struct mutation *mutation)
{
	size_t at = pick(mutation, mutation->length);
	size_t length = pick(mutation, mutation->length - at + (mutation->length > 0));

	erase(mutation, at, length > 8 && pick(mutation, 4) ? 1 + length % 8 : length);
}

static void repeat_a_part(struct mutation *mutation)
{
	size_t at = pick(mutation, mutation->length);
	size_t length = 1 + pick(mutation, mutation->length - at);
	size_t times = 1 + pick(mutation, pick(mutation, 10) ? 3 : 200);
	zm_autofree uint8_t *part = malloc(length);

	if (mutation->length == 0 || !part)
		return;
	memcpy(part, mutation->bytes + at, length);
	for (size_t i = 0; i < times && mutation->length + length <= MAX_LENGTH; i++)
		insert(mutation, at, part, length);
}

static void splice_another(struct mutation *mutation, const struct inputs *inputs)
{
	const struct input *other = &inputs->all[pick(mutation, inputs->nr)];
	size_t from = pick(mutation, other->length + 1);
	size_t length = pick(mutation, other->length - from + 1);

	insert(mutation, pick(mutation, mutation->length + 1), other->bytes + from, length);
}

static void edit(struct mutation *mutation, const struct inputs *inputs)
{
	switch (pick(mutation, 6)) {
	case 0:
		flip_a_bit(mutation);
		break;
	case 1:
		set_a_byte(mutation);
		break;
	case 2:
		insert_a_word(mutation);
		break;
	case 3:
		erase_a_part(mutation);
		break;
	case 4:
		repeat_a_part(mutation);
		break;
	default:
		splice_another(mutation, inputs);
	}
}

static void mutate(struct mutation *mutation, const struct inputs *inputs, uint64_t seed,
		   uint64_t number)
{
	const struct input *start;
	size_t nr_edits;

	zm_random_init(&mutation->random, seed, number);
	start = &inputs->all[pick(mutation, inputs->nr)];
	nr_edits = 1 + pick(mutation, MAX_EDITS);
	mutation->length = 0;
	insert(mutation, 0, start->bytes, start->length);
	for (size_t i = 0; i < nr_edits; i++)
		edit(mutation, inputs);
}

/* --- the child ------------------------------------------------------------------------------- */

/* In memory of its own that ends where the input ends. */
static void run_one(const uint8_t *bytes, size_t length)
{
	zm_autofree uint8_t *copy = malloc(length > 0 ? length : 1);

	fuzz_check(copy);
	memcpy(copy, bytes, length);
	(void)alarm(HANG_S);
	(void)LLVMFuzzerTestOneInput(copy, length);
	(void)alarm(0);
}

static void run_all(const struct inputs *inputs, const struct plan *plan,
		    volatile struct progress *progress)
{
	uint64_t deadline_ns = zm_clock_now_ns() + plan->seconds * ZM_NS_PER_S;
	zm_autofree struct mutation *mutation = malloc(sizeof(*mutation));

	fuzz_check(mutation);
	for (size_t i = 0; i < inputs->nr; i++) {
		progress->nr_inputs++;
		run_one(inputs->all[i].bytes, inputs->all[i].length);
	}
	for (uint64_t i = 0; i < plan->nr_mutations && zm_clock_now_ns() < deadline_ns; i++) {
		progress->nr_mutations++;
		mutate(mutation, inputs, plan->seed, i);
		run_one(mutation->bytes, mutation->length);
	}
}

/* --- the parent ------------------------------------------------------------------------------ */

static int judge(int status, const struct inputs *inputs, const struct plan *plan,
		 const volatile struct progress *progress)
{
	unsigned long long number = progress->nr_mutations;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		(void)printf("%zu inputs, %llu mutations\n", inputs->nr, number);
		return EXIT_SUCCESS;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		(void)fprintf(stderr, "hangs for more than %d s", HANG_S);
	else if (WIFSIGNALED(status))
		(void)fprintf(stderr, "killed by signal %d", WTERMSIG(status));
	else
		(void)fprintf(stderr, "ended with status %d", WEXITSTATUS(status));
	if (number == 0)
		(void)fprintf(stderr, " at the input %s\n",
			      inputs->all[progress->nr_inputs - 1].name);
	else
		(void)fprintf(stderr,
			      " at mutation %llu of seed %llu; write it down with --seed %llu "
			      "--save %llu FILE and the same inputs\n",
			      number - 1, (unsigned long long)plan->seed,
			      (unsigned long long)plan->seed, number - 1);
	return EXIT_FAILURE;
}

static int run(const struct inputs *inputs, const struct plan *plan)
{
	volatile struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
						  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = -1;
	int status = 0;

	if (progress != MAP_FAILED)
		child = fork();
	if (child < 0) {
		perror("driver");
		return EXIT_USE;
	}
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_all(inputs, plan, progress);
		exit(EXIT_SUCCESS);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return judge(status, inputs, plan, progress);
}

static int save(const struct inputs *inputs, const struct plan *plan)
{
	zm_autofree struct mutation *mutation = malloc(sizeof(*mutation));
	FILE *out = fopen(plan->output, "we");
	bool is_written;

	if (!mutation || !out) {
		perror(plan->output);
		if (out)
			(void)fclose(out);
		return EXIT_USE;
	}
	mutate(mutation, inputs, plan->seed, plan->to_save);
	is_written = fwrite(mutation->bytes, 1, mutation->length, out) == mutation->length;
	if (fclose(out) || !is_written) {
		perror(plan->output);
		return EXIT_USE;
	}
	return EXIT_SUCCESS;
}

/* How many arguments the switch at argv took; 0: it is none; -1: its value is bad. */
static int take_switch(char **argv, struct plan *plan)
{
	const struct {
		const char *name;
		uint64_t *value;
	} switches[] = { { "--mutations", &plan->nr_mutations },
			 { "--seed", &plan->seed },
			 { "--seconds", &plan->seconds },
			 { "--save", &plan->to_save } };

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		if (strcmp(argv[0], switches[i].name) != 0)
			continue;
		if (!argv[1] || zm_units_parse_u64(argv[1], switches[i].value))
			return -1;
		if (switches[i].value != &plan->to_save)
			return 2;
		plan->output = argv[2];
		return argv[2] ? 3 : -1;
	}
	return 0;
}

static int main_of(char **argv, struct inputs *inputs)
{
	struct plan plan = { .seed = 1, .seconds = 60 };

	/* Something to mutate, and an input worth trying, even without any file. */
	if (!add_input(inputs, "(the empty one)", "", 0))
		return EXIT_USE;
	for (int taken; *argv; argv += taken ? taken : 1) {
		taken = take_switch(argv, &plan);
		if (taken < 0 || (taken == 0 && !add_path(inputs, *argv))) {
			(void)fprintf(stderr, "%s: not an input, or a switch without its value\n",
				      *argv);
			return EXIT_USE;
		}
	}
	return plan.output ? save(inputs, &plan) : run(inputs, &plan);
}

int main(int argc, char **argv)
{
	struct inputs inputs = { 0 };
	int status = main_of(argv + (argc > 0), &inputs);

	release_inputs(&inputs);
	return status;
}
