/*
 * help_bash: the completion script for bash, from the catalogue's rows.
 *
 * The script is a list of shell variables with the words, and one function that chooses among them:
 *
 *     zonemark <commands>
 *     zonemark CMD --<switches> | <what the command's words are> | --switch <its choices, or a file>
 *     zonemark run WORKLOAD <options=> | option=<its choices>
 */
#include <stdio.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/cell.h"
#include "runner/help.h"
#include "runner/matrix.h"
#include "runner/qualify/standard.h"
#include "runner/setting.h"
#include "workloads/documented.h"

static void option_names(FILE *out, const struct zm_option *rows)
{
	for (const struct zm_option *row = rows; row && row->name; row++)
		fprintf(out, "%s%s=", row == rows ? "" : " ", row->name);
}

static void choices(FILE *out, const struct zm_option *row)
{
	for (const char *const *choice = row->choices; *choice; choice++)
		fprintf(out, "%s%s", choice == row->choices ? "" : " ", *choice);
}

/* "mode=*) values='process thread' ;;" */
static void option_values(FILE *out, const struct zm_option *row)
{
	for (; row && row->name; row++) {
		if (row->type != ZM_OPTION_CHOICE)
			continue;
		fprintf(out, "\t\t%s=*) values='", row->name);
		choices(out, row);
		fputs("' ;;\n", out);
	}
}

/* Words for a case pattern or a list; names hold letters, digits, '_', '-' and '.' only. */
static void list_commands(FILE *out)
{
	fputs("\tlocal commands='", out);
	for (unsigned int i = 0; i < zm_nr_cmds; i++)
		fprintf(out, "%s%s", i ? " " : "", zm_cmds[i]->name);
	fputs("'\n\tlocal workloads='", out);
	for (unsigned int i = 0; i < zm_nr_workloads; i++)
		fprintf(out, "%s%s", i ? " " : "", zm_workloads[i]->name);
	fputs("'\n\tlocal monitors='", out);
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		fprintf(out, "%s%s", i ? " " : "", zm_monitors[i]->name);
	fputs("'\n\tlocal matrices='", out);
	for (const struct zm_matrix *matrix = zm_matrices; matrix->name; matrix++)
		fprintf(out, "%s%s", matrix == zm_matrices ? "" : " ", matrix->name);
	fputs("'\n\tlocal profiles='", out);
	for (const struct zm_standard_file *file = zm_standard_files; file->name; file++)
		fprintf(out, "%s%s", file == zm_standard_files ? "" : " ", file->name);
	fputs("'\n\tlocal documented='", out);
	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++)
		fprintf(out, "%s%s", file == zm_documented_files ? "" : " ", file->id);
	fputs("'\n\tlocal settings='", out);
	for (const struct zm_setting_row *row = zm_setting_rows; row->name; row++)
		fprintf(out, "%s%s=", row == zm_setting_rows ? "" : " ", row->name);
	fputs("'\n\tlocal options='", out);
	option_names(out, zm_run_option_rows);
	fputs("'\n\tlocal sections='workloads options settings matrices documented monitors' "
	      "files=''\n",
	      out);
}

/* "run) switches='…'; words='…' ;;" and the choices of its switches. */
static void command(FILE *out, const struct zm_cmd *cmd)
{
	char name[80];

	fprintf(out, "\t%s)\n\t\tswitches='--help", cmd->name);
	for (const struct zm_option *row = cmd->switches; row && row->name; row++)
		fprintf(out, " --%s", zm_help_switch(name, sizeof(name), row));
	fputs("'\n", out);
	for (const char *word = cmd->completes; word && *word; word += strspn(word, " ")) {
		size_t length = strcspn(word, " ");

		fprintf(out, "\t\twords+=\" $%.*s\"\n", (int)length, word);
		word += length;
	}
	if (cmd->completes && strstr(cmd->completes, "files"))
		fputs("\t\ttakes_files=1\n", out);
	fputs("\t\tcase $previous in\n", out);
	for (const struct zm_option *row = cmd->switches; row && row->name; row++) {
		if (row->type == ZM_OPTION_BOOL)
			continue;
		fprintf(out, "\t\t--%s) is_value=1 values='",
			zm_help_switch(name, sizeof(name), row));
		if (row->type == ZM_OPTION_CHOICE)
			choices(out, row);
		fprintf(out, "'%s ;;\n",
			row->type == ZM_OPTION_STRING && row->unit && strcmp(row->unit, "file") == 0
				? " takes_files=1"
				: "");
	}
	fputs("\t\tesac\n\t\t;;\n", out);
}

/* "page_fault1) options+=' size= stride='; … ;;" */
static void workload(FILE *out, const struct zm_workload *w)
{
	fprintf(out, "\t%s)\n\t\tworkload_options='", w->name);
	option_names(out, w->options);
	fputs("'\n\t\tcase $current in\n", out);
	option_values(out, w->options);
	fputs("\t\tesac\n\t\t;;\n", out);
}

static const char head[] =
	"# Completion for zonemark; written by `zonemark help --as bash`.\n"
	"_zonemark()\n"
	"{\n"
	"\tlocal current previous words='' switches='' workload_options='' values='' is_value='' "
	"takes_files=''\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT}\n"
	"\t# Words as the shell splits them, but with \"name=value\" in one piece.\n"
	"\tlocal -a typed\n"
	"\tread -ra typed <<< \"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && typed+=('')\n"
	"\tcurrent=${typed[-1]}\n"
	"\tprevious=${typed[-2]:-}\n"
	"\tCOMPREPLY=()\n";

static const char tail[] =
	"\tif [[ -n $is_value ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\")\n"
	"\telif [[ $current == -* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$switches\" -- \"$current\")\n"
	"\telif [[ $current == *=* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"${current#*=}\")\n"
	"\telse\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words $workload_options\" -- \"$current\")\n"
	"\t\t[[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace\n"
	"\tfi\n"
	"\tif [[ -n $takes_files ]]; then\n"
	"\t\tlocal -a more\n"
	"\t\tmapfile -t more < <(compgen -f -- \"$current\")\n"
	"\t\tCOMPREPLY+=(\"${more[@]}\")\n"
	"\tfi\n"
	"}\n"
	"complete -F _zonemark zonemark\n";

void zm_help_bash(FILE *out)
{
	fputs(head, out);
	list_commands(out);
	fputs("\tif ((${#typed[@]} <= 2)); then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$commands --help --version\" -- "
	      "\"$current\")\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase ${typed[1]} in\n",
	      out);
	for (unsigned int i = 0; i < zm_nr_cmds; i++)
		command(out, zm_cmds[i]);
	fputs("\tesac\n\tcase $current in\n", out);
	option_values(out, zm_run_option_rows);
	fputs("\tesac\n\tcase ${typed[2]} in\n", out);
	for (unsigned int i = 0; i < zm_nr_workloads; i++)
		workload(out, zm_workloads[i]);
	fputs("\tesac\n", out);
	fputs(tail, out);
}
