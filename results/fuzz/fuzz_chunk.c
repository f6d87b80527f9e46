/* fuzz_chunk: a flush's content from anywhere, put together as a run of two such chunks. */
#include "results/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/fuzz/fuzz.h"

struct input {
	const uint8_t *data;
	size_t size;
};

/* The first byte says where the second chunk begins. */
static int read_chunk(void *context, size_t index, const void **ret_data, size_t *ret_size)
{
	const struct input *input = context;
	size_t border = (size_t)input->data[0] * (input->size - 1) / 255 + 1;

	*ret_data = index ? input->data + border : input->data + 1;
	*ret_size = index ? input->size - border : border - 1;
	return 0;
}

static int check_series(void *context, const struct zm_assembled *series)
{
	size_t *nr = context;
	struct zm_hist *hist = malloc(sizeof(*hist));

	fuzz_check(series->readings->nr > 0);
	for (size_t i = 0; i < series->readings->nr; i++) {
		*nr += series->t_ns[i] & 1;
		if (hist && series->readings->form == ZM_FORM_HIST)
			fuzz_check(zm_readings_hist(series->readings, i, hist) == 0);
	}
	free(hist);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .data = data, .size = size };
	struct zm_chunk_source source = { .read = read_chunk, .context = &input };
	struct zm_assembly *assembly = NULL;
	size_t nr = 0;

	if (size < 3)
		return 0;
	if (zm_assembly_open(&source, 2, &assembly) == 0) {
		int error = zm_assembly_each(assembly, NULL, check_series, &nr);

		fuzz_check(error == 0 || error == -EOVERFLOW);
		zm_assembly_close(assembly);
	}
	return 0;
}
