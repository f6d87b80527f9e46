/*
 * trace: one loop around waitpid.
 *
 *     new process    its parent's stop for fork names it, or its own first stop comes before that
 *     seccomp stop   a call of interest begins -> run it to its end -> what came of it
 *     exec           the image's figures begin anew
 *     exit           /proc/PID/status, stat, io, maps: the process still has its memory
 *     the end        its CPU time, what its exit took among it
 *
 * A thread of a process is followed too, but all figures are its process's. Nobody asks for a process's
 * usage before its end: to ask is to fix what the kernel has split of its CPU time so far.
 */
#include "buildload/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "buildload/process.h"
#include "buildload/split.h"
#include "buildload/tracee.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define SYSCALL_STOP  (SIGTRAP | 0x80)
#define MAX_LIVE_MAPS 512 /* anonymous mappings of a process that are remembered */

struct mapping {
	uint64_t start, bytes;
};

/* A thread that lives; the first of a process is the process. */
struct live {
	pid_t tid;
	int process; /* its place in the trace; -1: not known yet */
	bool is_thread;
	bool is_held; /* stopped until its parent's stop says what it is */
	bool is_in_call;
	uint64_t call, arguments[6];
	/* Of the process, in its first thread. */
	uint64_t nr_stops, last_break;
	uint64_t children_system_ns;
	struct mapping *maps;
	size_t nr_maps;
	size_t capacity; /* of growths */
};

struct tracer {
	struct zm_trace *trace;
	size_t capacity; /* of processes */
	struct live *live;
	size_t nr_live, live_capacity;
	size_t files_capacity;
	size_t *file_slots; /* a hash of files: place + 1 */
	size_t nr_slots;
	uint64_t page_bytes;
	pid_t root;
	int status;
	int error; /* of memory; the trace goes on, and fails at its end */
};

/* --- tables ----------------------------------------------------------------------------------- */

/* Room for one more; doubles. */
static int grow(void **array, size_t nr, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 64;
	void *grown;

	if (nr < *capacity)
		return 0;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = wanted;
	return 0;
}

static struct live *find_live(struct tracer *tracer, pid_t tid)
{
	for (size_t i = tracer->nr_live; i > 0; i--)
		if (tracer->live[i - 1].tid == tid)
			return &tracer->live[i - 1];
	return NULL;
}

static struct live *add_live(struct tracer *tracer, pid_t tid)
{
	struct live *live = find_live(tracer, tid);

	if (live)
		return live;
	if (grow((void **)&tracer->live, tracer->nr_live, &tracer->live_capacity, sizeof(*live))) {
		tracer->error = -ENOMEM;
		return NULL;
	}
	live = &tracer->live[tracer->nr_live++];
	*live = (struct live){ .tid = tid, .process = -1 };
	return live;
}

static void drop_live(struct tracer *tracer, pid_t tid)
{
	struct live *live = find_live(tracer, tid);

	if (!live)
		return;
	free(live->maps);
	*live = tracer->live[--tracer->nr_live];
}

/* The first thread of a process. */
static struct live *leader_of(struct tracer *tracer, const struct live *live)
{
	return live->process < 0 ? NULL
				 : find_live(tracer, tracer->trace->processes[live->process].pid);
}

static int add_process(struct tracer *tracer, pid_t pid, int parent)
{
	struct zm_trace *trace = tracer->trace;
	struct zm_trace_process *process;

	if (grow((void **)&trace->processes, trace->nr, &tracer->capacity, sizeof(*process))) {
		tracer->error = -ENOMEM;
		return -1;
	}
	process = &trace->processes[trace->nr];
	*process = (struct zm_trace_process){ .pid = pid,
					      .parent = parent,
					      .start_ns = zm_clock_now_ns() };
	if (parent >= 0)
		memcpy(process->name, trace->processes[parent].name, sizeof(process->name));
	return (int)trace->nr++;
}

/* --- files ------------------------------------------------------------------------------------ */

static size_t slot_of(const struct tracer *tracer, const struct zm_trace_file *file)
{
	uint64_t hash = (file->inode * 0x9e3779b97f4a7c15u) ^ file->device;
	size_t slot = (size_t)(hash >> 20) & (tracer->nr_slots - 1);

	while (tracer->file_slots[slot]) {
		const struct zm_trace_file *there =
			&tracer->trace->files[tracer->file_slots[slot] - 1];

		if (there->inode == file->inode && there->device == file->device)
			break;
		slot = (slot + 1) & (tracer->nr_slots - 1);
	}
	return slot;
}

static int rehash(struct tracer *tracer)
{
	size_t wanted = tracer->nr_slots ? tracer->nr_slots * 4 : 4096;
	size_t *slots = calloc(wanted, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(tracer->file_slots);
	tracer->file_slots = slots;
	tracer->nr_slots = wanted;
	for (size_t i = 0; i < tracer->trace->nr_files; i++)
		slots[slot_of(tracer, &tracer->trace->files[i])] = i + 1;
	return 0;
}

static int add_file(struct tracer *tracer, const struct stat *status)
{
	const struct zm_trace_file file = { status->st_dev, status->st_ino,
					    (uint64_t)status->st_size };
	struct zm_trace *trace = tracer->trace;
	size_t slot;

	if (trace->nr_files * 2 >= tracer->nr_slots && rehash(tracer))
		return -ENOMEM;
	slot = slot_of(tracer, &file);
	if (tracer->file_slots[slot])
		return 0;
	if (grow((void **)&trace->files, trace->nr_files, &tracer->files_capacity, sizeof(file)))
		return -ENOMEM;
	trace->files[trace->nr_files++] = file;
	tracer->file_slots[slot] = trace->nr_files;
	return 0;
}

static void take_open(struct tracer *tracer, const struct live *live,
		      struct zm_trace_process *process, int64_t result)
{
	char path[64];
	struct stat status;

	if (result == -ENOENT)
		process->opens_missing++;
	if (result < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)live->tid, (int)result);
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return;
	process->opens++;
	if ((live->arguments[2] & O_ACCMODE) != O_RDONLY)
		process->writes_a_file = true;
	else if (add_file(tracer, &status) < 0)
		tracer->error = -ENOMEM;
}

/* --- growth ----------------------------------------------------------------------------------- */

static void add_growth(struct tracer *tracer, struct live *leader, struct zm_trace_process *process,
		       uint64_t bytes, bool is_brk)
{
	const struct zm_trace_growth growth = { bytes, is_brk, zm_process_cpu_ns(process->pid),
						zm_process_anon_pages(process->pid) };

	if (growth.anon_pages > process->anon_pages)
		process->anon_pages = growth.anon_pages;
	*(is_brk ? &process->broken_bytes : &process->mapped_bytes) += bytes;
	if (grow((void **)&process->growths, process->nr_growths, &leader->capacity,
		 sizeof(growth))) {
		tracer->error = -ENOMEM;
		return;
	}
	process->growths[process->nr_growths++] = growth;
}

static void take_map(struct tracer *tracer, struct live *leader, struct zm_trace_process *process,
		     const struct live *live, int64_t result)
{
	uint64_t bytes = live->arguments[1];

	if (result < 0 && result > -4096)
		return;
	add_growth(tracer, leader, process, bytes, false);
	if (!leader->maps)
		leader->maps = calloc(MAX_LIVE_MAPS, sizeof(*leader->maps));
	if (leader->maps)
		leader->maps[leader->nr_maps++ % MAX_LIVE_MAPS] =
			(struct mapping){ (uint64_t)result, bytes };
}

/* Only what was mapped anonymously counts. */
static void take_unmap(struct live *leader, struct zm_trace_process *process,
		       const struct live *live)
{
	size_t nr = leader->nr_maps < MAX_LIVE_MAPS ? leader->nr_maps : MAX_LIVE_MAPS;
	uint64_t start = live->arguments[0], bytes = live->arguments[1];

	for (size_t i = 0; leader->maps && i < nr; i++) {
		struct mapping *map = &leader->maps[i];

		if (start < map->start || start >= map->start + map->bytes)
			continue;
		process->unmapped_bytes += bytes < map->bytes ? bytes : map->bytes;
		if (start == map->start && bytes >= map->bytes)
			*map = (struct mapping){ 0, 0 };
		return;
	}
}

static void take_break(struct tracer *tracer, struct live *leader, struct zm_trace_process *process,
		       uint64_t end)
{
	if (leader->last_break && end > leader->last_break)
		add_growth(tracer, leader, process, end - leader->last_break, true);
	leader->last_break = end;
}

static void take_call(struct tracer *tracer, struct live *live, int64_t result)
{
	struct live *leader = leader_of(tracer, live);
	struct zm_trace_process *process =
		live->process < 0 ? NULL : &tracer->trace->processes[live->process];

	if (!process || !leader)
		return;
	if (live->call == SYS_mmap)
		take_map(tracer, leader, process, live, result);
	else if (live->call == SYS_munmap)
		take_unmap(leader, process, live);
	else if (live->call == SYS_brk)
		take_break(tracer, leader, process, (uint64_t)result);
	else
		take_open(tracer, live, process, result);
}

/* --- stops ------------------------------------------------------------------------------------ */

static void go_on(pid_t tid, bool to_the_end_of_the_call, int signal)
{
	(void)ptrace(to_the_end_of_the_call ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
		     (void *)(intptr_t)signal);
}

/* A call of interest begins: its words, and on to its end. */
static void enter_call(struct live *live)
{
	struct __ptrace_syscall_info info;
	long n = ptrace(PTRACE_GET_SYSCALL_INFO, live->tid, (void *)sizeof(info), &info);

	live->is_in_call = n > 0 && info.op == PTRACE_SYSCALL_INFO_SECCOMP;
	if (!live->is_in_call)
		return;
	live->call = info.seccomp.nr;
	memcpy(live->arguments, info.seccomp.args, sizeof(live->arguments));
#ifdef SYS_open
	if (live->call == SYS_open) /* one word fewer than openat */
		live->arguments[2] = live->arguments[1];
#endif
}

static void leave_call(struct tracer *tracer, struct live *live)
{
	struct __ptrace_syscall_info info;
	long n = ptrace(PTRACE_GET_SYSCALL_INFO, live->tid, (void *)sizeof(info), &info);

	if (live->is_in_call && n > 0 && info.op == PTRACE_SYSCALL_INFO_EXIT)
		take_call(tracer, live, info.exit.rval);
	live->is_in_call = false;
}

/* A thread has its process's id in /proc. */
static pid_t process_of(pid_t tid)
{
	char text[4096];

	return zm_process_read(tid, "status", text, sizeof(text))
		       ? (pid_t)zm_process_number(text, "Tgid:")
		       : tid;
}

static void take_fork(struct tracer *tracer, pid_t parent_tid, unsigned int event)
{
	struct live *live = find_live(tracer, parent_tid);
	int parent = live ? live->process : -1;
	unsigned long message = 0;
	struct live *child;
	pid_t tid;

	if (ptrace(PTRACE_GETEVENTMSG, parent_tid, NULL, &message) < 0)
		return;
	tid = (pid_t)message;
	child = add_live(tracer, tid);
	if (!child)
		return;
	if (event == PTRACE_EVENT_CLONE && process_of(tid) != tid) {
		child->is_thread = true;
		child->process = parent;
		tracer->trace->nr_threads++;
	} else {
		child->process = add_process(tracer, tid, parent);
	}
	if (child->is_held)
		go_on(tid, false, 0);
	child->is_held = false;
}

/* The inode of a descriptor that is a pipe; 0: it is none. */
static uint64_t pipe_at(pid_t pid, int fd, struct stat *ret_status)
{
	char path[64];

	*ret_status = (struct stat){ 0 };
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (stat(path, ret_status) < 0)
		return 0;
	return S_ISFIFO(ret_status->st_mode) ? ret_status->st_ino : 0;
}

/* Where the whole command's output goes, says nothing of a process. */
static void take_ends(struct zm_trace_process *process)
{
	struct stat status, own = { 0 };

	process->input = pipe_at(process->pid, STDIN_FILENO, &status);
	process->output = pipe_at(process->pid, STDOUT_FILENO, &status);
	if (S_ISREG(status.st_mode) && (fstat(STDOUT_FILENO, &own) < 0 ||
					own.st_ino != status.st_ino || own.st_dev != status.st_dev))
		process->writes_a_file = true;
}

static void take_exec(struct tracer *tracer, struct live *live)
{
	struct zm_trace_process *process;

	if (live->process < 0)
		return;
	process = &tracer->trace->processes[live->process];
	process->has_execed = true;
	process->anon_pages = process->mapped_bytes = process->broken_bytes = 0;
	process->unmapped_bytes = process->opens = process->opens_missing = 0;
	process->nr_growths = 0;
	live->nr_maps = 0;
	live->last_break = 0;
	tracer->trace->nr_execs++;
	zm_process_name(process->pid, process->name, sizeof(process->name));
	take_ends(process);
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * ZM_NS_PER_S + (uint64_t)time->tv_usec * 1000;
}

/* The usage is with the children it has waited for; what they were said to have is taken off, and was
 * rounded down. */
static void take_times(struct tracer *tracer, const struct live *live, uint64_t cpu_ns,
		       const struct rusage *usage)
{
	struct zm_trace_process *process = &tracer->trace->processes[live->process];
	uint64_t system = ns_of(&usage->ru_stime);
	struct live *parent =
		process->parent < 0
			? NULL
			: find_live(tracer, tracer->trace->processes[process->parent].pid);

	if (parent)
		parent->children_system_ns += system + 1000;
	system = system > live->children_system_ns ? system - live->children_system_ns : 0;
	process->system_ns = system < cpu_ns ? system : cpu_ns;
	process->user_ns = cpu_ns - process->system_ns;
}

static void take_exit(struct tracer *tracer, struct live *live)
{
	struct zm_trace_process *process;
	uint64_t kib_per_page = tracer->page_bytes / 1024, pages;
	char text[8192], name[48];
	const char *at;

	if (live->process < 0 || live->is_thread)
		return;
	process = &tracer->trace->processes[live->process];
	process->end_ns = zm_clock_now_ns();
	process->has_ended = true;
	if (!process->has_execed)
		take_ends(process);
	if (zm_process_read(process->pid, "status", text, sizeof(text))) {
		pages = zm_process_number(text, "RssAnon:") / kib_per_page;
		if (pages > process->anon_pages)
			process->anon_pages = pages;
		process->file_pages = zm_process_number(text, "RssFile:") / kib_per_page;
		process->table_pages = zm_process_number(text, "VmPTE:") / kib_per_page;
		process->peak_rss_pages = zm_process_number(text, "VmHWM:") / kib_per_page;
		process->switches = zm_process_number(text, "\nvoluntary_ctxt_switches:");
		process->switches -=
			process->switches < live->nr_stops ? process->switches : live->nr_stops;
	}
	at = zm_process_read(process->pid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;
	if (at)
		(void)sscanf(at, ") %*c %*s %*s %*s %*s %*s %*s %" SCNu64, &process->faults);
	(void)snprintf(name, sizeof(name), "task/%d/io", (int)process->pid);
	if (zm_process_read(process->pid, name, text, sizeof(text))) {
		process->read_bytes = zm_process_number(text, "rchar:");
		process->write_bytes = zm_process_number(text, "wchar:");
	}
	process->image_bytes = zm_process_images(process->pid, &process->nr_images);
}

/* One stop of one thread, a signal and perhaps an event, and on with it. */
static void take_stop(struct tracer *tracer, pid_t tid, unsigned int stop)
{
	struct live *live = add_live(tracer, tid);
	int signal = (int)(stop & 0xff);
	unsigned int event = stop >> 8;
	bool to_the_end = false;

	if (live)
		live->nr_stops++;
	if (signal == SYSCALL_STOP) {
		if (live)
			leave_call(tracer, live);
		signal = 0;
	} else if (event) {
		signal = 0;
		if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
		    event == PTRACE_EVENT_CLONE)
			take_fork(tracer, tid, event);
		else if (event == PTRACE_EVENT_EXEC && live)
			take_exec(tracer, live);
		else if (event == PTRACE_EVENT_EXIT && live)
			take_exit(tracer, live);
		else if (event == PTRACE_EVENT_SECCOMP && live)
			enter_call(live);
		to_the_end = event == PTRACE_EVENT_SECCOMP && live && live->is_in_call;
	} else if (signal == SIGSTOP) {
		signal = 0; /* a new process's first */
		if (live && live->process < 0) {
			live->is_held = true;
			return;
		}
	}
	go_on(tid, to_the_end, signal);
}

/* A thread that has ended is still there while it is looked at. */
static void take_end(struct tracer *tracer, pid_t tid)
{
	const struct live *live = find_live(tracer, tid);
	struct rusage usage = { 0 };
	uint64_t cpu_ns = zm_process_cpu_ns(tid);
	int status;

	while (wait4(tid, &status, __WALL, &usage) < 0 && errno == EINTR)
		;
	if (live && live->process >= 0 && !live->is_thread)
		take_times(tracer, live, cpu_ns, &usage);
	if (tid == tracer->root)
		tracer->status = status;
	drop_live(tracer, tid);
}

static void watch(struct tracer *tracer)
{
	for (;;) {
		siginfo_t next;

		if (waitid(P_ALL, 0, &next, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (next.si_code == CLD_EXITED || next.si_code == CLD_KILLED ||
		    next.si_code == CLD_DUMPED) {
			take_end(tracer, next.si_pid);
			continue;
		}
		/* Killed since, it stops no more: its end comes next. */
		if (waitid(P_PID, (id_t)next.si_pid, &next, WSTOPPED | WNOHANG | __WALL) == 0 &&
		    next.si_pid > 0)
			take_stop(tracer, next.si_pid, (unsigned int)next.si_status);
	}
}

/* --- the command ------------------------------------------------------------------------------ */

static int trace_first(struct tracer *tracer, struct zm_why *why)
{
	const intptr_t wanted = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
				PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
	struct live *live;
	int status;

	while (waitpid(tracer->root, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSTOPPED(status))
		return 0; /* it has said why */
	if (ptrace(PTRACE_SETOPTIONS, tracer->root, NULL, (void *)wanted) < 0)
		return zm_why_errno(why, -ENOTSUP, "this kernel cannot trace processes as needed");
	live = add_live(tracer, tracer->root);
	if (!live)
		return zm_why_errno(why, -ENOMEM, "tracing");
	live->process = add_process(tracer, tracer->root, -1);
	go_on(tracer->root, false, 0);
	return 0;
}

static int start(struct tracer *tracer, const char *const *argv, int *ret_say_fd,
		 struct zm_why *why)
{
	int say[2];

	if (pipe2(say, O_CLOEXEC) < 0)
		return zm_why_errno(why, -errno, "no pipe to the command");
	(void)fflush(NULL);
	tracer->root = fork();
	if (tracer->root == 0)
		zm_tracee_be(argv, say[1]);
	(void)close(say[1]);
	*ret_say_fd = say[0];
	return tracer->root < 0 ? zm_why_errno(why, -errno, "no process for the command")
				: trace_first(tracer, why);
}

static int run(struct tracer *tracer, const char *const *argv, struct zm_why *why)
{
	zm_autoclose int say_fd = -1;
	uint64_t start_ns = zm_clock_now_ns();
	struct zm_tracee_failure failure;
	int r = start(tracer, argv, &say_fd, why);

	if (r < 0) {
		if (tracer->root > 0)
			(void)kill(tracer->root, SIGKILL);
		return r;
	}
	watch(tracer);
	tracer->trace->wall_ns = zm_clock_now_ns() - start_ns;
	if (tracer->error == 0)
		tracer->error = zm_split_times(tracer->trace, zm_split_tick_ns());
	if (read(say_fd, &failure, sizeof(failure)) == sizeof(failure))
		return zm_tracee_say(argv[0], &failure, why);
	return tracer->error ? zm_why_errno(why, tracer->error, "recording") : 0;
}

int zm_trace_run(const char *const *argv, struct zm_trace **ret_trace, int *ret_status,
		 struct zm_why *why)
{
	struct tracer tracer = { .trace = calloc(1, sizeof(struct zm_trace)),
				 .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE) };
	int r = tracer.trace ? run(&tracer, argv, why) : zm_why_errno(why, -ENOMEM, "recording");

	while (tracer.nr_live)
		drop_live(&tracer, tracer.live[0].tid);
	free(tracer.live);
	free(tracer.file_slots);
	if (r < 0) {
		zm_trace_free(tracer.trace);
		return r;
	}
	*ret_trace = tracer.trace;
	*ret_status = tracer.status;
	return 0;
}

void zm_trace_free(struct zm_trace *trace)
{
	for (size_t i = 0; trace && i < trace->nr; i++)
		free(trace->processes[i].growths);
	if (trace) {
		free(trace->processes);
		free(trace->files);
	}
	free(trace);
}
