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
#include "buildload/progress.h"

#define TEMPORARY_MAX      8
#define READ_BYTES         16384
#define WRITE_BYTES        4096
#define STACK_BYTES        16384 /* of a child until it execs */
#define CPU_WORDS          1024  /* a mask for 65,536 CPUs */
#define UNIT_ROUNDS        256   /* of work in a unit, which is about a microsecond */
#define EXIT_FAILED        1
#define WINDOW_BYTES(page) ((uint64_t)ZM_ACT_WINDOW_PAGES * (page))

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

static void map_images(void)
{
	uint64_t bytes = self.class.image_pages * self.head.page_bytes;
	int fd = open("../image", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		zm_process_fail("../image", errno);
	for (uint32_t i = 0; i < self.class.nr_images; i++) {
		void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
				  (off_t)(i * bytes));

		if (base == MAP_FAILED)
			zm_process_fail("../image", errno);
		self.images[i] = base;
	}
	(void)close(fd);
}

/* Page `page` of all images together; beyond the last they are mapped once more. */
static volatile char *image_page(uint64_t *next, uint64_t step_pages)
{
	uint64_t per_image = (self.class.image_pages + step_pages - 1) / step_pages;
	uint64_t at = (*next)++;

	if (at >= per_image * self.class.nr_images) {
		map_images();
		*next = 1;
		at = 0;
	}
	return self.images[at / per_image] + at % per_image * step_pages * self.head.page_bytes;
}

static void touch_windows(uint64_t count)
{
	char sum = 0;

	while (count-- > 0)
		sum = (char)(sum + *image_page(&self.next_window, ZM_ACT_WINDOW_PAGES));
	result += (unsigned char)sum;
}

/* Data of the program that it writes to: pages from the middle of windows. */
static void copy_pages(uint64_t count)
{
	while (count-- > 0)
		*image_page(&self.next_copy, 1) = 1;
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

static void touch(uint64_t count, bool is_read)
{
	uint64_t page_bytes = self.head.page_bytes;

	for (uint64_t i = 0; is_read && i < count; i++)
		result += (unsigned char)self.heap[i * page_bytes];
	for (uint64_t i = 0; i < count; i++)
		self.heap[i * page_bytes] = 1;
	self.heap += count * page_bytes;
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

static void read_file(uint64_t number, uint64_t bytes)
{
	char path[64];
	int fd = open(path_of(path, "h/", number), O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	off_t at = 0;

	if (fd < 0 || fstat(fd, &status) < 0)
		zm_process_fail(path, errno);
	while (bytes > 0) {
		size_t part = bytes < READ_BYTES ? bytes : READ_BYTES;
		ssize_t n = pread(fd, buffer, part, at);

		if (n < 0)
			zm_process_fail(path, errno);
		if (n == 0 && at == 0)
			break;
		at = n == 0 ? 0 : at + n;
		bytes -= (uint64_t)n;
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

/* --- CPU time --- */

/* A chain of multiplications, with loads all over what was touched last. */
static void work(uint64_t count)
{
	uint64_t bytes = (uint64_t)(self.heap - self.walk_start);
	const volatile char *base = self.walk_start;
	uint64_t x = self.random;

	if (!base || bytes < self.head.page_bytes) {
		base = buffer;
		bytes = READ_BYTES;
	} else if (bytes > self.head.walk_bytes && self.head.walk_bytes >= self.head.page_bytes) {
		base = self.heap - self.head.walk_bytes;
		bytes = self.head.walk_bytes;
	}
	for (uint64_t i = 0; i < count * UNIT_ROUNDS; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if (i % 4 == 0)
			x += (unsigned char)base[(uint32_t)(x >> 32) * bytes >> 32];
	}
	self.random = x;
}

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

struct spawn {
	char *argv[5];
	char path[40];
	int error;
};

static int exec_child(void *context)
{
	static char *const environment[] = { NULL };
	struct spawn *spawn = context;

	(void)execve(spawn->path, spawn->argv, environment);
	spawn->error = errno;
	_exit(127);
}

/* The child runs in this memory until it execs, as those of make and gcc do. */
pid_t zm_process_spawn(const char *name, const char *mode, uint32_t number, uint32_t second)
{
	static char stack[STACK_BYTES] __attribute__((aligned(64)));
	char first[24], other[24];
	struct spawn spawn = { .argv = { (char *)name, (char *)mode, first, other, NULL } };
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
	self = (struct process){ .index = index, .output = -1 };
	zm_process_read_head(&self.head);
	zm_process_read_step(&self.head, index, &self.step);
	zm_process_read_class(&self.head, self.step.class_index, &self.class);
	self.random = self.step.seed;
	zm_acts_begin(&self.acts, &self.head, &self.class, &self.step);
}

static void run_child(uint64_t behind)
{
	uint32_t index = self.index + (uint32_t)behind;
	static struct zm_script_class class;
	pid_t pid;

	zm_process_read_step(&self.head, index, &self.child);
	zm_acts_child(&self.acts, &self.child);
	if (self.child.flags & ZM_STEP_TEMPORARY && self.nr_temporary < TEMPORARY_MAX)
		self.temporary[self.nr_temporary++] = self.child.output;
	if (self.child.flags & ZM_STEP_FORK) {
		pid = fork();
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			zm_process_run(index);
			_exit(0);
		}
		pid = pid < 0 ? -errno : pid;
	} else {
		zm_process_read_class(&self.head, self.child.class_index, &class);
		pid = zm_process_spawn(class.name, "step", index, 0);
	}
	if (pid < 0)
		zm_process_fail("starting a process", -pid);
	self.nr_running++;
}

static void wait_for_children(void)
{
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
		touch(act->count, act->kind == ZM_ACT_READ_TOUCH);
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
