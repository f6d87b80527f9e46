/*
 * driver: what it runs, that its mutations come again, and that it says where a fuzzer breaks.
 *
 * The driver is part of this program, with a fuzzer that counts, breaks or hangs as it is told.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#define HANG_S 1
#define main   driver_main
int driver_main(int argc, char **argv);
#include "workloads/fuzz/driver.c"
#undef main

#include "workloads/base/tests/tree.h"

/* Written by the child that the driver forks. */
static struct {
	uint64_t nr_calls, nr_bytes, longest;
	char breaks_at, hangs_at;
} * told;

static struct tree tree;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	told->nr_calls++;
	told->nr_bytes += size;
	told->longest = size > told->longest ? size : told->longest;
	if (told->breaks_at && memchr(data, told->breaks_at, size))
		abort();
	if (told->hangs_at && memchr(data, told->hangs_at, size))
		for (;;)
			(void)pause();
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tree_make(&tree);
	tree_write(&tree, "corpus/a", "alpha");
	tree_write(&tree, "corpus/b", "beta");
	tree_write(&tree, "corpus/.hidden", "no input");
	return told == MAP_FAILED;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return munmap(told, sizeof(*told));
}

/* Runs the driver with these words, its stdout and stderr into the tree's file "said". */
static int drive(const char *const *words)
{
	char *argv[16] = { (char *)(uintptr_t) "driver" };
	int argc = 1, status;
	pid_t child;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	memset(told, 0, offsetof(__typeof__(*told), breaks_at));
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (!freopen(tree_path(&tree, "said"), "w", stderr) || dup2(2, 1) != 1)
			_exit(99);
		status = driver_main(argc, argv);
		(void)fflush(NULL);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define drive(...) drive((const char *const[]){ __VA_ARGS__, NULL })

static void inputs_and_mutations_are_run(void **state)
{
	(void)state;
	assert_int_equal(drive(tree_path(&tree, "corpus")), 0);
	assert_int_equal(told->nr_calls, 3); /* the empty one, a, b */
	assert_int_equal(told->nr_bytes, 9);
	assert_string_equal(tree_read(&tree, "said"), "3 inputs, 0 mutations\n");
	assert_int_equal(drive(tree_path(&tree, "corpus/b")), 0);
	assert_int_equal(told->nr_bytes, 4);
	assert_int_equal(drive("--mutations", "3000", tree_path(&tree, "corpus")), 0);
	assert_int_equal(told->nr_calls, 3003);
	assert_true(told->longest > 100 && told->longest <= MAX_LENGTH);
}

static void time_ends_it(void **state)
{
	(void)state;
	assert_int_equal(
		drive("--mutations", "1000000000", "--seconds", "0", tree_path(&tree, "corpus")),
		0);
	assert_int_equal(told->nr_calls, 3);
}

static void a_break_is_named(void **state)
{
	(void)state;
	told->breaks_at = 'b';
	assert_int_equal(drive(tree_path(&tree, "corpus")), 1);
	assert_non_null(strstr(tree_read(&tree, "said"), "killed by signal 6 at the input b\n"));
	told->breaks_at = 0;
}

/* The mutation that broke it, saved, breaks it as an input. */
static void a_breaking_mutation_can_be_saved(void **state)
{
	char number[32];
	const char *found;

	(void)state;
	told->breaks_at = '9';
	assert_int_equal(drive("--mutations", "5000", "--seed", "7", tree_path(&tree, "corpus")),
			 1);
	found = strstr(tree_read(&tree, "said"), "at mutation ");
	assert_non_null(found);
	assert_int_equal(sscanf(found, "at mutation %31[0-9] of seed 7;", number), 1);
	assert_int_equal(drive("--seed", "7", "--save", number, tree_path(&tree, "saved"),
			       tree_path(&tree, "corpus")),
			 0);
	assert_int_equal(drive(tree_path(&tree, "saved")), 1);
	told->breaks_at = 0;
	assert_int_equal(drive(tree_path(&tree, "saved")), 0);
}

static void mutations_come_again(void **state)
{
	static struct mutation first, again, other;
	struct inputs inputs = { 0 };
	size_t nr_alike = 0;

	(void)state;
	assert_true(add_path(&inputs, tree_path(&tree, "corpus")));
	for (uint64_t i = 0; i < 1000; i++) {
		mutate(&first, &inputs, 1, i);
		mutate(&other, &inputs, 2, i);
		mutate(&again, &inputs, 1, i);
		assert_int_equal(first.length, again.length);
		assert_memory_equal(first.bytes, again.bytes, first.length);
		nr_alike += first.length == other.length &&
			    memcmp(first.bytes, other.bytes, first.length) == 0;
	}
	assert_true(nr_alike < 100);
	release_inputs(&inputs);
}

static void a_large_input_is_cut_when_mutated(void **state)
{
	char *large = malloc(2 * MAX_LENGTH);

	(void)state;
	assert_non_null(large);
	memset(large, 'l', 2 * MAX_LENGTH);
	tree_write_bytes(&tree, "large", large, 2 * MAX_LENGTH);
	free(large);
	assert_int_equal(drive("--mutations", "500", tree_path(&tree, "large")), 0);
	assert_int_equal(told->longest, 2 * MAX_LENGTH); /* as an input, whole */
	assert_int_equal(told->nr_calls, 502);
}

static void a_hang_is_named(void **state)
{
	(void)state;
	told->hangs_at = 'b';
	assert_int_equal(drive(tree_path(&tree, "corpus")), 1);
	assert_string_equal(tree_read(&tree, "said"), "hangs for more than 1 s at the input b\n");
	told->hangs_at = 0;
}

static void wrong_use_is_said(void **state)
{
	(void)state;
	assert_int_equal(drive("--mutations", "many"), EXIT_USE);
	assert_int_equal(drive("--seed"), EXIT_USE);
	assert_int_equal(drive("--save", "1"), EXIT_USE);
	assert_int_equal(drive(tree_path(&tree, "missing")), EXIT_USE);
	assert_int_equal(drive("--save", "1", tree_path(&tree, "no/where")), EXIT_USE);
	assert_int_equal(told->nr_calls, 0);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(inputs_and_mutations_are_run),
		test_in_tree(time_ends_it),
		test_in_tree(a_break_is_named),
		test_in_tree(a_breaking_mutation_can_be_saved),
		test_in_tree(mutations_come_again),
		test_in_tree(a_large_input_is_cut_when_mutated),
		test_in_tree(a_hang_is_named),
		test_in_tree(wrong_use_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
