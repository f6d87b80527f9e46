/*
 * setting: from a name in the documents to files of this machine, and through the journal into them.
 *
 *     files   the row's path, every policy's governor, or proc/sys/NAME
 *     check   there? writable? among the choices that the file offers?
 *     apply   check -> journal -> read back: what the kernel made of it must be what was asked for
 */
#include "runner/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/journal_undo.h"
#include "workloads/base/units.h"

#define SYSCTL           "sysctl."
#define GOVERNOR         "cpufreq_governor"
#define POLICY_DIR       "sys/devices/system/cpu/cpufreq"
#define GOVERNOR_FILE    POLICY_DIR "/policy%d/scaling_governor"
#define AVAILABLE_FILE   POLICY_DIR "/policy%d/scaling_available_governors"
#define SETTING_PATH_MAX 512

const struct zm_setting_row zm_setting_rows[] = {
	{ "thp_enabled", "sys/kernel/mm/transparent_hugepage/enabled",
	  "transparent huge pages: always, madvise or never" },
	{ "thp_defrag", "sys/kernel/mm/transparent_hugepage/defrag",
	  "how hard a fault tries for a huge page: always, defer, defer+madvise, madvise or "
	  "never" },
	{ GOVERNOR, POLICY_DIR "/policy*/scaling_governor",
	  "the frequency governor of all CPUs: performance, powersave, schedutil…" },
	{ "percpu_pagelist_high_fraction", "proc/sys/vm/percpu_pagelist_high_fraction",
	  "a zone's share that its per-CPU lists may hold, 1/N of it; 0: the kernel's own choice" },
	{ "numa_balancing", "proc/sys/kernel/numa_balancing",
	  "automatic NUMA balancing: 0 off, 1 on, 2 tiering" },
	{ NULL, NULL, NULL },
};

static const struct zm_setting_row *find_row(const char *name)
{
	for (const struct zm_setting_row *row = zm_setting_rows; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

static bool is_sysctl(const char *name)
{
	return strncmp(name, SYSCTL, strlen(SYSCTL)) == 0;
}

bool zm_setting_is(const char *name)
{
	return is_sysctl(name) || find_row(name);
}

/* --- files ----------------------------------------------------------------------------------- */

/* "vm.swappiness" and "vm/swappiness"; the first separator tells which one parts the path, and the
 * other then stands for a dot in a name: "net.ipv4.conf.eth0/1.forwarding". */
static int sysctl_path(const char *name, char *buf, size_t size)
{
	size_t first = strcspn(name, "./");
	bool is_dotted = name[first] == '.';

	if ((size_t)snprintf(buf, size, "proc/sys/%s", name) >= size)
		return -ENAMETOOLONG;
	if (is_dotted)
		for (char *c = buf + strlen("proc/sys/"); *c; c++)
			*c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
	return 0;
}

static int say_unknown(const char *name, struct zm_why *why)
{
	return zm_why_set(why, -ENOENT, "%s: no such setting; see `zonemark run --help`", name);
}

static int find_policies(const struct zm_sysroot *root, struct zm_cpuset *policies,
			 struct zm_why *why)
{
	int error = zm_sysroot_list_numbered(root, POLICY_DIR, "policy", policies);

	if (error)
		return zm_why_errno(why, error, "cannot list the frequency policies");
	if (zm_cpuset_count(policies) == 0)
		return zm_why_set(why, -ENOENT,
				  GOVERNOR ": this kernel does not scale frequencies (a guest "
					   "seldom does): leave it out");
	return 0;
}

/* What is done to each file of a setting. */
struct file_action {
	const char *name;
	const char *value;
	struct zm_journal *journal;
	int (*act)(const struct zm_sysroot *root, const char *path, const char *choices_path,
		   const struct file_action *action, struct zm_why *why);
};

static int each_policy(const struct zm_sysroot *root, const struct file_action *action,
		       struct zm_why *why)
{
	struct zm_cpuset policies = { NULL, 0 };
	int error = find_policies(root, &policies, why);

	if (!error)
		zm_cpuset_for_each (policy, &policies) {
			char path[96], choices[96];

			(void)snprintf(path, sizeof(path), GOVERNOR_FILE, policy);
			(void)snprintf(choices, sizeof(choices), AVAILABLE_FILE, policy);
			error = action->act(root, path, choices, action, why);
			if (error)
				break;
		}
	zm_cpuset_release(&policies);
	return error;
}

static int each_file(const struct zm_sysroot *root, const struct file_action *action,
		     struct zm_why *why)
{
	const struct zm_setting_row *row = find_row(action->name);
	char path[SETTING_PATH_MAX];

	if (is_sysctl(action->name)) {
		if (sysctl_path(action->name + strlen(SYSCTL), path, sizeof(path)))
			return say_unknown(action->name, why);
		return action->act(root, path, NULL, action, why);
	}
	if (!row)
		return say_unknown(action->name, why);
	if (strcmp(row->name, GOVERNOR) == 0)
		return each_policy(root, action, why);
	return action->act(root, row->path, row->path, action, why);
}

/* --- check ----------------------------------------------------------------------------------- */

/* "always [madvise] never" or "performance powersave": is the word one of them? A file without at
 * least two words offers no choice. */
static bool is_offered(const char *choices, const char *word)
{
	size_t length = strlen(word), nr = 0;

	for (const char *at = choices; *(at += strspn(at, " []\n"));) {
		size_t word_length = strcspn(at, " []\n");

		if (word_length == length && memcmp(at, word, length) == 0)
			return true;
		at += word_length;
		nr++;
	}
	return nr < 2;
}

static int check_choice(const struct zm_sysroot *root, const char *choices_path,
			const struct file_action *action, struct zm_why *why)
{
	zm_autofree char *choices = NULL;

	if (!choices_path || strncmp(choices_path, "sys/", 4) != 0 ||
	    zm_sysroot_read(root, choices_path, &choices, NULL))
		return 0;
	if (is_offered(choices, action->value))
		return 0;
	choices[strcspn(choices, "\n")] = '\0';
	return zm_why_set(why, -EINVAL, "%s=%s: this kernel offers %s", action->name, action->value,
			  choices);
}

static int check_file(const struct zm_sysroot *root, const char *path, const char *choices_path,
		      const struct file_action *action, struct zm_why *why)
{
	zm_autofree char *text = NULL;
	int error = zm_setting_file_read(root, path, &text);

	if (error == -ENOENT)
		return zm_why_set(why, error, "%s: this kernel does not have /%s", action->name,
				  path);
	if (error == -EINVAL)
		return zm_why_set(why, error, "%s: /%s is no setting", action->name, path);
	if (error)
		return zm_why_errno(why, error, "%s: cannot read /%s, so it could not be put back",
				    action->name, path);
	error = check_choice(root, choices_path, action, why);
	if (error || zm_setting_text_is_same(text, action->value))
		return error;
	if (root->is_live && faccessat(root->dir_fd, path, W_OK, AT_EACCESS))
		return zm_why_errno(why, -errno, "%s: cannot write /%s; run as root", action->name,
				    path);
	return 0;
}

static int find_file(const struct zm_sysroot *root, const char *path, const char *choices_path,
		     const struct file_action *action, struct zm_why *why)
{
	(void)choices_path;
	(void)action;
	(void)why;
	return zm_sysroot_has(root, path) ? 0 : -ENOENT;
}

bool zm_setting_is_here(const struct zm_sysroot *root, const char *name)
{
	const struct file_action action = { name, NULL, NULL, find_file };

	return each_file(root, &action, NULL) == 0;
}

int zm_setting_check(const struct zm_sysroot *root, const char *name, const char *value,
		     struct zm_why *why)
{
	const struct file_action action = { name, value, NULL, check_file };

	return each_file(root, &action, why);
}

/* --- apply ----------------------------------------------------------------------------------- */

/* "0x8" and "8" are the same number. */
static bool is_same_value(const char *a, const char *b)
{
	uint64_t number_a, number_b;

	if (zm_setting_text_is_same(a, b))
		return true;
	return zm_units_parse_u64(a, &number_a) == 0 && zm_units_parse_u64(b, &number_b) == 0 &&
	       number_a == number_b;
}

static int apply_file(const struct zm_sysroot *root, const char *path, const char *choices_path,
		      const struct file_action *action, struct zm_why *why)
{
	zm_autofree char *now = NULL;
	int error = check_file(root, path, choices_path, action, why);

	if (error)
		return error;
	error = zm_journal_set(action->journal, path, action->value, why);
	if (error) {
		zm_why_prefix(why, "%s=%s", action->name, action->value);
		return error;
	}
	error = zm_setting_file_read(root, path, &now);
	if (error)
		return zm_why_errno(why, error, "%s: cannot read /%s back", action->name, path);
	if (!is_same_value(now, action->value))
		return zm_why_set(why, -EINVAL, "%s=%s: the kernel made it \"%s\": ask for that",
				  action->name, action->value, now);
	return 0;
}

int zm_setting_apply(const struct zm_sysroot *root, struct zm_journal *journal, const char *name,
		     const char *value, struct zm_why *why)
{
	const struct file_action action = { name, value, journal, apply_file };

	return each_file(root, &action, why);
}
