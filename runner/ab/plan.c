/* plan: JSON -> struct, whose texts are the JSON's -> JSON again, synced. */
#include "runner/ab/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/looks.h"
#include "results/uuid.h"
#include "workloads/base/cleanup.h"

#define FORMAT    1
#define MOST_PATH 4096

static const char *const state_names[] = {
	[ZM_AB_ASKED] = "asked",
	[ZM_AB_RUNNING] = "running",
	[ZM_AB_DONE] = "done",
};

/* --- where ----------------------------------------------------------------------------------- */

int zm_ab_name_make(const char *prefix, char *buf, size_t size, struct zm_why *why)
{
	char uuid[ZM_UUID_SIZE];
	int r = zm_uuid_make(uuid);

	if (r < 0)
		return zm_why_errno(why, r, "a name");
	(void)snprintf(buf, size, "%s-%.8s", prefix, uuid);
	return 0;
}

int zm_ab_plan_default_path(char *buf, size_t size, struct zm_why *why)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int length;

	if (geteuid() == 0)
		length = snprintf(buf, size, "/var/lib/zonemark/ab.json");
	else if (state && state[0] == '/')
		length = snprintf(buf, size, "%s/zonemark/ab.json", state);
	else if (home && home[0] == '/')
		length = snprintf(buf, size, "%s/.local/state/zonemark/ab.json", home);
	else
		return zm_why_set(why, -ENOENT, "no place for the plan: set HOME, or give --plan");
	if ((size_t)length >= size)
		return zm_why_set(why, -ENAMETOOLONG, "the plan's path is too long");
	return 0;
}

/* The folder that a file lies in. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int make_folders(const char *folder)
{
	char part[MOST_PATH];

	if ((size_t)snprintf(part, sizeof(part), "%s", folder) >= sizeof(part))
		return -ENAMETOOLONG;
	for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
		if (!slash)
			return 0;
		*slash = '/';
	}
}

/* A descriptor, or -errno; -ESTALE: who had it removed the file meanwhile. */
static int try_lock(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct stat ours, theirs;
	int r = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;

	if (r == 0 && (fstat(fd, &ours) < 0 || stat(name, &theirs) < 0 ||
		       ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev))
		r = -ESTALE;
	if (r < 0 && fd >= 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

int zm_ab_plan_lock(const char *path, int *ret_fd, struct zm_why *why)
{
	zm_autofree char *folder = folder_of(path);
	zm_autofree char *name = NULL;
	int fd, r = folder ? make_folders(folder) : -ENOMEM;

	if (r < 0)
		return zm_why_errno(why, r, "the plan %s", path);
	if (asprintf(&name, "%s.lock", path) < 0) {
		name = NULL;
		return zm_why_errno(why, -ENOMEM, "the plan %s", path);
	}
	do {
		fd = try_lock(name);
	} while (fd == -ESTALE);
	if (fd == -EWOULDBLOCK)
		return zm_why_set(why, -EBUSY, "another zonemark works on the plan %s", path);
	if (fd < 0)
		return zm_why_errno(why, fd, "%s", name);
	*ret_fd = fd;
	return 0;
}

void zm_ab_plan_unlock(const char *path, int fd)
{
	zm_autofree char *name = NULL;

	if (fd < 0)
		return;
	if (asprintf(&name, "%s.lock", path) < 0)
		name = NULL;
	else
		(void)unlink(name);
	(void)close(fd);
}

/* --- reading --------------------------------------------------------------------------------- */

static int read_step(json_t *from, struct zm_ab_step *step)
{
	const char *state, *boot;
	int side, tries;

	if (json_unpack(from, "{s:i, s:s, s:i, s:s}", "side", &side, "state", &state, "tries",
			&tries, "boot", &boot) < 0 ||
	    side < 0 || side >= ZM_AB_SIDES || tries < 0 || strlen(boot) >= sizeof(step->boot))
		return -EUCLEAN;
	step->side = (unsigned int)side;
	step->nr_tries = (unsigned int)tries;
	(void)snprintf(step->boot, sizeof(step->boot), "%s", boot);
	for (unsigned int i = 0; i < sizeof(state_names) / sizeof(state_names[0]); i++) {
		if (strcmp(state, state_names[i]) == 0) {
			step->state = (enum zm_ab_state)i;
			return 0;
		}
	}
	return -EUCLEAN;
}

/* All but the last are done. */
static int read_steps(json_t *steps, struct zm_ab_plan *plan)
{
	size_t nr = json_array_size(steps);

	plan->steps = calloc(nr + 1, sizeof(*plan->steps));
	if (!plan->steps)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (read_step(json_array_get(steps, i), &plan->steps[i]) < 0 ||
		    (i + 1 < nr && plan->steps[i].state != ZM_AB_DONE))
			return -EUCLEAN;
		plan->nr_steps++;
	}
	return 0;
}

static bool are_texts(json_t *array)
{
	size_t i;
	json_t *item;

	json_array_foreach(array, i, item) if (!json_is_string(item)) return false;
	return json_is_array(array);
}

static int copy(char *to, size_t size, const char *from)
{
	return (size_t)snprintf(to, size, "%s", from) < size ? 0 : -EUCLEAN;
}

static int read_progress(struct zm_ab_plan *plan)
{
	const char *accelerator, *a, *b, *end;
	json_int_t nr_verdicts;
	int is_failed, is_late;
	json_t *steps;

	if (json_unpack(plan->owner, "{s:s, s:[ss], s:I, s:s, s:b, s:b, s:o}", "accelerator",
			&accelerator, "identities", &a, &b, "verdicts", &nr_verdicts, "end", &end,
			"is_failed", &is_failed, "is_out_of_time", &is_late, "steps", &steps) < 0 ||
	    nr_verdicts < 0 || copy(plan->accelerator, sizeof(plan->accelerator), accelerator) ||
	    copy(plan->identities[0], ZM_AB_IDENTITY, a) ||
	    copy(plan->identities[1], ZM_AB_IDENTITY, b) || copy(plan->end, sizeof(plan->end), end))
		return -EUCLEAN;
	plan->nr_verdicts = (size_t)nr_verdicts;
	plan->is_failed = is_failed;
	plan->is_out_of_time = is_late;
	return read_steps(steps, plan);
}

static int read_all(struct zm_ab_plan *plan)
{
	int format, is_metal, is_sequential;
	json_int_t most, start, hours;

	if (json_unpack(
		    plan->owner,
		    "{s:i, s:s, s:[ss], s:[ss], s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:I, "
		    "s:F, s:F, s:I, s:I}",
		    "format", &format, "name", &plan->name, "kernels", &plan->kernels[0],
		    &plan->kernels[1], "appends", &plan->appends[0], &plan->appends[1], "db",
		    &plan->db, "folder", &plan->folder, "boot_command", &plan->boot_command,
		    "set_command", &plan->set_command, "reboot_command", &plan->reboot_command,
		    "vm_words", &plan->vm_words, "words", &plan->words, "is_metal", &is_metal,
		    "is_sequential", &is_sequential, "most", &most, "least", &plan->least,
		    "confidence", &plan->confidence, "start_wall_ns", &start, "hours_ns",
		    &hours) < 0 ||
	    format != FORMAT || most < 1 || most > ZM_LOOKS_VALUES || hours < 0 ||
	    !are_texts(plan->vm_words) || !are_texts(plan->words))
		return -EUCLEAN;
	plan->is_metal = is_metal;
	plan->is_sequential = is_sequential;
	plan->most = (size_t)most;
	plan->start_wall_ns = (uint64_t)start;
	plan->hours_ns = (uint64_t)hours;
	return read_progress(plan);
}

int zm_ab_plan_adopt(struct zm_ab_plan *plan, struct zm_why *why)
{
	int r = read_all(plan);

	return r < 0 ? zm_why_errno(why, r, "the plan") : 0;
}

int zm_ab_plan_load(const char *path, struct zm_ab_plan *ret_plan, struct zm_why *why)
{
	struct zm_ab_plan plan = { 0 };
	int r;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return -ENOENT;
	plan.owner = json_load_file(path, 0, NULL);
	if (!plan.owner && access(path, R_OK) < 0)
		return zm_why_errno(why, -errno, "the plan %s", path);
	r = plan.owner ? read_all(&plan) : -EUCLEAN;
	if (r == 0) {
		*ret_plan = plan;
		return 0;
	}
	zm_ab_plan_release(&plan);
	if (r == -EUCLEAN)
		return zm_why_set(
			why, r,
			"%s is no plan of this zonemark, or damaged; remove it to begin anew",
			path);
	return zm_why_errno(why, r, "the plan %s", path);
}

void zm_ab_plan_release(struct zm_ab_plan *plan)
{
	json_decref(plan->owner);
	free(plan->steps);
	*plan = (struct zm_ab_plan){ 0 };
}

/* --- writing --------------------------------------------------------------------------------- */

static json_t *steps_json(const struct zm_ab_plan *plan)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < plan->nr_steps; i++) {
		const struct zm_ab_step *step = &plan->steps[i];

		(void)json_array_append_new(
			steps, json_pack("{s:i, s:s, s:i, s:s}", "side", (int)step->side, "state",
					 state_names[step->state], "tries", (int)step->nr_tries,
					 "boot", step->boot));
	}
	return steps;
}

static json_t *plan_json(const struct zm_ab_plan *plan)
{
	return json_pack(
		"{s:i, s:s, s:[ss], s:[ss], s:s, s:s, s:s, s:s, s:s, s:O, s:O, s:b, s:b, s:I, s:f, "
		"s:f, "
		"s:I, s:I, s:s, s:[ss], s:I, s:s, s:b, s:b, s:o}",
		"format", FORMAT, "name", plan->name, "kernels", plan->kernels[0], plan->kernels[1],
		"appends", plan->appends[0], plan->appends[1], "db", plan->db, "folder",
		plan->folder, "boot_command", plan->boot_command, "set_command", plan->set_command,
		"reboot_command", plan->reboot_command, "vm_words", plan->vm_words, "words",
		plan->words, "is_metal", (int)plan->is_metal, "is_sequential",
		(int)plan->is_sequential, "most", (json_int_t)plan->most, "least", plan->least,
		"confidence", plan->confidence, "start_wall_ns", (json_int_t)plan->start_wall_ns,
		"hours_ns", (json_int_t)plan->hours_ns, "accelerator", plan->accelerator,
		"identities", plan->identities[0], plan->identities[1], "verdicts",
		(json_int_t)plan->nr_verdicts, "end", plan->end, "is_failed", (int)plan->is_failed,
		"is_out_of_time", (int)plan->is_out_of_time, "steps", steps_json(plan));
}

static int write_synced(const char *path, const json_t *json)
{
	zm_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	errno = EIO;
	if (json_dumpfd(json, fd, JSON_INDENT(1)) < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

static int sync_folder(const char *path)
{
	zm_autofree char *folder = folder_of(path);
	zm_autoclose int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return fd < 0 || (fsync(fd) < 0 && errno != EINVAL) ? -errno : 0;
}

int zm_ab_plan_save(const char *path, const struct zm_ab_plan *plan, struct zm_why *why)
{
	zm_autofree char *beside = NULL;
	json_t *json = plan_json(plan);
	int r = json ? 0 : -ENOMEM;

	if (r == 0 && asprintf(&beside, "%s.new", path) < 0) {
		beside = NULL;
		r = -ENOMEM;
	}
	if (r == 0)
		r = write_synced(beside, json);
	if (r == 0 && rename(beside, path) < 0)
		r = -errno;
	if (r == 0)
		r = sync_folder(path);
	json_decref(json);
	return r < 0 ? zm_why_errno(why, r, "the plan %s", path) : 0;
}

/* --- steps ----------------------------------------------------------------------------------- */

static unsigned int side_of(size_t step)
{
	return step % 4 == 1 || step % 4 == 2;
}

struct zm_ab_step *zm_ab_plan_step(struct zm_ab_plan *plan)
{
	size_t nr = plan->nr_steps;
	struct zm_ab_step *steps;

	if (nr && plan->steps[nr - 1].state != ZM_AB_DONE)
		return &plan->steps[nr - 1];
	steps = realloc(plan->steps, (nr + 1) * sizeof(*steps));
	if (!steps)
		return NULL;
	steps[nr] = (struct zm_ab_step){ .side = side_of(nr) };
	plan->steps = steps;
	plan->nr_steps++;
	return &steps[nr];
}

size_t zm_ab_plan_nr_done(const struct zm_ab_plan *plan, unsigned int side)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr_steps; i++)
		nr += plan->steps[i].side == side && plan->steps[i].state == ZM_AB_DONE;
	return nr;
}

bool zm_ab_plan_has_boot(const struct zm_ab_plan *plan, unsigned int side, const char *boot)
{
	for (size_t i = 0; i < plan->nr_steps; i++) {
		const struct zm_ab_step *step = &plan->steps[i];

		if (step->side == side && step->state == ZM_AB_DONE &&
		    strcmp(step->boot, boot) == 0)
			return true;
	}
	return false;
}

char *zm_ab_plan_label(const struct zm_ab_plan *plan, unsigned int side, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s-%c", plan->name, side ? 'b' : 'a');
	return buf;
}
