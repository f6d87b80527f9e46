/*
 * cmd_qualify: is this machine what it should be?
 *
 *     profile, bands, key -> counters -> runs -> counters -> findings -> dossier -> bundle -> table
 *
 * All that can be refused is, before anything runs. The runs go into a folder beside the bundle; when something
 * ends it early the folder stays, and what was measured with it.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/import.h"
#include "results/outfile.h"
#include "results/table.h"
#include "runner/catalogue.h"
#include "runner/cmd_rows.h"
#include "runner/qualify/campaign.h"
#include "runner/qualify/dossier.h"
#include "runner/qualify/learn.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"

struct switches {
	char *bands, *key, *label, *output, *db;
	unsigned int pdf;
	bool learn, json, share, overcommit;
};

#define AT(member) offsetof(struct switches, member)

static const char *const pdf_choices[] = { "auto", "none", NULL };

static const struct zm_option rows[] = {
	{ .name = "bands",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(bands),
	  .unit = "file",
	  .help = "reference bands, as --learn writes them" },
	{ .name = "learn",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(learn),
	  .preset = "0",
	  .help = "run nothing: learn bands from known-good machines' stores or bundles" },
	{ .name = "key",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(key),
	  .unit = "file",
	  .help = "the private key that signs (Ed25519, PEM), made when it is not there; otherwise "
		  "zonemark/key.pem in the data folder" },
	{ .name = "pdf",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(pdf),
	  .preset = "auto",
	  .choices = pdf_choices,
	  .help = "the report as PDF too, where there is a program to make it" },
	{ .name = "label",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(label),
	  .unit = "text",
	  .help = "kept with the runs, to find them by" },
	{ .name = "output",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(output),
	  .unit = "file",
	  .help = "the bundle, or the bands; otherwise qualify-PROFILE-TIME.tar here, and bands go "
		  "to standard output" },
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = "share",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(share),
	  .preset = "0",
	  .help = "run although another measuring run is under way; both are disturbed" },
	{ .name = "overcommit",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(overcommit),
	  .preset = "0",
	  .help = "run although it needs more than there is" },
	{ .name = NULL },
};

/* Everything that is held; released in one place. */
struct qualification {
	const struct zm_args *args;
	const struct switches *switches;
	struct zm_standard profile;
	struct zm_bands bands;
	struct zm_qualify_machine machine;
	struct zm_signer *signer;
	struct zm_health before, after;
	struct zm_evidence evidence;
	struct zm_finding *findings;
	struct zm_campaign campaign;
	struct zm_dossier dossier;
	char output[PATH_MAX], folder[PATH_MAX], file[PATH_MAX], store[PATH_MAX];
	char fingerprint[ZM_FINGERPRINT_SIZE];
	bool has_folder; /* ours to remove */
	uint64_t elapsed_ns;
};

/* --- opening: all that can be refused --- */

static int open_profile(struct qualification *all, struct zm_why *why)
{
	return zm_standard_open(all->args->words[0], zm_workloads, &all->profile, why);
}

static int open_machine(struct qualification *all, struct zm_why *why)
{
	return zm_qualify_machine_open(&all->machine, NULL, why);
}

/* Bands of another model would judge this one by what it is not. */
static int open_bands(struct qualification *all, struct zm_why *why)
{
	const char *path = all->switches->bands;
	int r = path ? zm_bands_read(path, &all->bands, why) : 0;

	if (r < 0 || !path)
		return r;
	if (strcmp(all->bands.model, all->machine.model) != 0)
		return zm_why_set(why, -EINVAL,
				  "%s: bands of '%.120s', and this machine is '%.120s'", path,
				  all->bands.model, all->machine.model);
	return 0;
}

static int open_key(struct qualification *all, struct zm_why *why)
{
	char usual[PATH_MAX];
	const char *path = all->switches->key;
	int r;

	if (!path && zm_signer_default_path(usual, sizeof(usual)) < 0)
		return zm_why_set(why, -ENOBUFS,
				  "the key's usual path is too long; give --key FILE");
	path = path ? path : usual;
	r = zm_signer_open(path, &all->signer, why);
	if (r == -ENOENT) {
		r = zm_signer_make(path, why);
		if (r == 0)
			r = zm_signer_open(path, &all->signer, why);
		if (r == 0)
			(void)fprintf(stderr,
				      "a new key: %s; who checks its bundles needs %s.pub\n", path,
				      path);
	}
	if (r == 0)
		zm_public_key_fingerprint(zm_signer_public(all->signer), all->fingerprint);
	if (r == 0)
		(void)fprintf(stderr, "the bundle will be signed by the key %s\n",
			      all->fingerprint);
	return r;
}

/* A profile's name without its folder and suffix. */
static void short_name(const char *name, char *buf, size_t size)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;

	(void)snprintf(buf, size, "%.*s", (int)strcspn(base, "."), base);
}

static int open_output(struct qualification *all, struct zm_why *why)
{
	time_t now = (time_t)(zm_clock_wall_ns() / ZM_NS_PER_S);
	char name[64], moment[32];
	struct tm parts;

	short_name(all->profile.name, name, sizeof(name));
	if (!gmtime_r(&now, &parts) ||
	    strftime(moment, sizeof(moment), "%Y%m%dT%H%M%SZ", &parts) == 0)
		moment[0] = '\0';
	if (all->switches->output)
		(void)snprintf(all->output, sizeof(all->output), "%s", all->switches->output);
	else
		(void)snprintf(all->output, sizeof(all->output), "qualify-%s-%s.tar", name, moment);
	return zm_outfile_check(all->output, why);
}

static int write_profile(struct qualification *all, struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	int r;

	(void)snprintf(all->file, sizeof(all->file), "%.*s/profile.yaml", PATH_MAX - 32,
		       all->folder);
	(void)snprintf(all->store, sizeof(all->store), "%.*s/store.db", PATH_MAX - 32, all->folder);
	r = zm_outfile_open(&file, all->file, why);
	if (r == 0 &&
	    fwrite(all->profile.text, 1, all->profile.length, file.out) != all->profile.length)
		r = zm_why_errno(why, -EIO, "%s", all->file);
	if (r == 0)
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}

/* An absolute path, so that what works in it finds it. */
static int open_folder(struct qualification *all, struct zm_why *why)
{
	char wanted[PATH_MAX];
	int n = snprintf(wanted, sizeof(wanted), "%s.work", all->output);

	if (n < 0 || (size_t)n >= sizeof(wanted))
		return zm_why_errno(why, -ENAMETOOLONG, "%.200s", all->output);
	if (mkdir(wanted, 0700) < 0 && errno == EEXIST)
		return zm_why_set(why, -EEXIST,
				  "%s: an earlier qualification that did not end left it; take "
				  "what you need and remove it",
				  wanted);
	if (access(wanted, W_OK) < 0)
		return zm_why_errno(why, -errno, "%s", wanted);
	all->has_folder = true;
	if (!realpath(wanted, all->folder))
		return zm_why_errno(why, -errno, "%s", wanted);
	return write_profile(all, why);
}

/* Another's copy, with nothing but its text. */
static int copy_bands(struct qualification *all, struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	char path[PATH_MAX];
	int r;

	if (!all->switches->bands)
		return 0;
	(void)snprintf(path, sizeof(path), "%.*s/bands.yaml", PATH_MAX - 32, all->folder);
	r = zm_outfile_open(&file, path, why);
	if (r == 0)
		r = zm_bands_write(&all->bands, file.out);
	if (r == 0)
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}

static int open_campaign(struct qualification *all, struct zm_why *why)
{
	all->campaign = (struct zm_campaign){
		.profile = &all->profile,
		.machine = &all->machine,
		.file = strchr(all->args->words[0], '/') ? all->args->words[0] : all->file,
		.store = all->store,
		.label = all->switches->label,
		.argc = all->args->argc,
		.argv = all->args->argv,
		.share = all->switches->share,
		.overcommit = all->switches->overcommit,
	};
	return zm_campaign_check(&all->campaign, why);
}

static int open_all(struct qualification *all, struct zm_why *why)
{
	static int (*const openers[])(struct qualification * all, struct zm_why * why) = {
		open_profile, open_machine,  open_bands, open_output,
		open_folder,  open_campaign, copy_bands, open_key,
	};
	int r = zm_bundle_possible(why);

	for (size_t i = 0; r == 0 && i < sizeof(openers) / sizeof(openers[0]); i++)
		r = openers[i](all, why);
	return r;
}

static void close_all(struct qualification *all)
{
	free(all->findings);
	zm_evidence_release(&all->evidence);
	zm_health_release(&all->before);
	zm_health_release(&all->after);
	zm_signer_free(all->signer);
	zm_qualify_machine_close(&all->machine);
	zm_bands_release(&all->bands);
	zm_standard_release(&all->profile);
	if (all->has_folder)
		(void)zm_remove_tree(all->folder, NULL);
}

/* --- running and judging --- */

static int judge(struct qualification *all, const char *not_run, bool only_machine,
		 struct zm_why *why)
{
	struct zm_facts facts = {
		.evidence = &all->evidence,
		.is_guest = all->machine.is_guest,
		.before = &all->before,
		.after = &all->after,
		.elapsed_s = (double)all->elapsed_ns / (double)ZM_NS_PER_S,
		.bands = all->switches->bands ? &all->bands : NULL,
		.not_run = not_run,
	};
	int r = 0;

	memcpy(facts.parts, all->machine.parts, sizeof(facts.parts));
	free(all->findings);
	all->findings = calloc(all->profile.nr_criteria, sizeof(*all->findings));
	if (!all->findings)
		return zm_why_errno(why, -ENOMEM, "judging");
	for (size_t i = 0; r == 0 && i < all->profile.nr_criteria; i++) {
		const struct zm_criterion *criterion = &all->profile.criteria[i];

		if (!only_machine || criterion->kind == ZM_CRITERION_MACHINE)
			r = zm_finding_make(criterion, &facts, &all->findings[i]);
	}
	return r < 0 ? zm_why_errno(why, r, "judging") : 0;
}

/* Is it another machine than the profile is for? Then nothing need run to say so. */
static int is_wrong_machine(struct qualification *all, bool *ret_wrong, struct zm_why *why)
{
	int r = judge(all, NULL, true, why);

	*ret_wrong = false;
	for (size_t i = 0; r == 0 && i < all->profile.nr_criteria; i++) {
		if (all->profile.criteria[i].kind == ZM_CRITERION_MACHINE &&
		    all->findings[i].grade == ZM_GRADE_FAIL)
			*ret_wrong = true;
	}
	return r;
}

static int read_evidence(struct qualification *all, struct zm_why *why)
{
	struct zm_store *store = NULL;
	int r = zm_store_open(all->store, false, &store, why);

	if (r == 0)
		r = zm_evidence_read(&all->evidence, store, why);
	zm_store_close(store);
	return r;
}

static int measure(struct qualification *all, struct zm_why *why)
{
	uint64_t since_ns = zm_clock_now_ns();
	int r;

	all->campaign.file = all->file;
	r = zm_campaign_run(&all->campaign, why);
	all->elapsed_ns = zm_clock_now_ns() - since_ns;
	if (r == 0 && !all->campaign.signal)
		r = read_evidence(all, why);
	return r;
}

static int run_and_judge(struct qualification *all, struct zm_why *why)
{
	const char *not_run = NULL;
	bool is_wrong = false;
	int r = zm_health_read(&all->machine.root, &all->before);

	if (r == 0)
		r = is_wrong_machine(all, &is_wrong, why);
	else
		(void)zm_why_errno(why, r, "reading the counters");
	if (r < 0)
		return r;
	all->dossier.began_wall_ns = zm_clock_wall_ns();
	if (is_wrong)
		not_run = "not run: this is not the machine that the profile is for";
	else
		r = measure(all, why);
	if (r == 0 && zm_health_read(&all->machine.root, &all->after) < 0)
		r = zm_why_errno(why, -ENOMEM, "reading the counters");
	all->dossier.ended_wall_ns = zm_clock_wall_ns();
	return r < 0 || all->campaign.signal ? r : judge(all, not_run, false, why);
}

/* --- answering --- */

/* The runs are in the bundle; that they are not in the store as well is only said. */
static void import_runs(const struct qualification *all)
{
	struct zm_store *into = NULL, *from = NULL;
	struct zm_import import;
	struct zm_why why = { "" };

	if (access(all->store, R_OK) < 0)
		return;
	if (zm_store_open(all->switches->db, true, &into, &why) < 0 ||
	    zm_store_open(all->store, false, &from, &why) < 0 ||
	    zm_import_store(into, from, &import, &why) < 0)
		(void)fprintf(stderr, "the runs are not in the usual store: %s\n", why.text);
	zm_store_close(from);
	zm_store_close(into);
}

static int make_bundle(struct qualification *all, struct zm_why *why)
{
	all->dossier.profile = &all->profile;
	all->dossier.machine = &all->machine;
	all->dossier.evidence = &all->evidence;
	all->dossier.before = &all->before;
	all->dossier.after = &all->after;
	all->dossier.findings = all->findings;
	all->dossier.grade = zm_finding_overall(all->findings, all->profile.nr_criteria);
	all->dossier.fingerprint = all->fingerprint;
	all->dossier.folder = all->folder;
	all->dossier.wants_pdf = all->switches->pdf == 0;
	if (zm_dossier_write(&all->dossier, why) < 0)
		return -EIO;
	return zm_dossier_pack(&all->dossier, all->output, all->signer, why);
}

static int answer(const struct qualification *all)
{
	const struct zm_dossier *dossier = &all->dossier;
	json_t *object;

	if (all->switches->json) {
		object = zm_dossier_json(dossier);
		(void)json_object_set_new(object, "bundle", json_string(all->output));
		(void)json_dumpf(object, stdout, JSON_INDENT(2));
		(void)putchar('\n');
		json_decref(object);
	} else {
		(void)zm_dossier_print(dossier, stdout, zm_table_terminal_width());
		(void)printf("\n%s: %s\n", all->profile.name, zm_grade_name(dossier->grade));
	}
	if (dossier->no_pdf[0])
		(void)fprintf(stderr, "no PDF: %s\n", dossier->no_pdf);
	(void)fprintf(stderr, "the bundle is %s; `zonemark verify %s` checks it\n", all->output,
		      all->output);
	return dossier->grade == ZM_GRADE_PASS ? ZM_EXIT_OK : ZM_EXIT_NO;
}

/* As it would have without us. */
static void die_of(int signal)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;

	(void)sigaction(signal, &action, NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(signal);
}

static int qualify(const struct zm_args *args)
{
	struct qualification all = { .args = args,
				     .switches = args->switches,
				     .machine = { .root = { .dir_fd = -1 } } };
	struct zm_why why = { "" };
	int r = open_all(&all, &why), signal, status;

	if (r < 0) {
		close_all(&all);
		zm_why_prefix(&why, "qualify");
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	r = run_and_judge(&all, &why);
	import_runs(&all);
	signal = all.campaign.signal;
	if (r == 0 && !signal)
		r = make_bundle(&all, &why);
	if (r < 0) {
		all.has_folder = false;
		zm_why_prefix(&why, "qualify: no bundle was made (what was measured is in %s)",
			      all.folder);
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	} else if (signal) {
		(void)fprintf(stderr, "zonemark: qualify: ended by a signal; no bundle was made\n");
		status = 128 + signal;
	} else {
		status = answer(&all);
	}
	close_all(&all);
	if (signal)
		die_of(signal);
	return status;
}

/* --- learning --- */

static bool is_store(int fd)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, magic, sizeof(magic)) == 0;
}

/* A bundle's store, in a file of its own. */
static int unpack_store(int fd, const char *path, char *ret_path, size_t size, struct zm_why *why)
{
	struct zm_bundle bundle;
	const char *folder = getenv("TMPDIR");
	FILE *out;
	int copy, r = zm_bundle_check(fd, &bundle, why);

	if (r < 0) {
		zm_why_prefix(why, "%s: neither a store nor a whole bundle", path);
		return r;
	}
	(void)snprintf(ret_path, size, "%s/zonemark-learn.XXXXXX", folder ? folder : "/tmp");
	copy = mkostemp(ret_path, O_CLOEXEC);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out)
		return zm_why_errno(why, -errno, "%s", ret_path);
	r = zm_bundle_extract(fd, "store.db", out, why);
	if (fclose(out) != 0 && r == 0)
		r = zm_why_errno(why, -errno, "%s", ret_path);
	if (r < 0)
		(void)unlink(ret_path);
	return r;
}

static int read_source(struct zm_evidence *evidence, const char *path, struct zm_why *why)
{
	zm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char copy[PATH_MAX] = "";
	struct zm_store *store = NULL;
	int r = 0;

	if (fd < 0)
		return zm_why_errno(why, -errno, "%s", path);
	if (!is_store(fd))
		r = unpack_store(fd, path, copy, sizeof(copy), why);
	if (r == 0)
		r = zm_store_open(copy[0] ? copy : path, false, &store, why);
	if (r == 0)
		r = zm_evidence_read(evidence, store, why);
	zm_store_close(store);
	if (copy[0])
		(void)unlink(copy);
	return r;
}

static int write_bands(const struct zm_bands *bands, const char *path, struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	int r;

	if (!path)
		return zm_bands_write(bands, stdout);
	r = zm_outfile_open(&file, path, why);
	if (r == 0)
		r = zm_bands_write(bands, file.out);
	if (r == 0)
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}

static int learn_from(struct qualification *all, struct zm_why *why)
{
	json_t *cells = NULL;
	int r = 0;

	for (size_t i = 1; r == 0 && i < all->args->nr_words; i++)
		r = read_source(&all->evidence, all->args->words[i], why);
	if (r == 0) {
		cells = zm_campaign_cells(&all->campaign, why);
		r = cells ? 0 : -EINVAL;
	}
	if (r == 0)
		r = zm_learn_bands(&all->profile, &all->evidence, cells, &all->bands, why);
	json_decref(cells);
	return r < 0 ? r : write_bands(&all->bands, all->switches->output, why);
}

static int learn(const struct zm_args *args)
{
	static int (*const openers[])(struct qualification * all, struct zm_why * why) = {
		open_profile, open_machine, open_output, open_folder, open_campaign,
	};
	struct qualification all = { .args = args,
				     .switches = args->switches,
				     .machine = { .root = { .dir_fd = -1 } } };
	struct zm_why why = { "" };
	int r = 0;

	if (args->nr_words < 2)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "qualify: --learn: from what? give a profile, and "
				    "stores or bundles of good machines");
	for (size_t i = 0; r == 0 && i < sizeof(openers) / sizeof(openers[0]); i++)
		r = openers[i](&all, &why);
	if (r == 0)
		r = learn_from(&all, &why);
	if (r == 0)
		(void)fprintf(stderr, "%zu bands of %s, from %zu %s\n", all.bands.nr,
			      all.bands.model, all.bands.list[0].nr, all.bands.of);
	close_all(&all);
	if (r < 0)
		zm_why_prefix(&why, "qualify: --learn");
	return r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;

	if (switches->learn)
		return learn(args);
	if (args->nr_words != 1)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "qualify: one profile is wanted: quick, server-1s, "
				    "server-2s, server-4s, soak, or a file");
	return qualify(args);
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "judge a machine by a profile, and put the proof into a signed bundle",
	.usage = "PROFILE | --learn PROFILE STORE|BUNDLE…",
	.details =
		"A profile has runs and criteria: throughput and how it scales, the spread "
		"between launches, the symmetry of sockets and of nodes, memory that comes back, "
		"payload that arrives as it was sent, fault counters of the hardware that must not "
		"rise, time. `quick` takes minutes and is for any machine; `server-1s`, "
		"`server-2s` and `server-4s` are for servers of so many sockets, `soak` runs for "
		"hours. A word with a slash in it, or ending in .yaml, is a profile of one's own "
		"(docs/qualify.md).\n\n"
		"Each criterion is passed, failed or inconclusive; what could not be measured, or "
		"has no reference band, is inconclusive and says why. The exit status is 0 when "
		"all are passed, and 1 otherwise.\n\n"
		"The bundle is one file: verdicts, report (HTML and, where chromium or LibreOffice "
		"is installed, PDF), inventory, fault counters and all that was measured, signed "
		"with Ed25519. `zonemark verify` checks it.\n\n"
		"--learn makes reference bands of machines that are known to be good: tolerance "
		"intervals that hold 99 % of such machines with 95 % confidence.",
	.examples =
		"zonemark qualify quick\tminutes: is anything badly wrong?\n"
		"zonemark qualify server-2s --bands x1.yaml -o sn4711.tar\tby what good ones do\n"
		"zonemark qualify --learn server-2s good/*.tar -o x1.yaml\twhat is that?\n"
		"zonemark verify sn4711.tar --pubkey vendor.pub\tis it as it was signed?",
	.completes = "profiles files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
