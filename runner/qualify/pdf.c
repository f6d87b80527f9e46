/* pdf: the first program of the list that PATH has; what it leaves must begin as a PDF does. */
#include "runner/qualify/pdf.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/remove.h"

#define LIMIT_S "120"

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	zm_autofree char *copy = strdup(path ? path : "/usr/bin:/bin");
	char *save = NULL, file[PATH_MAX];

	for (char *folder = copy ? strtok_r(copy, ":", &save) : NULL; folder;
	     folder = strtok_r(NULL, ":", &save)) {
		int n = snprintf(file, sizeof(file), "%s/%s", folder, program);

		if (n > 0 && (size_t)n < sizeof(file) && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static bool is_pdf(const char *path)
{
	zm_autofclose FILE *file = fopen(path, "re");
	char head[5];

	return file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
	       memcmp(head, "%PDF-", sizeof(head)) == 0;
}

static int run_tool(const char *const *argv, const char *folder, struct zm_why *why)
{
	const struct zm_vm_tool tool = { argv, folder, -1, -1 };

	return zm_vm_tool_run(&tool, why);
}

/* Root has no sandbox there; the page holds no script and asks for nothing. */
static int by_chromium(const char *program, const char *html, const char *pdf, const char *folder,
		       struct zm_why *why)
{
	char url[PATH_MAX + 16], to[PATH_MAX + 32], data[PATH_MAX + 32];
	const char *argv[] = { "timeout",
			       "-k",
			       "5",
			       LIMIT_S,
			       program,
			       "--headless",
			       "--disable-gpu",
			       "--no-first-run",
			       "--disable-background-networking",
			       "--no-pdf-header-footer",
			       data,
			       to,
			       geteuid() == 0 ? "--no-sandbox" : "--incognito",
			       url,
			       NULL };
	int r;

	(void)snprintf(url, sizeof(url), "file://%s", html);
	(void)snprintf(to, sizeof(to), "--print-to-pdf=%s", pdf);
	(void)snprintf(data, sizeof(data), "--user-data-dir=%s/browser", folder);
	r = run_tool(argv, folder, why);
	(void)snprintf(data, sizeof(data), "%s/browser", folder);
	(void)zm_remove_tree(data, NULL);
	return r;
}

/* It names its file after the page. */
static int by_office(const char *program, const char *html, const char *pdf, const char *folder,
		     struct zm_why *why)
{
	char data[PATH_MAX + 64];
	const char *argv[] = { "timeout", "-k",           "5",   LIMIT_S,    program, "--headless",
			       data,      "--convert-to", "pdf", "--outdir", folder,  html,
			       NULL };
	int r;

	(void)pdf;
	(void)snprintf(data, sizeof(data), "-env:UserInstallation=file://%s/office", folder);
	r = run_tool(argv, folder, why);
	(void)snprintf(data, sizeof(data), "%s/office", folder);
	(void)zm_remove_tree(data, NULL);
	return r;
}

int zm_pdf_make(const char *html, const char *pdf, struct zm_why *why)
{
	static const struct {
		const char *program;
		int (*make)(const char *program, const char *html, const char *pdf,
			    const char *folder, struct zm_why *why);
	} tools[] = {
		{ "chromium", by_chromium },      { "chromium-browser", by_chromium },
		{ "google-chrome", by_chromium }, { "soffice", by_office },
		{ "libreoffice", by_office },
	};
	char folder[PATH_MAX];
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", pdf);
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		int r;

		if (!is_in_path(tools[i].program))
			continue;
		r = tools[i].make(tools[i].program, html, pdf, folder, why);
		if (r < 0)
			zm_why_prefix(why, "%s", tools[i].program);
		else if (!is_pdf(pdf))
			r = zm_why_set(why, -EIO, "%s left no PDF", tools[i].program);
		return r;
	}
	return zm_why_set(why, -ENOENT,
			  "neither chromium nor LibreOffice is here to make it; install chromium");
}
