/* uuid: random names (version 4) by which runs and invocations are the same in every store. */
#ifndef ZM_RESULTS_UUID_H
#define ZM_RESULTS_UUID_H

#include <stdbool.h>

#define ZM_UUID_SIZE 37

/* -errno when the system has no random numbers. */
int zm_uuid_make(char ret_text[ZM_UUID_SIZE]);

/* 8-4-4-4-12 lower-case hexadecimal digits. */
bool zm_uuid_is(const char *text);

#endif
