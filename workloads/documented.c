/* documented: looked up by id. */
#include "workloads/documented.h"

#include <string.h>

const struct zm_documented_file *zm_documented_find(const char *id)
{
	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++) {
		if (strcmp(file->id, id) == 0)
			return file;
	}
	return NULL;
}
