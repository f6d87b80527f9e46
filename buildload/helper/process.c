/*
 * process: acts (act.h) carried out.
 *
 * Its own files are named from the build's folder, where every process of it stands:
 *
 *     ../bin/NAME    links to this program                  h/N   files to read
 *     ../image       what all programs map, each a part     o/N   what step N writes
 */
#include "buildload/helper/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buildload/act.h"
#include "buildload/helper/work.h"
#include "buildload/progress.h"

#define TEMPORARY_MAX   8
#define READ_BYTES      16384
#define WRITE_BYTES     4096
#define STACK_BYTES     16384 /* of a child until it execs */
#define CPU_WORDS       1024  /* a mask for 65,536 CPUs */
#define PARTS           5   /* of a program: its head, code, constants, relocated and other data */
#define FEW_IMAGES      3   /* a program, libc and the loader */
#define ELF_HEAD_BYTES  832 /* that glibc's loader reads */
#define WINDOW_BYTES    ((uint64_t)ZM_ACT_WINDOW_PAGES * self.head.page_bytes)
#define UNITS_PER_BLOCK 20 /* of work, for each block of code that it goes over */
#define EXIT_FAILED     1

struct process {
	uint32_t index;
	struct zm_script_head head;
	struct zm_script_class class;
	struct zm_script_step step, child;
	struct zm_acts acts;
	volatile char *images[ZM_SCRIPT_IMAGES];
	uint64_t next_window, next_copy; /* counted over all images */
	volatile char *heap;             /* the next page to touch */
	volatile char *walk_start;       /* of what was mapped last */
	void *maps[ZM_ACT_MAPS_MAX];
	unsigned int nr_maps;
	int output;
	uint64_t unread;     /* bytes, of files that were too short */
	int hearing;         /* the end of a pipe that a child writes to; -1: none */
	uint32_t nr_running; /* children */
	uint32_t temporary[TEMPORARY_MAX];
	uint32_t nr_temporary;
	uint64_t random;
};

/* One process, one of it; a forked child begins with a new one. */
static struct process self;
static char buffer[READ_BYTES];
static volatile uint64_t result; /* of the work, so that it is done */

/* --- words --- */

static size_t put_text(char *at, size_t left, const char *text)
{
	size_t n = strlen(text);

	n = n < left ? n : left;
	memcpy(at, text, n);
	return n;
}

static size_t put_number(char *at, uint64_t number)
{
	char digits[24];
	size_t n = 0, nr;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	for (nr = n; n > 0; n--)
		at[nr - n] = digits[n - 1];
	at[nr] = '\0';
	return nr;
}

/* "o/12" */
static const char *path_of(char path[64], const char *folder, uint64_t number)
{
	size_t n = put_text(path, 32, folder);

	(void)put_number(path + n, number);
	return path;
}

static void complain(const char *who, const char *what, const char *reason)
{
	char line[256];
	size_t n = put_text(line, 40, who);

	n += put_text(line + n, 2, ": ");
	n += put_text(line + n, 100, what);
	n += put_text(line + n, 2, ": ");
	n += put_text(line + n, 100, reason);
	line[n++] = '\n';
	(void)!write(ZM_BUILD_COMPLAINTS, line, n);
}

void zm_process_fail(const char *what, int error)
{
	complain(self.class.name[0] ? self.class.name : "make", what, strerror(error));
	_exit(EXIT_FAILED);
}

/* One that ended with a status of its own has complained itself. */
void zm_process_blame(const char *name, int status)
{
	if (WIFSIGNALED(status))
		complain(name, "was killed", strsignal(WTERMSIG(status)));
	_exit(EXIT_FAILED);
}

/* --- the script --- */

void zm_process_read(void *into, size_t bytes, uint64_t offset)
{
	ssize_t n = pread(ZM_BUILD_SCRIPT, into, bytes, (off_t)offset);

	if (n != (ssize_t)bytes)
		zm_process_fail("reading the script", n < 0 ? errno : EIO);
}

void zm_process_read_head(struct zm_script_head *ret_head)
{
	zm_process_read(ret_head, sizeof(*ret_head), 0);
	if (ret_head->magic != ZM_SCRIPT_MAGIC)
		zm_process_fail("reading the script", EBADMSG);
}

void zm_process_read_step(const struct zm_script_head *head, uint32_t index,
			  struct zm_script_step *ret_step)
{
	zm_process_read(ret_step, sizeof(*ret_step), head->steps_at + index * sizeof(*ret_step));
}

void zm_process_read_class(const struct zm_script_head *head, uint32_t index,
			   struct zm_script_class *ret_class)
{
	zm_process_read(ret_class, sizeof(*ret_class),
			head->classes_at + index * sizeof(*ret_class));
}

/* --- files of the program --- */

/* Parts of a program or library, each mapped over the whole. What keeps neighbours apart is what they
 * reserve, as all of them may be written to here. */
static void map_parts(char *base, uint64_t bytes, int fd, uint64_t offset)
{
	uint64_t part = bytes / PARTS / WINDOW_BYTES * WINDOW_BYTES;

	for (uint64_t i = 1; part > 0 && i < PARTS; i++) {
		uint64_t at = i * part;

		if (mmap(base + at, i + 1 < PARTS ? part : bytes - at, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_FIXED | (i % 2 ? MAP_NORESERVE : 0), fd,
			 (off_t)(offset + at)) == MAP_FAILED)
			zm_process_fail("../image", errno);
	}
}

/* As a loader does it with each library: its head is read, its size asked for. */
static int open_image(void)
{
	struct stat status;
	int fd = open("../image", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, buffer, ELF_HEAD_BYTES) < 0 || fstat(fd, &status) < 0)
		zm_process_fail("../image", errno);
	return fd;
}

/* Programs and libraries, then files without parts, as of a locale. */
static void map_images(void)
{
	uint64_t bytes = self.class.image_pages * self.head.page_bytes;
	uint32_t nr = self.class.nr_images;

	for (uint32_t i = 0; i < nr; i++) {
		int fd = open_image();
		void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
				  (off_t)(i * bytes));

		if (base == MAP_FAILED)
			zm_process_fail("../image", errno);
		if (i < FEW_IMAGES || i < nr / 2)
			map_parts(base, bytes, fd, i * bytes);
		(void)close(fd);
		self.images[i] = base;
	}
}

static uint64_t windows_of_all(void)
{
	return self.class.image_pages / ZM_ACT_WINDOW_PAGES * self.class.nr_images;
}

/* A page of a window, counted over all images. */
static volatile char *image_page(uint64_t window, uint64_t page)
{
	uint64_t windows = self.class.image_pages / ZM_ACT_WINDOW_PAGES;

	return self.images[window / windows] +
	       (window % windows * ZM_ACT_WINDOW_PAGES + page) * self.head.page_bytes;
}

/* The first page of each, from the first one on; beyond the last, all are mapped once more. */
static void touch_windows(uint64_t count)
{
	for (; count > 0; count--) {
		if (self.next_window == windows_of_all()) {
			map_images();
			self.next_window = 0;
		}
		result += (unsigned char)*image_page(self.next_window++, 0);
	}
}

/* Data of the program that it writes to, as when it is relocated: all pages of the windows from the last
 * one back. */
static void copy_pages(uint64_t count)
{
	for (; count > 0; count--) {
		if (self.next_copy == windows_of_all() * ZM_ACT_FILLED_PAGES) {
			map_images();
			self.next_copy = 0;
		}
		*image_page(windows_of_all() - 1 - self.next_copy / ZM_ACT_FILLED_PAGES,
			    self.next_copy % ZM_ACT_FILLED_PAGES) = 1;
		self.next_copy++;
	}
}

/* --- CPU time --- */

/* The code that it goes over, and what of its own work it takes to go over a block more. */
static uint32_t blocks_of(const struct zm_script_step *step)
{
	uint64_t blocks = step->work / UNITS_PER_BLOCK + 1;

	return blocks < ZM_WORK_BLOCKS ? (uint32_t)blocks : ZM_WORK_BLOCKS;
}

/* Over what was touched last. */
static void work(uint64_t units)
{
	uint64_t bytes = (uint64_t)(self.heap - self.walk_start);
	const volatile char *base = self.walk_start;

	if (!base || bytes < self.head.page_bytes) {
		base = buffer;
		bytes = READ_BYTES;
	} else if (bytes > self.head.walk_bytes && self.head.walk_bytes >= self.head.page_bytes) {
		base = self.heap - self.head.walk_bytes;
		bytes = self.head.walk_bytes;
	}
	zm_work(units, blocks_of(&self.step), base, bytes, &self.random);
}

/* --- the heap --- */

static void go_on_at(void *base)
{
	self.heap = base;
	self.walk_start = base;
}

static void map_more(uint64_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		zm_process_fail("mapping memory", errno);
	if (self.nr_maps < ZM_ACT_MAPS_MAX)
		self.maps[self.nr_maps++] = base;
	go_on_at(base);
}

static void raise_break(uint64_t bytes)
{
	uint64_t page_bytes = self.head.page_bytes;
	uint64_t now = (uint64_t)syscall(SYS_brk, 0);
	uint64_t start = (now + page_bytes - 1) / page_bytes * page_bytes;

	if ((uint64_t)syscall(SYS_brk, start + bytes) != start + bytes)
		zm_process_fail("raising the program break", ENOMEM);
	go_on_at((void *)start); /* NOLINT: the kernel gave it as a number */
}

/* With some work after each page, so that the kernel finds the caches as a program leaves them. */
static void touch(uint64_t count, uint64_t units, bool is_read)
{
	uint64_t page_bytes = self.head.page_bytes;

	for (uint64_t i = 0; is_read && i < count; i++)
		result += (unsigned char)self.heap[i * page_bytes];
	for (uint64_t i = 0; i < count; i++) {
		*self.heap = 1;
		self.heap += page_bytes;
		work(units);
	}
}

static void unmap(uint64_t which, uint64_t bytes)
{
	if (which >= self.nr_maps || !self.maps[which])
		return;
	if (self.walk_start == self.maps[which])
		self.walk_start = NULL;
	(void)munmap(self.maps[which], bytes);
	self.maps[which] = NULL;
}

/* --- files that are read and written --- */

/* What a file has too little of, is read of the next ones. */
static void read_file(uint64_t number, uint64_t bytes)
{
	char path[64];
	int fd = open(path_of(path, "h/", number), O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &status) < 0)
		zm_process_fail(path, errno);
	self.unread += bytes;
	while (self.unread > 0 && n > 0) {
		n = read(fd, buffer, self.unread < READ_BYTES ? self.unread : READ_BYTES);
		if (n < 0)
			zm_process_fail(path, errno);
		self.unread -= (uint64_t)n;
	}
	(void)close(fd);
}

static void miss_files(uint64_t count)
{
	char path[64];

	while (count-- > 0) {
		int fd = open(path_of(path, "h/none", self.random++ % 4096),
			      O_RDONLY | O_NOCTTY | O_CLOEXEC);

		if (fd >= 0)
			(void)close(fd);
	}
}

static void write_output(uint64_t bytes)
{
	char path[64];

	(void)path_of(path, "o/", self.step.output);
	if (self.output < 0)
		self.output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (self.output < 0)
		zm_process_fail(path, errno);
	while (bytes > 0) {
		size_t part = bytes < WRITE_BYTES ? bytes : WRITE_BYTES;
		ssize_t n = write(self.output, buffer, part);

		if (n <= 0)
			zm_process_fail(path, n < 0 ? errno : ENOSPC);
		bytes -= (uint64_t)n;
	}
}

/* --- pipes --- */

static void hear(int fd)
{
	ssize_t n;

	while ((n = read(fd, buffer, WRITE_BYTES)) != 0)
		if (n < 0 && errno != EINTR)
			zm_process_fail("reading a pipe", errno);
}

static void say(uint64_t bytes)
{
	while (bytes > 0) {
		size_t part = bytes < WRITE_BYTES ? bytes : WRITE_BYTES;
		ssize_t n = write(STDOUT_FILENO, buffer, part);

		if (n <= 0)
			zm_process_fail("writing to a pipe", n < 0 ? errno : EPIPE);
		bytes -= (uint64_t)n;
	}
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* What child has of the pipe from the one before it, and of its own, which is this process's then. */
static struct zm_process_ends open_ends(const struct zm_script_step *child)
{
	struct zm_process_ends ends = { -1, -1 };
	int fds[2];

	if (child->flags & ZM_STEP_READS) {
		ends.in = self.hearing;
		self.hearing = -1;
	}
	if (!(child->flags & ZM_STEP_PIPED))
		return ends;
	if (pipe2(fds, O_CLOEXEC) < 0)
		zm_process_fail("a pipe", errno);
	close_end(&self.hearing);
	self.hearing = fds[0];
	ends.out = fds[1];
	return ends;
}

/* In the child. */
static int take_ends(struct zm_process_ends ends)
{
	if (ends.in >= 0 && dup2(ends.in, STDIN_FILENO) < 0)
		return errno;
	return ends.out >= 0 && dup2(ends.out, STDOUT_FILENO) < 0 ? errno : 0;
}

/* --- moving to another CPU --- */

static void hop(void)
{
	static unsigned long all[CPU_WORDS];
	static unsigned long one[CPU_WORDS];
	const unsigned int bits = 8 * sizeof(one[0]);
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(all), all);
	unsigned int nr = bytes > 0 ? (unsigned int)bytes * 8 : 0;
	unsigned int cpu = 0;

	if (syscall(SYS_getcpu, &cpu, NULL, NULL) < 0)
		return;
	for (unsigned int i = 1; i < nr; i++) {
		unsigned int next = (cpu + i) % nr;

		if (!(all[next / bits] >> next % bits & 1))
			continue;
		one[next / bits] = 1UL << next % bits;
		(void)syscall(SYS_sched_setaffinity, 0, sizeof(one), one);
		(void)syscall(SYS_sched_setaffinity, 0, sizeof(all), all);
		one[next / bits] = 0;
		return;
	}
}

/* --- children --- */

/* As much as make exports. */
#define VARIABLE   (char *)"KBUILD_EMULATED_VARIABLE=some words that a makefile has exported"
#define VARIABLES4 VARIABLE, VARIABLE, VARIABLE, VARIABLE

static char *const environment[] = { VARIABLES4, VARIABLES4, VARIABLES4, VARIABLES4, VARIABLES4,
				     VARIABLES4, VARIABLES4, VARIABLES4, VARIABLES4, VARIABLES4,
				     VARIABLES4, VARIABLES4, VARIABLES4, VARIABLES4, VARIABLES4,
				     VARIABLES4, NULL };

struct spawn {
	char *argv[5];
	char path[40];
	struct zm_process_ends ends;
	int error;
};

static int exec_child(void *context)
{
	struct spawn *spawn = context;

	spawn->error = take_ends(spawn->ends);
	if (spawn->error == 0) {
		(void)execve(spawn->path, spawn->argv, environment);
		spawn->error = errno;
	}
	_exit(127);
}

/* The child runs in this memory until it execs, as those of make and gcc do. */
pid_t zm_process_spawn(const char *name, const char *mode, uint32_t number, uint32_t second,
		       struct zm_process_ends ends)
{
	static char stack[STACK_BYTES] __attribute__((aligned(64)));
	char first[24], other[24];
	struct spawn spawn = { .argv = { (char *)name, (char *)mode, first, other, NULL },
			       .ends = ends };
	pid_t pid;

	(void)put_number(first, number);
	(void)put_number(other, second);
	(void)put_text(spawn.path + put_text(spawn.path, 16, "../bin/"), ZM_SCRIPT_NAME, name);
	pid = clone(exec_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &spawn);
	if (pid < 0)
		return -errno;
	return spawn.error ? -spawn.error : pid;
}

static void begin(uint32_t index)
{
	self = (struct process){ .index = index, .output = -1, .hearing = -1 };
	zm_process_read_head(&self.head);
	zm_process_read_step(&self.head, index, &self.step);
	zm_process_read_class(&self.head, self.step.class_index, &self.class);
	self.random = self.step.seed;
	zm_acts_begin(&self.acts, &self.head, &self.class, &self.step);
}

/* Goes on with this program, in the state of which nothing is the child's. */
static pid_t fork_child(uint32_t index, struct zm_process_ends ends)
{
	pid_t pid = fork();
	int r;

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = take_ends(ends);
	if (r > 0)
		zm_process_fail("a pipe", r);
	close_end(&ends.in);
	close_end(&ends.out);
	close_end(&self.hearing);
	zm_process_run(index);
	_exit(0);
}

static void run_child(uint64_t behind)
{
	uint32_t index = self.index + (uint32_t)behind;
	static struct zm_script_class class;
	struct zm_process_ends ends;
	pid_t pid;

	zm_process_read_step(&self.head, index, &self.child);
	zm_acts_child(&self.acts, &self.child);
	if (self.child.flags & ZM_STEP_TEMPORARY && self.nr_temporary < TEMPORARY_MAX)
		self.temporary[self.nr_temporary++] = self.child.output;
	ends = open_ends(&self.child);
	if (self.child.flags & ZM_STEP_FORK) {
		pid = fork_child(index, ends);
	} else {
		zm_process_read_class(&self.head, self.child.class_index, &class);
		pid = zm_process_spawn(class.name, "step", index, 0, ends);
	}
	close_end(&ends.in);
	close_end(&ends.out);
	if (pid < 0)
		zm_process_fail("starting a process", -pid);
	self.nr_running++;
}

/* What they say is read first, to its end. */
static void wait_for_children(void)
{
	if (self.hearing >= 0)
		hear(self.hearing);
	close_end(&self.hearing);
	while (self.nr_running > 0) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			zm_process_fail("waiting", errno);
		self.nr_running--;
		if (status != 0)
			zm_process_blame("a process", status);
	}
}

static void end(void)
{
	char path[64];

	for (uint32_t i = 0; i < self.nr_temporary; i++)
		(void)unlink(path_of(path, "o/", self.temporary[i]));
	if (self.output >= 0 && close(self.output) < 0)
		zm_process_fail("closing the output", errno);
}

static void carry_out(const struct zm_act *act)
{
	switch (act->kind) {
	case ZM_ACT_IMAGES:
		map_images();
		break;
	case ZM_ACT_WINDOWS:
		touch_windows(act->count);
		break;
	case ZM_ACT_COPIES:
		copy_pages(act->count);
		break;
	case ZM_ACT_MAP:
		map_more(act->bytes);
		break;
	case ZM_ACT_BRK:
		raise_break(act->bytes);
		break;
	case ZM_ACT_TOUCH:
	case ZM_ACT_READ_TOUCH:
		touch(act->count, act->bytes, act->kind == ZM_ACT_READ_TOUCH);
		break;
	case ZM_ACT_UNMAP:
		unmap(act->count, act->bytes);
		break;
	case ZM_ACT_OPEN:
		read_file(act->count, act->bytes);
		break;
	case ZM_ACT_MISS:
		miss_files(act->count);
		break;
	case ZM_ACT_WORK:
		work(act->count);
		break;
	case ZM_ACT_HOP:
		hop();
		break;
	case ZM_ACT_CHILD:
		run_child(act->count);
		break;
	case ZM_ACT_WAIT:
		wait_for_children();
		break;
	case ZM_ACT_WRITE:
		write_output(act->bytes);
		break;
	case ZM_ACT_HEAR:
		hear(STDIN_FILENO);
		break;
	case ZM_ACT_SAY:
		say(act->bytes);
		break;
	default:
		break;
	}
}

void zm_process_run(uint32_t index)
{
	struct zm_act act;

	begin(index);
	for (zm_acts_next(&self.acts, &act); act.kind != ZM_ACT_END; zm_acts_next(&self.acts, &act))
		carry_out(&act);
	end();
}
