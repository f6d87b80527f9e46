/*
 * help: rows as text for a terminal of 80 columns.
 *
 *     program   name, usage, one line per command, exit status
 *     command   usage, summary, details filled to the width, one line per switch, examples
 */
#include "runner/help.h"

#include <ctype.h>
#include <string.h>

#include "runner/catalogue.h"

#define PAGE_WIDTH 80

/* How many columns `length` bytes of UTF-8 take. */
static int columns_of(const char *text, size_t length)
{
	int columns = 0;

	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			columns++;
	return columns;
}

/* Writes the words of text, `length` bytes, filled between indent and the page's width; the cursor
 * stands at `column`. Ends with a newline. */
static void fill(FILE *out, const char *text, size_t length, int indent, int column)
{
	const char *end = text + length;
	bool is_first = true;

	while (text < end) {
		size_t space = strspn(text, " \n");
		size_t word;
		int width;

		text += space;
		if (text >= end)
			break;
		word = strcspn(text, " \n");
		if (word > (size_t)(end - text))
			word = (size_t)(end - text);
		width = columns_of(text, word);
		if (!is_first && column + 1 + width > PAGE_WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			is_first = true;
		}
		fprintf(out, "%s%.*s", is_first ? "" : " ", (int)word, text);
		column += width + (is_first ? 0 : 1);
		is_first = false;
		text += word;
	}
	fputc('\n', out);
}

void zm_help_columns(FILE *out, int indent, int left_width, const char *left, const char *right)
{
	int column = indent + columns_of(left, strlen(left));
	int start = indent + left_width + 2;

	fprintf(out, "%*s%s", indent, "", left);
	if (!right || !*right) {
		fputc('\n', out);
		return;
	}
	if (column + 2 > start)
		fprintf(out, "\n%*s", start, "");
	else
		fprintf(out, "%*s", start - column, "");
	fill(out, right, strlen(right), start, start);
}

/* Paragraphs with empty lines between them; lines that begin with a space stay as they are. */
static void print_paragraphs(FILE *out, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t length = end ? (size_t)(end - text) : strlen(text);

		if (*text == ' ')
			fprintf(out, "%.*s\n", (int)length, text);
		else
			fill(out, text, length, 0, 0);
		text += length;
		text += strspn(text, "\n");
		if (*text)
			fputc('\n', out);
	}
}

char *zm_help_switch(char *buf, size_t size, const struct zm_option *row)
{
	size_t i = 0;

	for (; row->name[i] && i + 1 < size; i++)
		buf[i] = row->name[i] == '_' ? '-' : row->name[i];
	buf[i] = '\0';
	return buf;
}

/* Longer than this, choices stand in the text and not in the name's column. */
#define CHOICES_WIDTH 24

static char *join_choices(char *buf, size_t size, const char *const *choices, const char *between)
{
	size_t used = 0;

	buf[0] = '\0';
	for (; *choices && used < size; choices++) {
		int n = snprintf(buf + used, size - used, "%s%s", used ? between : "", *choices);

		used += n > 0 ? (size_t)n : 0;
	}
	return buf;
}

static bool has_long_choices(const struct zm_option *row)
{
	char text[256];

	return row->type == ZM_OPTION_CHOICE &&
	       strlen(join_choices(text, sizeof(text), row->choices, "|")) > CHOICES_WIDTH;
}

char *zm_help_value(char *buf, size_t size, const struct zm_option *row)
{
	static const char *const words[] = {
		[ZM_OPTION_BOOL] = "",         [ZM_OPTION_U64] = "N",
		[ZM_OPTION_DOUBLE] = "X",      [ZM_OPTION_SIZE] = "SIZE",
		[ZM_OPTION_DURATION] = "TIME", [ZM_OPTION_AMOUNT] = "N|N%",
		[ZM_OPTION_CHOICE] = "WORD",   [ZM_OPTION_STRING] = "TEXT",
	};

	if (row->type == ZM_OPTION_CHOICE && !has_long_choices(row))
		return join_choices(buf, size, row->choices, "|");
	if (row->type != ZM_OPTION_STRING || !row->unit) {
		(void)snprintf(buf, size, "%s", words[row->type]);
		return buf;
	}
	(void)snprintf(buf, size, "%s", row->unit);
	for (char *p = buf; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return buf;
}

char *zm_help_row(char *buf, size_t size, const struct zm_option *row)
{
	bool has_preset = row->preset && row->preset[0] && row->type != ZM_OPTION_BOOL;
	bool is_on = row->type == ZM_OPTION_BOOL && row->preset && strcmp(row->preset, "1") == 0;
	char choices[256] = "";

	if (has_long_choices(row))
		join_choices(choices, sizeof(choices), row->choices, ", ");
	(void)snprintf(buf, size, "%s%s%s%s%s%s", row->help ? row->help : "",
		       *choices ? "; one of " : "", choices,
		       has_preset || is_on ? " (preset: " : "",
		       is_on        ? "on"
		       : has_preset ? row->preset
				    : "",
		       has_preset || is_on ? ")" : "");
	return buf;
}

char *zm_help_option(char *buf, size_t size, const struct zm_option *row)
{
	char value[128];

	zm_help_value(value, sizeof(value), row);
	(void)snprintf(buf, size, "%s=%s", row->name, *value ? value : "0|1");
	return buf;
}

static void print_switch(FILE *out, const struct zm_option *row)
{
	char name[64], value[128], left[256], right[768];

	zm_help_switch(name, sizeof(name), row);
	zm_help_value(value, sizeof(value), row);
	(void)snprintf(left, sizeof(left), "--%s%s%s", name, *value ? " " : "", value);
	zm_help_columns(out, 2, 22, left, zm_help_row(right, sizeof(right), row));
}

static void print_examples(FILE *out, const char *examples)
{
	fputs("\nExamples:\n", out);
	while (*examples) {
		size_t line = strcspn(examples, "\n");
		size_t tab = strcspn(examples, "\t\n");

		fprintf(out, "  %.*s\n", (int)tab, examples);
		if (tab < line) {
			fputs("      ", out);
			fill(out, examples + tab + 1, line - tab - 1, 6, 6);
		}
		examples += line + (examples[line] == '\n');
	}
}

char *zm_help_sentence(char *buf, size_t size, const char *summary)
{
	(void)snprintf(buf, size, "%s.", summary);
	buf[0] = (char)toupper((unsigned char)buf[0]);
	return buf;
}

void zm_help_cmd(FILE *out, const struct zm_cmd *cmd)
{
	char sentence[256];

	fprintf(out, "Usage: zonemark %s%s%s\n\n", cmd->name, cmd->usage && *cmd->usage ? " " : "",
		cmd->usage ? cmd->usage : "");
	print_paragraphs(out, zm_help_sentence(sentence, sizeof(sentence), cmd->summary));
	if (cmd->details && *cmd->details) {
		fputc('\n', out);
		print_paragraphs(out, cmd->details);
	}
	fputs("\nSwitches:\n", out);
	for (const struct zm_option *row = cmd->switches; row && row->name; row++)
		print_switch(out, row);
	zm_help_columns(out, 2, 22, "-h, --help", "this text");
	if (cmd->examples && *cmd->examples)
		print_examples(out, cmd->examples);
}

void zm_help_program(FILE *out)
{
	fputs("Usage: zonemark COMMAND [words and switches]\n"
	      "       zonemark --help | --version\n\n",
	      out);
	print_paragraphs(out, "Reproduces the benchmarks by which Linux page-allocator changes are "
			      "judged, keeps what they measured, and shows it.");
	fputs("\nCommands:\n", out);
	for (unsigned int i = 0; i < zm_nr_cmds; i++)
		zm_help_columns(out, 2, 10, zm_cmds[i]->name, zm_cmds[i]->summary);
	fputc('\n', out);
	print_paragraphs(out,
			 "`zonemark COMMAND --help` says more of one of them.\n\n"
			 "Exit status: 0 done; 1 it ran and the answer is no; 2 wrong use or a "
			 "setup that cannot work; 3 a run failed; 77 nothing could run here.");
}
