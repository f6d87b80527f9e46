/* fields: whatever the text, fields lie within it, and what one says is read back as the same. */
#include <stdio.h>

#include "runner/monitors/fields.h"
#include "workloads/fuzz/fuzz.h"

static void check_field(const struct zm_field *field, const char *text, size_t length)
{
	const char *end = text + length;
	struct zm_field back;
	char line[4096];
	int n;

	fuzz_check(field->length > 0);
	fuzz_check(field->name >= text && field->name + field->length <= end);
	fuzz_check(field->unit >= text && field->unit + field->unit_length <= end);
	fuzz_check(!memchr(field->name, '\n', field->length));
	if (field->length > 4000)
		return;
	n = snprintf(line, sizeof(line), "%.*s: %llu", (int)field->length, field->name,
		     (unsigned long long)field->value);
	fuzz_check(n > 0 && zm_fields_parse(line, (size_t)n, 0, &back));
	fuzz_check(back.value == field->value && back.length == field->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	size_t length = strlen(text);

	for (unsigned int skip_words = 0; skip_words <= 2; skip_words++) {
		const char *at = text, *before = text;
		struct zm_field field;

		while (zm_fields_next(&at, skip_words, &field)) {
			check_field(&field, text, length);
			fuzz_check(at > before && at <= text + length);
			before = at;
		}
		fuzz_check(at == text + length);
	}
	free(text);
	return 0;
}
