/*
 * process: what /proc says of one process. Always of the real /proc: whoever is traced is of this
 * machine.
 */
#ifndef ZM_BUILDLOAD_PROCESS_H
#define ZM_BUILDLOAD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file of /proc/PID into buf, terminated, as much as fits; false when it cannot be read. */
bool zm_process_read(pid_t pid, const char *name, char *buf, size_t size);

/* The number behind the first `word` of a text ("RssAnon:"); 0 when it is not there. */
uint64_t zm_process_number(const char *text, const char *word);

/* Resident pages that are of no file; CPU time of all its threads, without its children's. */
uint64_t zm_process_anon_pages(pid_t pid);
uint64_t zm_process_cpu_ns(pid_t pid);

/* The file that it runs, without folder, the compiler's triplet and version: "gcc", "sh". buf stays
 * when it cannot be seen. */
void zm_process_name(pid_t pid, char *buf, size_t size);

/* Bytes that it maps of files, and of how many. */
uint64_t zm_process_images(pid_t pid, unsigned int *ret_nr);

#endif
