/*
 * help_man: the man page zonemark(1) as roff, from the catalogue's rows.
 *
 *     NAME SYNOPSIS DESCRIPTION | COMMANDS WORKLOADS OPTIONS SETTINGS MATRICES MONITORS | EXIT STATUS
 *     ENVIRONMENT FILES
 *
 * No date in it: the same sources give the same page.
 */
#include <stdio.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/cell.h"
#include "runner/help.h"
#include "runner/matrix.h"
#include "runner/setting.h"
#include "workloads/documented.h"

struct pair {
	const char *name;
	const char *text;
};

static const struct pair statuses[] = {
	{ "0", "done" },
	{ "1", "it ran, and the answer is no" },
	{ "2",
	  "wrong use, or a setup that cannot work; one line on standard error says what and how "
	  "to mend it" },
	{ "3", "a run failed: a task died, was killed, stalled or did not do its work" },
	{ "77", "nothing could run here; each workload says why" },
	{ NULL, NULL },
};

static const struct pair variables[] = {
	{ "ZONEMARK_DB", "the store, where no --db says otherwise" },
	{ "XDG_DATA_HOME", "the store is zonemark/zonemark.db in it; preset ~/.local/share" },
	{ "ZONEMARK_JOURNAL",
	  "the directory of the undo journals; the same for all commands, or what "
	  "a killed run changed is not found again" },
	{ "XDG_STATE_HOME", "who is not root has his undo journals in zonemark/journal in it; "
			    "preset ~/.local/state" },
	{ "TMPDIR", "where workloads put their files unless told otherwise" },
	{ NULL, NULL },
};

static const struct pair files[] = {
	{ "~/.local/share/zonemark/zonemark.db", "the store: one SQLite file" },
	{ "/var/lib/zonemark/journal",
	  "root's undo journals: what runs under way have changed on the machine; the next command "
	  "puts back what a dead one left" },
	{ NULL, NULL },
};

/* One character of UTF-8 at *text, which is stepped over. */
static unsigned int next_character(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	unsigned int c = *p;
	int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

	c &= more == 3 ? 0x07U : more == 2 ? 0x0fU : more == 1 ? 0x1fU : 0xffU;
	for (p++; more > 0 && (*p & 0xc0) == 0x80; more--, p++)
		c = c << 6 | (*p & 0x3fU);
	*text = (const char *)p;
	return c;
}

/* Text as roff: nothing in it is a request or an escape, a hyphen is one that can be typed. */
static void put(FILE *out, const char *text, size_t length)
{
	const char *end = text + length;
	bool is_line_start = true;

	while (text < end) {
		unsigned int c = next_character(&text);

		if (is_line_start && (c == '.' || c == '\''))
			fputs("\\&", out);
		if (c == '\\')
			fputs("\\e", out);
		else if (c == '-')
			fputs("\\-", out);
		else if (c == '\'' || c == '`' || c == '^' || c == '~')
			fprintf(out, "\\(%s",
				c == '\''  ? "aq"
				: c == '`' ? "ga"
				: c == '^' ? "ha"
					   : "ti");
		else if (c > 0x7f)
			fprintf(out, "\\[u%04X]", c);
		else
			fputc((int)c, out);
		is_line_start = c == '\n';
	}
}

static void put_line(FILE *out, const char *text)
{
	put(out, text, strlen(text));
	fputc('\n', out);
}

/* ".TP", the tag in bold and italics, and its text. */
static void item(FILE *out, const char *bold, const char *italic, const char *text)
{
	fputs(".TP\n\\fB", out);
	put(out, bold, strlen(bold));
	fputs("\\fR", out);
	if (italic && *italic) {
		fputs(" \\fI", out);
		put(out, italic, strlen(italic));
		fputs("\\fR", out);
	}
	fputc('\n', out);
	put_line(out, text && *text ? text : "(no text)");
}

static void documented(FILE *out, const struct zm_documented_file *file)
{
	fputs(".br\n", out);
	put_line(out, file->id);
}

static void subsection(FILE *out, const char *title)
{
	fputs(".SS ", out);
	put_line(out, title);
}

static void pairs(FILE *out, const char *title, const struct pair *pair)
{
	fprintf(out, ".SH %s\n", title);
	for (; pair->name; pair++)
		item(out, pair->name, NULL, pair->text);
}

/* Paragraphs, as help.c fills them: lines that begin with a space stay as they are. */
static void paragraphs(FILE *out, const char *text)
{
	while (text && *text) {
		const char *end = strstr(text, "\n\n");
		size_t length = end ? (size_t)(end - text) : strlen(text);
		bool is_verbatim = *text == ' ';

		fputs(is_verbatim ? ".PP\n.nf\n" : ".PP\n", out);
		put(out, text, length);
		fputs(is_verbatim ? "\n.fi\n" : "\n", out);
		text += length;
		text += strspn(text, "\n");
	}
}

static void rows(FILE *out, const struct zm_option *row, bool are_switches)
{
	char name[192], value[128], text[768];

	for (; row && row->name; row++) {
		value[0] = '\0';
		if (are_switches) {
			memcpy(name, "--", 2);
			zm_help_switch(name + 2, sizeof(name) - 2, row);
			zm_help_value(value, sizeof(value), row);
		} else {
			zm_help_option(name, sizeof(name), row);
		}
		item(out, name, value, zm_help_row(text, sizeof(text), row));
	}
}

static void examples(FILE *out, const char *text)
{
	while (text && *text) {
		size_t line = strcspn(text, "\n");
		size_t tab = strcspn(text, "\t\n");

		fputs(".TP\n\\fB", out);
		put(out, text, tab);
		fputs("\\fR\n", out);
		if (tab < line)
			put(out, text + tab + 1, line - tab - 1);
		fputc('\n', out);
		text += line + (text[line] == '\n');
	}
}

static void command(FILE *out, const struct zm_cmd *cmd)
{
	char sentence[256];

	fputs(".SS ", out);
	put(out, cmd->name, strlen(cmd->name));
	fputc(' ', out);
	put_line(out, cmd->usage ? cmd->usage : "");
	put_line(out, zm_help_sentence(sentence, sizeof(sentence), cmd->summary));
	paragraphs(out, cmd->details);
	rows(out, cmd->switches, true);
	examples(out, cmd->examples);
}

static void workload(FILE *out, const struct zm_workload *w)
{
	char sentence[256];

	subsection(out, w->name);
	put_line(out, zm_help_sentence(sentence, sizeof(sentence), w->summary));
	fputs("An operation is one ", out);
	put(out, w->op, strlen(w->op));
	fputs(".\n", out);
	rows(out, w->options, false);
}

static void head(FILE *out)
{
	fputs(".\\\" Written by `zonemark help --as man`.\n"
	      ".TH ZONEMARK 1 \"\" \"zonemark " ZM_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\n"
	      "zonemark \\- benchmarks by which Linux page-allocator changes are judged\n"
	      ".SH SYNOPSIS\n"
	      ".B zonemark\n.I COMMAND\n[\\fIwords and switches\\fR]\n.br\n"
	      ".B zonemark\n\\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR\n"
	      ".SH DESCRIPTION\n"
	      "zonemark runs the workloads by which changes to the Linux page allocator are "
	      "judged, "
	      "with the same system calls, sizes and counting as the field's own programs, keeps "
	      "all that it measured in one file, and shows it.\n"
	      ".PP\n"
	      "Whatever a run changes on the machine is written down before, and put back after; "
	      "what a killed run left is put back by the next command.\n",
	      out);
}

void zm_help_man(FILE *out)
{
	head(out);
	fputs(".SH COMMANDS\n", out);
	for (unsigned int i = 0; i < zm_nr_cmds; i++)
		command(out, zm_cmds[i]);
	fputs(".SH WORKLOADS\n", out);
	for (unsigned int i = 0; i < zm_nr_workloads; i++)
		workload(out, zm_workloads[i]);
	fputs(".SH OPTIONS OF EVERY RUN\n", out);
	rows(out, zm_run_option_rows, false);
	fputs(".SH MACHINE SETTINGS\nOptions of every run; put back afterwards.\n", out);
	for (const struct zm_setting_row *row = zm_setting_rows; row->name; row++)
		item(out, row->name, NULL, row->help);
	fputs(".SH MATRICES\n", out);
	for (const struct zm_matrix *matrix = zm_matrices; matrix->name; matrix++)
		item(out, matrix->name, NULL, matrix->summary);
	fputs(".SH DOCUMENTED TABLES\n.B zonemark list documented\nsays more of them.\n", out);
	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++)
		documented(out, file);
	fputs(".SH MONITORS\n", out);
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		item(out, zm_monitors[i]->name, NULL, zm_monitors[i]->summary);
	pairs(out, "EXIT STATUS", statuses);
	pairs(out, "ENVIRONMENT", variables);
	pairs(out, "FILES", files);
}
