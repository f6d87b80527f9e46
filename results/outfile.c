/* outfile: an answer that goes into a file, which is there whole or as it was before. */
#include "results/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The permissions that any new file gets. */
static int use_umask(int fd)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return fchmod(fd, 0666 & ~mask);
}

/*
 * Where the new file goes. A rename would put it in the place of a device (root may) or of a link,
 * so only a file is replaced, and a link is followed to it.
 */
static int find_target(const char *path, char **ret_target, struct zm_why *why)
{
	struct stat status;
	bool is_there = stat(path, &status) == 0;

	if (is_there && !S_ISREG(status.st_mode))
		return zm_why_set(why, -EINVAL, "%s: cannot be written: not a file", path);
	*ret_target = is_there ? realpath(path, NULL) : strdup(path);
	return *ret_target ? 0 : zm_why_errno(why, -errno, "%s: cannot be written", path);
}

int zm_outfile_open(struct zm_outfile *file, const char *path, struct zm_why *why)
{
	int fd, found;

	*file = (struct zm_outfile){ 0 };
	found = find_target(path, &file->path, why);
	if (found)
		return found;
	if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0) {
		free(file->path);
		*file = (struct zm_outfile){ 0 };
		return -ENOMEM;
	}
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd >= 0 && use_umask(fd) == 0)
		file->out = fdopen(fd, "w+");
	if (!file->out) {
		int error = zm_why_errno(why, -errno, "%s: cannot be written", path);

		if (fd >= 0) {
			(void)close(fd);
		} else { /* nothing to remove */
			free(file->temporary);
			file->temporary = NULL;
		}
		zm_outfile_drop(file);
		return error;
	}
	return 0;
}

int zm_outfile_keep(struct zm_outfile *file, struct zm_why *why)
{
	if (fflush(file->out) || ferror(file->out) || fsync(fileno(file->out)) < 0 ||
	    rename(file->temporary, file->path) < 0)
		return zm_why_errno(why, errno ? -errno : -EIO, "%s: cannot be written",
				    file->path);
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

void zm_outfile_drop(struct zm_outfile *file)
{
	if (file->out)
		(void)fclose(file->out);
	if (file->temporary)
		(void)unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct zm_outfile){ 0 };
}

int zm_outfile_check(const char *path, struct zm_why *why)
{
	struct zm_outfile file;
	int error = zm_outfile_open(&file, path, why);

	if (!error)
		zm_outfile_drop(&file);
	return error;
}
