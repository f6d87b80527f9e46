/* timed: a program run once, without its output: what it took. */
#ifndef ZM_BENCH_TIMED_H
#define ZM_BENCH_TIMED_H

struct zm_timed {
	double cpu_s; /* user and system */
	double elapsed_s;
	long kib;   /* at its peak */
	int status; /* as waitpid gives it */
};

/* argv[0] is the path. -errno when it could not be started. */
int zm_timed_run(char *const *argv, struct zm_timed *ret_timed);

#endif
