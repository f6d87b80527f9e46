/*
 * reader: files read by read(2), 4 KiB at a time, from one end to the other and again; what
 * lru_file_readonce and lru_file_readtwice share. How long a file is, is area's.
 *
 * With one end each task has a file of its own, emptied after each round. With two ends the tasks of
 * a pair read the same file, so each page is wanted twice.
 */
#ifndef ZM_FAULTLOAD_READER_H
#define ZM_FAULTLOAD_READER_H

#include "faultload/area.h"
#include "faultload/vmscal.h"
#include "workloads/worker.h"

#define ZM_READER_FILES 8192 /* pairs at most */

struct zm_reader_run {
	struct zm_vmscal_run vmscal; /* first: vmscal finds it there */
	int nr_files;                /* of pairs, opened before the tasks were made */
	int files[ZM_READER_FILES];
	_Atomic uint64_t nr_checked, nr_wrong;
};

struct zm_reader {
	struct zm_vmscal_clock clock;
	uint64_t done; /* bytes of this round */
	bool is_begun;
	int fd; /* -1: none */
	unsigned char *buffer;
};

int zm_reader_check(const struct zm_run *run, struct zm_why *why);
int zm_reader_prepare(struct zm_run *run, struct zm_why *why);
void zm_reader_cleanup(struct zm_run *run);
int zm_reader_setup(struct zm_task *task, struct zm_why *why);
int64_t zm_reader_step(struct zm_task *task, uint64_t n);
void zm_reader_teardown(struct zm_task *task);
int zm_reader_verify(struct zm_run *run, struct zm_why *why);

#endif
