/* array: one that grows by doubling. */
#ifndef ZM_RESULTS_ARRAY_H
#define ZM_RESULTS_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for one element more than nr. -ENOMEM, and everything is as it was. */
static inline int zm_array_grow(void **array, size_t *capacity, size_t nr, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (nr < *capacity)
		return 0;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = wanted;
	return 0;
}

#endif
