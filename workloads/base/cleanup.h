/*
 * Undo that belongs to the variable: attributes that free, close or unmap when a scope ends.
 *
 *     zm_autofree char *text = NULL;
 *     zm_autoclose int fd = -1;
 *
 * Every helper accepts the "nothing yet" value (NULL, -1), so a variable is initialised where it is
 * declared and an early return is always safe. errno is preserved.
 */
#ifndef ZM_WORKLOADS_BASE_CLEANUP_H
#define ZM_WORKLOADS_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void zm_cleanup_free(void *pointer)
{
	int saved = errno;

	free(*(void **)pointer);
	errno = saved;
}

static inline void zm_cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void zm_cleanup_fclose(FILE **file)
{
	int saved = errno;

	if (*file)
		(void)fclose(*file);
	errno = saved;
}

static inline void zm_cleanup_closedir(DIR **dir)
{
	int saved = errno;

	if (*dir)
		(void)closedir(*dir);
	errno = saved;
}

#define zm_autofree     __attribute__((cleanup(zm_cleanup_free)))
#define zm_autoclose    __attribute__((cleanup(zm_cleanup_close)))
#define zm_autofclose   __attribute__((cleanup(zm_cleanup_fclose)))
#define zm_autoclosedir __attribute__((cleanup(zm_cleanup_closedir)))

#endif
