/*
 * matrix_file: of any bytes come lines that can be planned, or one sentence with the file's name and a
 * line.
 *
 * timeout: 60
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/matrix_file.h"
#include "workloads/fuzz/fuzz.h"

static void check_line(const struct zm_matrix_line *line)
{
	fuzz_check(line->nr_words > 0 && line->words[0][0] && !strchr(line->words[0], '='));
	for (size_t i = 1; i < line->nr_words; i++)
		fuzz_check(strchr(line->words[i], '='));
	fuzz_check(line->where && strncmp(line->where, "x.yaml:", 7) == 0);
}

static void check_sentence(int r, const struct zm_why *why)
{
	fuzz_check(r == -EINVAL || r == -E2BIG || r == -ENOPKG || r == -ENOMEM);
	fuzz_check(strncmp(why->text, "x.yaml:", 7) == 0);
	fuzz_check(!strchr(why->text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zm_sysroot root;
	static struct zm_topology topology;
	struct zm_cell_context context = { .nr_cpus = 8, .root = &root, .topology = &topology };
	char *text = fuzz_text(data, size);
	struct zm_matrix_set set;
	struct zm_why why = { "" };
	int r;

	if (topology.nr_cpus == 0) {
		fuzz_check(zm_sysroot_open(&root, NULL) == 0);
		topology.nr_cpus = 8;
		topology.nr_nodes = 1;
	}
	r = zm_matrix_file_parse("x.yaml", text, strlen(text), &context, zm_workloads, &set, &why);
	if (r < 0) {
		check_sentence(r, &why);
	} else {
		fuzz_check(set.nr_lines > 0);
		for (size_t i = 0; i < set.nr_lines; i++)
			check_line(&set.lines[i]);
		zm_matrix_set_release(&set);
	}
	free(text);
	return 0;
}
