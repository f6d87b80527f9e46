/* yaml: libyaml's events, one function per kind of node. */
#include "results/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "results/array.h"

struct zm_yaml_mark {
	const json_t *value;
	unsigned int line;
};

struct builder {
	yaml_parser_t parser;
	json_t *anchors; /* name: value */
	unsigned int nr_nodes;
	struct zm_yaml_marks *marks; /* NULL: nobody asks */
	struct zm_why *why;
	int error;
};

static json_t *fail(struct builder *builder, int error)
{
	if (!builder->error)
		builder->error = error;
	return NULL;
}

static json_t *fail_at(struct builder *builder, const yaml_event_t *event, int error,
		       const char *what)
{
	if (!builder->error)
		(void)zm_why_set(builder->why, error, "line %zu: %s", event->start_mark.line + 1,
				 what);
	return fail(builder, error);
}

static bool next_event(struct builder *builder, yaml_event_t *event)
{
	const yaml_parser_t *parser = &builder->parser;

	if (yaml_parser_parse(&builder->parser, event))
		return true;
	if (parser->error == YAML_MEMORY_ERROR) {
		(void)fail(builder, zm_why_errno(builder->why, -ENOMEM, "reading YAML"));
		return false;
	}
	(void)fail(builder,
		   zm_why_set(builder->why, -EINVAL, "line %zu: %s", parser->problem_mark.line + 1,
			      parser->problem ? parser->problem : "no YAML"));
	return false;
}

static void mark(struct builder *builder, const json_t *value, const yaml_event_t *event)
{
	struct zm_yaml_marks *marks = builder->marks;

	if (!marks || !value || json_is_null(value))
		return;
	if (zm_array_grow((void **)&marks->list, &marks->capacity, marks->nr,
			  sizeof(*marks->list)) < 0) {
		(void)fail(builder, -ENOMEM);
		return;
	}
	marks->list[marks->nr++] =
		(struct zm_yaml_mark){ value, (unsigned int)event->start_mark.line + 1 };
}

/* --- nodes --- */

static json_t *read_node(struct builder *builder, const yaml_event_t *event, unsigned int depth);

static json_t *read_scalar(struct builder *builder, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	json_t *value;

	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    (length == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0))
		return json_null();
	if (memchr(text, '\0', length))
		return fail_at(builder, event, -EINVAL, "a NUL in a text");
	value = json_stringn(text, length);
	return value ? value : fail_at(builder, event, -EINVAL, "a text that is not UTF-8");
}

static json_t *read_alias(struct builder *builder, const yaml_event_t *event)
{
	json_t *value = json_object_get(builder->anchors, (const char *)event->data.alias.anchor);

	if (!value)
		return fail_at(builder, event, -EINVAL, "an alias of nothing");
	value = json_deep_copy(value);
	return value ? value : fail(builder, -ENOMEM);
}

static json_t *read_sequence(struct builder *builder, unsigned int depth)
{
	json_t *array = json_array();
	yaml_event_t event;

	while (array && next_event(builder, &event)) {
		bool is_end = event.type == YAML_SEQUENCE_END_EVENT;
		json_t *value = is_end ? NULL : read_node(builder, &event, depth + 1);

		yaml_event_delete(&event);
		if (is_end)
			return array;
		if (!value || json_array_append_new(array, value) < 0)
			break;
	}
	json_decref(array);
	return fail(builder, -ENOMEM);
}

/* Takes the value over. */
static int put(json_t *object, const char *key, json_t *value)
{
	json_t *list;

	if (strcmp(key, "<<") != 0)
		return json_object_set_new(object, key, value);
	list = json_object_get(object, key);
	if (!list && json_object_set_new(object, key, json_array()) < 0) {
		json_decref(value);
		return -1;
	}
	list = json_object_get(object, key);
	return json_is_array(value) ? (json_array_extend(list, value), json_decref(value), 0)
				    : json_array_append_new(list, value);
}

static json_t *read_value(struct builder *builder, unsigned int depth)
{
	yaml_event_t event;
	json_t *value;

	if (!next_event(builder, &event))
		return NULL;
	value = read_node(builder, &event, depth + 1);
	yaml_event_delete(&event);
	return value;
}

/* One key with its value; *ret_more is false at the end. */
static int read_pair(struct builder *builder, json_t *object, unsigned int depth, bool *ret_more)
{
	yaml_event_t event;
	json_t *value = NULL;
	int r = -ENOMEM;

	if (!next_event(builder, &event))
		return builder->error;
	*ret_more = event.type != YAML_MAPPING_END_EVENT;
	if (*ret_more && event.type != YAML_SCALAR_EVENT)
		(void)fail_at(builder, &event, -EINVAL, "a key that is no word");
	else if (*ret_more)
		value = read_value(builder, depth);
	mark(builder, value, &event);
	if (value)
		r = put(object, (const char *)event.data.scalar.value, value);
	else if (!*ret_more)
		r = 0;
	yaml_event_delete(&event);
	return builder->error ? builder->error : r < 0 ? -ENOMEM : 0;
}

static json_t *read_mapping(struct builder *builder, unsigned int depth)
{
	json_t *object = json_object();
	bool has_more = true;
	int r = object ? 0 : -ENOMEM;

	while (r == 0 && has_more)
		r = read_pair(builder, object, depth, &has_more);
	if (r == 0)
		return object;
	json_decref(object);
	return fail(builder, r);
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return event->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

/* How many values there are in one, itself too, and how deep they are nested. */
static unsigned int count_nodes(const json_t *value, unsigned int *ret_depth)
{
	unsigned int nr = 1, deepest = 0, depth = 0;
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_array(value))
		json_array_foreach(value, i, item)
		{
			nr += count_nodes(item, &depth);
			deepest = depth > deepest ? depth : deepest;
		}
	if (json_is_object(value))
		json_object_foreach((json_t *)value, key, item)
		{
			nr += count_nodes(item, &depth);
			deepest = depth > deepest ? depth : deepest;
		}
	*ret_depth = deepest + 1;
	return nr;
}

static json_t *read_kind(struct builder *builder, const yaml_event_t *event, unsigned int depth)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(builder, event);
	case YAML_ALIAS_EVENT:
		return read_alias(builder, event);
	case YAML_SEQUENCE_START_EVENT:
		return read_sequence(builder, depth);
	case YAML_MAPPING_START_EVENT:
		return read_mapping(builder, depth);
	default:
		return fail_at(builder, event, -EINVAL, "no value where one is due");
	}
}

/* Every value is counted, an alias's whole copy too: a few lines must not become a gigabyte. */
static json_t *read_node(struct builder *builder, const yaml_event_t *event, unsigned int depth)
{
	const yaml_char_t *anchor = anchor_of(event);
	unsigned int inside = 0;
	json_t *value;

	if (event->type == YAML_ALIAS_EVENT)
		builder->nr_nodes += count_nodes(
			json_object_get(builder->anchors, (const char *)event->data.alias.anchor),
			&inside);
	builder->nr_nodes++;
	if (depth + inside > ZM_YAML_DEPTH || builder->nr_nodes > ZM_YAML_NODES)
		return fail_at(builder, event, -E2BIG, "more, or deeper, than is read here");
	value = read_kind(builder, event, depth);
	if (value && anchor && json_object_set(builder->anchors, (const char *)anchor, value) < 0) {
		json_decref(value);
		return fail(builder, -ENOMEM);
	}
	mark(builder, value, event);
	return value;
}

/* --- the stream --- */

static int read_stream(struct builder *builder, json_t *documents)
{
	yaml_event_t event;
	bool is_over = false;

	while (!is_over && !builder->error && next_event(builder, &event)) {
		bool is_frame = event.type == YAML_STREAM_START_EVENT ||
				event.type == YAML_DOCUMENT_START_EVENT ||
				event.type == YAML_DOCUMENT_END_EVENT;
		json_t *value = NULL;

		is_over = event.type == YAML_STREAM_END_EVENT;
		if (event.type == YAML_DOCUMENT_START_EVENT)
			(void)json_object_clear(builder->anchors);
		if (!is_over && !is_frame)
			value = read_node(builder, &event, 0);
		yaml_event_delete(&event);
		if (value && json_array_append_new(documents, value) < 0)
			(void)fail(builder, -ENOMEM);
	}
	return builder->error;
}

static int compare_marks(const void *a, const void *b)
{
	const struct zm_yaml_mark *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int read_text(struct builder *builder, const char *text, size_t length,
		     json_t **ret_documents)
{
	json_t *documents = json_array();
	int r = -ENOMEM;

	if (builder->anchors && documents && yaml_parser_initialize(&builder->parser)) {
		yaml_parser_set_input_string(&builder->parser, (const unsigned char *)text, length);
		r = read_stream(builder, documents);
		yaml_parser_delete(&builder->parser);
	}
	json_decref(builder->anchors);
	if (r < 0) {
		json_decref(documents);
		if (r == -ENOMEM)
			(void)zm_why_errno(builder->why, r, "reading YAML");
		return r;
	}
	*ret_documents = documents;
	return 0;
}

int zm_yaml_read(const char *text, size_t length, json_t **ret_documents, struct zm_why *why)
{
	struct builder builder = { .why = why, .anchors = json_object() };

	return read_text(&builder, text, length, ret_documents);
}

int zm_yaml_read_marked(const char *text, size_t length, json_t **ret_documents,
			struct zm_yaml_marks *ret_marks, struct zm_why *why)
{
	struct zm_yaml_marks marks = { 0 };
	struct builder builder = { .why = why, .anchors = json_object(), .marks = &marks };
	int r = read_text(&builder, text, length, ret_documents);

	if (r < 0) {
		zm_yaml_marks_release(&marks);
		return r;
	}
	if (marks.nr > 1)
		qsort(marks.list, marks.nr, sizeof(*marks.list), compare_marks);
	*ret_marks = marks;
	return 0;
}

void zm_yaml_marks_release(struct zm_yaml_marks *marks)
{
	free(marks->list);
	*marks = (struct zm_yaml_marks){ 0 };
}

static int compare_value(const void *key, const void *element)
{
	const json_t *value = ((const struct zm_yaml_mark *)element)->value;

	return ((const json_t *)key > value) - ((const json_t *)key < value);
}

/* The first line of those it was marked with: its key stands before it, or on the same. */
unsigned int zm_yaml_line(const struct zm_yaml_marks *marks, const json_t *value)
{
	const struct zm_yaml_mark *mark =
		value && marks->nr
			? bsearch(value, marks->list, marks->nr, sizeof(*mark), compare_value)
			: NULL;

	while (mark && mark > marks->list && mark[-1].value == value)
		mark--;
	return mark ? mark->line : 0;
}
