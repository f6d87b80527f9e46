/* process: small readings of text files, and one of a clock. */
#include "buildload/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

bool zm_process_read(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	zm_autoclose int fd = -1;
	size_t length = 0;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && length + 1 < size && (n = read(fd, buf + length, size - 1 - length)) > 0)
		length += (size_t)n;
	buf[length] = '\0';
	return length > 0;
}

uint64_t zm_process_number(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	uint64_t value = 0;

	if (at)
		(void)sscanf(at + strlen(word), " %" SCNu64, &value);
	return value;
}

uint64_t zm_process_anon_pages(pid_t pid)
{
	char text[128];
	uint64_t resident = 0, shared = 0;

	if (zm_process_read(pid, "statm", text, sizeof(text)))
		(void)sscanf(text, "%*s %" SCNu64 " %" SCNu64, &resident, &shared);
	return resident > shared ? resident - shared : 0;
}

uint64_t zm_process_cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * ZM_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* "/usr/bin/x86_64-linux-gnu-gcc-12" is gcc, "/usr/bin/dash" is sh. */
static void name_program(const char *path, char *buf, size_t size)
{
	static const char *const same[][2] = {
		{ "dash", "sh" },  { "bash", "sh" },  { "busybox", "sh" },
		{ "mawk", "awk" }, { "gawk", "awk" }, { "gmake", "make" },
	};
	const char *name = strrchr(path, '/'), *triplet;
	size_t length;

	name = name ? name + 1 : path;
	triplet = strstr(name, "-linux-gnu");
	if (triplet && strchr(triplet + 10, '-'))
		name = strchr(triplet + 10, '-') + 1;
	length = strcspn(name, " ");
	while (length > 1 && strchr("0123456789.-", name[length - 1]) && memchr(name, '-', length))
		length--;
	(void)snprintf(buf, size, "%.*s", (int)length, name);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(buf, same[i][0]) == 0)
			(void)snprintf(buf, size, "%s", same[i][1]);
}

void zm_process_name(pid_t pid, char *buf, size_t size)
{
	char link[64], path[4096];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	if (n > 0)
		name_program(path, buf, size);
}

uint64_t zm_process_images(pid_t pid, unsigned int *ret_nr)
{
	zm_autofree char *last = NULL;
	zm_autofree char *line = NULL;
	zm_autofclose FILE *maps = NULL;
	uint64_t from, to, bytes = 0;
	unsigned int nr = 0;
	size_t size = 0;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &size, maps) > 0) {
		const char *file = strchr(line, '/');

		if (!file || sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2)
			continue;
		bytes += to - from;
		if (last && strcmp(last, file) == 0)
			continue;
		nr++;
		free(last);
		last = strdup(file);
	}
	*ret_nr = nr;
	return bytes;
}
