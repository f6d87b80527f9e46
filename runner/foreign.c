/* foreign: fork, watch, wait on a pidfd, reap. */
#include "runner/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/watch.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define FAST_NS  (100 * ZM_NS_PER_MS)
#define FLUSH_NS ZM_NS_PER_S

enum tick {
	TICK_FAST,
	TICK_NORMAL,
	TICK_FLUSH,
	NR_TICKS,
};

/* One launch under way. */
struct viewing {
	struct zm_foreign *foreign;
	struct zm_outcome *outcome;
	struct zm_recorder *recorder;
	struct zm_watch watch;
	pid_t pid;
	int word_fd;  /* a byte: the command may start */
	int error_fd; /* what its exec says */
	int pid_fd;
	unsigned int nr_signals;
	uint64_t t0_ns, t1_ns; /* of the measured phase */
	uint64_t interval_ns[NR_TICKS], next_ns[NR_TICKS];
};

/* --- is it there? ---------------------------------------------------------------------------- */

static int try(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -ENOENT;
	return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* As execvp: a folder's forbidden file is remembered while the others are looked at. */
static int search(const char *command)
{
	const char *path = getenv("PATH") ? getenv("PATH") : "/usr/local/bin:/usr/bin:/bin";
	int found = -ENOENT;

	while (found != 0) {
		size_t length = strcspn(path, ":");
		char name[4096];
		int n = snprintf(name, sizeof(name), "%.*s%s%s", (int)length, path,
				 length ? "/" : "", command);
		int r = n > 0 && (size_t)n < sizeof(name) ? try(name) : -ENOENT;

		found = r == -ENOENT ? found : r;
		if (!path[length])
			break;
		path += length + 1;
	}
	return found;
}

int zm_foreign_find(const char *command, struct zm_why *why)
{
	int r = strchr(command, '/') ? try(command) : *command ? search(command) : -ENOENT;

	if (!*command)
		return zm_why_set(why, r, "the command's name is empty");
	if (r == -ENOENT)
		return zm_why_set(why, r, "%s: no such command%s", command,
				  strchr(command, '/') ? "" : " on PATH");
	if (r == -EACCES)
		return zm_why_set(why, r, "%s: not a program that may be run: chmod +x?", command);
	return r;
}

/* --- the command's process ------------------------------------------------------------------- */

static _Noreturn void become(const struct zm_foreign *foreign, int word_fd, int error_fd)
{
	ssize_t n;
	char word;
	int error;

	/* Whatever kills the runner ends the command, too; what died before now closed the pipe. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	do {
		n = read(word_fd, &word, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1) /* the runner died before */
		_exit(127);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, foreign->mask, NULL);
	(void)execvp(foreign->argv[0], foreign->argv);
	error = errno;
	(void)!write(error_fd, &error, sizeof(error));
	_exit(127);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static int start(struct viewing *viewing, struct zm_why *why)
{
	int word[2], error[2];

	if (pipe2(word, O_CLOEXEC) < 0)
		return zm_why_errno(why, -errno, "starting the command");
	if (pipe2(error, O_CLOEXEC) < 0) {
		(void)close(word[0]);
		(void)close(word[1]);
		return zm_why_errno(why, -errno, "starting the command");
	}
	(void)fflush(NULL);
	viewing->pid = fork();
	if (viewing->pid == 0) {
		(void)close(word[1]);
		become(viewing->foreign, word[0], error[1]);
	}
	(void)close(word[0]);
	(void)close(error[1]);
	viewing->word_fd = word[1];
	viewing->error_fd = error[0];
	if (viewing->pid < 0)
		return zm_why_errno(why, -errno, "starting the command");
	viewing->pid_fd = (int)syscall(SYS_pidfd_open, viewing->pid, 0);
	return viewing->pid_fd < 0 ? zm_why_errno(why, -errno, "watching the command (pidfd_open)")
				   : 0;
}

/* Nothing comes out of the pipe when the exec went well: it closed it. */
static void hear_exec(struct viewing *viewing)
{
	int error;

	if (viewing->error_fd >= 0 &&
	    read(viewing->error_fd, &error, sizeof(error)) == (ssize_t)sizeof(error))
		viewing->foreign->exec_error = -error;
}

/* --- waiting --------------------------------------------------------------------------------- */

/* What a terminal sends, it sends to the command too; the rest is passed on. */
static void hear_signal(struct viewing *viewing)
{
	struct signalfd_siginfo info;
	ssize_t n = read(viewing->foreign->session->signal_fd, &info, sizeof(info));

	if (n != (ssize_t)sizeof(info))
		return;
	if (viewing->outcome->signal == 0)
		viewing->outcome->signal = (int)info.ssi_signo;
	if (++viewing->nr_signals > 1)
		(void)kill(viewing->pid, SIGKILL);
	else if (info.ssi_code != SI_KERNEL)
		(void)kill(viewing->pid, (int)info.ssi_signo);
}

static void flush(struct viewing *viewing)
{
	struct zm_outcome *outcome = viewing->outcome;
	int r = outcome->store_error ? 0 : zm_recorder_flush(viewing->recorder, &outcome->why);

	/* The command is somebody's work: it goes on, and nothing more is kept. */
	if (r < 0)
		outcome->store_error = r;
}

static void tick(struct viewing *viewing, uint64_t now_ns)
{
	for (enum tick i = 0; i < NR_TICKS; i++) {
		if (now_ns < viewing->next_ns[i])
			continue;
		if (i == TICK_FLUSH)
			flush(viewing);
		else if (!viewing->outcome->store_error)
			zm_watch_read(&viewing->watch,
				      i == TICK_FAST ? ZM_RATE_FAST : ZM_RATE_NORMAL,
				      ZM_PHASE_MEASURE, now_ns);
		viewing->next_ns[i] += viewing->interval_ns[i];
		if (viewing->next_ns[i] <= now_ns) /* we stood still */
			viewing->next_ns[i] = now_ns + viewing->interval_ns[i];
	}
}

static uint64_t next_tick(const struct viewing *viewing)
{
	uint64_t next_ns = viewing->next_ns[0];

	for (enum tick i = 0; i < NR_TICKS; i++)
		next_ns = viewing->next_ns[i] < next_ns ? viewing->next_ns[i] : next_ns;
	return next_ns;
}

static void wait_for_end(struct viewing *viewing)
{
	struct pollfd fds[] = { { viewing->pid_fd, POLLIN, 0 },
				{ viewing->foreign->session->signal_fd, POLLIN, 0 } };

	for (enum tick i = 0; i < NR_TICKS; i++)
		viewing->next_ns[i] = viewing->t0_ns + viewing->interval_ns[i];
	while (!(fds[0].revents & POLLIN)) {
		uint64_t now_ns = zm_clock_now_ns(), next_ns = next_tick(viewing);
		uint64_t left_ns = next_ns > now_ns ? next_ns - now_ns : 0;
		const struct timespec left = { (time_t)(left_ns / ZM_NS_PER_S),
					       (long)(left_ns % ZM_NS_PER_S) };

		(void)ppoll(fds, 2, &left, NULL);
		if (fds[1].revents & POLLIN)
			hear_signal(viewing);
		if (!(fds[0].revents & POLLIN))
			tick(viewing, zm_clock_now_ns());
	}
}

/* --- the record ------------------------------------------------------------------------------ */

static char *describe(const struct zm_foreign *foreign, bool with_all)
{
	json_t *object = json_object();
	char *text;

	(void)json_object_set_new(object, "command", json_string(foreign->line));
	if (with_all)
		(void)json_object_set_new(
			object, "monitor_interval",
			json_sprintf("%llums",
				     (unsigned long long)(foreign->interval_ns / ZM_NS_PER_MS)));
	text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(object);
	return text;
}

static int begin(struct viewing *viewing, unsigned int repeat, struct zm_why *why)
{
	const struct zm_session *session = viewing->foreign->session;
	zm_autofree char *params = describe(viewing->foreign, true);
	zm_autofree char *cell = describe(viewing->foreign, false);
	const struct zm_run_record record = {
		.invocation = session->invocation,
		.command_line = session->command_line,
		.label = session->label,
		.workload = ZM_FOREIGN_NAME,
		.params = params,
		.cell = cell,
		.repeat = repeat,
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = 1,
		.kind = "process",
		.inventory = session->inventory,
		.machine_id = session->machine_id,
		.boot_id = session->boot_id,
		.kernel = session->kernel,
		.version = ZM_VERSION,
	};
	int r = params && cell ? 0 : zm_why_errno(why, -ENOMEM, "the run's record");

	if (r == 0)
		r = zm_recorder_begin(session->store, &record, &viewing->recorder, why);
	if (r < 0)
		return r;
	viewing->outcome->run_id = zm_recorder_run_id(viewing->recorder);
	zm_report_init(&viewing->outcome->report, viewing->recorder, 1);
	if (session->guest_note)
		(void)zm_recorder_note(viewing->recorder, "guest", session->guest_note);
	if (session->is_shared)
		(void)zm_recorder_note(viewing->recorder, "shared",
				       "--share: another measuring run was allowed");
	return 0;
}

static void note(struct viewing *viewing, const char *kind, const char *text)
{
	struct zm_outcome *outcome = viewing->outcome;

	(void)zm_recorder_note(viewing->recorder, kind, text);
	(void)snprintf(outcome->flags, sizeof(outcome->flags), "%s", kind);
}

/* How it ended, for the record. */
static void judge(struct viewing *viewing)
{
	struct zm_outcome *outcome = viewing->outcome;
	int status = viewing->foreign->status;
	char text[64];

	outcome->status = ZM_STATUS_OK;
	if (viewing->foreign->exec_error) {
		outcome->status = ZM_STATUS_FAILED;
		(void)zm_why_errno(&outcome->why, viewing->foreign->exec_error,
				   "%s: could not be started", viewing->foreign->argv[0]);
	} else if (outcome->signal) {
		outcome->status = ZM_STATUS_INTERRUPTED;
		(void)zm_why_set(&outcome->why, 0, "interrupted by SIG%s",
				 sigabbrev_np(outcome->signal));
	} else if (WIFSIGNALED(status)) {
		outcome->status = ZM_STATUS_FAILED;
		(void)zm_why_set(&outcome->why, 0, "the command was killed by signal %d (%s)",
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status) != 0) {
		(void)snprintf(text, sizeof(text), "the command ended with status %d",
			       WEXITSTATUS(status));
		note(viewing, "exit-status", text);
	}
}

static const struct zm_metric elapsed = {
	.name = "profile.elapsed_time", .unit = "s", .better = ZM_BETTER_LESS, .is_primary = true
};
static const struct zm_metric user_time = { .name = "profile.user_time",
					    .unit = "s",
					    .better = ZM_BETTER_LESS };
static const struct zm_metric system_time = { .name = "profile.system_time",
					      .unit = "s",
					      .better = ZM_BETTER_LESS };
static const struct zm_metric max_rss = { .name = "profile.max_rss",
					  .unit = "bytes",
					  .better = ZM_BETTER_LESS };

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void derive(struct viewing *viewing)
{
	struct zm_report *report = &viewing->outcome->report;
	const struct rusage *usage = &viewing->foreign->usage;
	uint64_t width_ns = viewing->t1_ns - viewing->t0_ns;
	const struct {
		const struct zm_metric *metric;
		double value;
	} rows[] = {
		{ &elapsed, (double)width_ns / (double)ZM_NS_PER_S },
		{ &user_time, seconds(&usage->ru_utime) },
		{ &system_time, seconds(&usage->ru_stime) },
		{ &max_rss, (double)usage->ru_maxrss * 1024 },
	};

	report->source = ZM_FOREIGN_NAME;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		(void)zm_report_add(report, rows[i].metric, rows[i].value, rows[i].value, width_ns);
	zm_watch_report(&viewing->watch, viewing->t0_ns, viewing->t1_ns, report);
}

/* --- all of it ------------------------------------------------------------------------------- */

static void look(struct viewing *viewing)
{
	const struct zm_target target = {
		.kind = ZM_TASK_PROCESS, .launcher = getpid(), .tids = &viewing->pid, .nr_tasks = 1
	};
	uint64_t began_ns = zm_clock_now_ns();

	(void)zm_recorder_task(viewing->recorder, 0, viewing->pid, -1, -1);
	zm_watch_attach(&viewing->watch, &target);
	viewing->t0_ns = zm_clock_now_ns();
	zm_watch_read(&viewing->watch, ZM_RATE_BORDERS, ZM_PHASE_MEASURE, viewing->t0_ns);
	(void)zm_recorder_phase(viewing->recorder, ZM_PHASE_SETUP, began_ns, viewing->t0_ns);
	(void)!write(viewing->word_fd, "", 1);
	close_fd(&viewing->word_fd);
	wait_for_end(viewing);
	viewing->t1_ns = zm_clock_now_ns();
	if (!viewing->outcome->store_error)
		zm_watch_read(&viewing->watch, ZM_RATE_BORDERS, ZM_PHASE_STOP, viewing->t1_ns);
	(void)zm_recorder_phase(viewing->recorder, ZM_PHASE_MEASURE, viewing->t0_ns,
				viewing->t1_ns);
}

static void reap(struct viewing *viewing)
{
	struct zm_foreign *foreign = viewing->foreign;

	while (wait4(viewing->pid, &foreign->status, 0, &foreign->usage) < 0 && errno == EINTR)
		;
	hear_exec(viewing);
}

static void view(struct viewing *viewing, unsigned int repeat)
{
	struct zm_outcome *outcome = viewing->outcome;
	int r = begin(viewing, repeat, &outcome->why);

	if (r < 0) {
		outcome->store_error = r;
		return;
	}
	outcome->status = ZM_STATUS_FAILED;
	r = zm_watch_open(&viewing->watch, viewing->foreign->session->monitors,
			  viewing->foreign->session->root, viewing->recorder);
	if (r < 0)
		(void)zm_why_errno(&outcome->why, r, "the monitors");
	else
		r = start(viewing, &outcome->why);
	if (r == 0)
		look(viewing);
	else if (viewing->pid > 0)
		(void)kill(viewing->pid, SIGKILL);
	if (viewing->pid > 0)
		reap(viewing);
	if (r < 0)
		viewing->foreign->status = -1;
	if (r < 0 || outcome->store_error)
		return;
	judge(viewing);
	if (!viewing->foreign->exec_error)
		derive(viewing);
}

static void close_all(struct viewing *viewing)
{
	struct zm_outcome *outcome = viewing->outcome;
	struct zm_why why = { "" };
	int r;

	close_fd(&viewing->word_fd);
	close_fd(&viewing->error_fd);
	close_fd(&viewing->pid_fd);
	zm_watch_close(&viewing->watch);
	r = zm_recorder_end(viewing->recorder, outcome->status,
			    outcome->status == ZM_STATUS_OK ? NULL : outcome->why.text, &why);
	outcome->report.recorder = NULL;
	if (r < 0 && outcome->store_error == 0) {
		outcome->store_error = r;
		outcome->why = why;
	}
}

void zm_foreign_run(struct zm_foreign *foreign, unsigned int repeat, struct zm_outcome *ret_outcome)
{
	struct viewing viewing = { .foreign = foreign,
				   .outcome = ret_outcome,
				   .word_fd = -1,
				   .error_fd = -1,
				   .pid_fd = -1,
				   .interval_ns = { [TICK_FAST] = foreign->interval_ns < FAST_NS
									  ? foreign->interval_ns
									  : FAST_NS,
						    [TICK_NORMAL] = foreign->interval_ns,
						    [TICK_FLUSH] = FLUSH_NS } };

	*ret_outcome = (struct zm_outcome){ .status = ZM_STATUS_RUNNING, .spread = -1 };
	foreign->status = -1;
	foreign->exec_error = 0;
	view(&viewing, repeat);
	close_all(&viewing);
}
