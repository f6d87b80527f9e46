/*
 * progress: what a person sees on stderr while runs go on.
 *
 * On a terminal one line that is drawn anew: which run, its phase, throughput now, used memory, time
 * left for all. Elsewhere plain lines: one when a run begins, one when it ends, and one every ten seconds.
 */
#ifndef ZM_RUNNER_PROGRESS_H
#define ZM_RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct zm_progress {
	FILE *out;
	bool is_terminal;
	unsigned int run, nr_runs; /* which of how many */
	const char *title;
	uint64_t later_ns; /* what the runs after this one will take, about; set by the caller */
	uint64_t next_ns;  /* when to draw again */
	bool is_drawn;     /* the line is on the terminal now */
};

struct zm_progress_state {
	const char *phase;
	const char *op;      /* what is counted: "page" */
	double rate;         /* per second; negative: nothing to show */
	uint64_t used_bytes; /* 0: not known */
	uint64_t left_ns;    /* of this run */
};

/* out: stderr. */
void zm_progress_init(struct zm_progress *progress, FILE *out, unsigned int nr_runs);

/* The title must live until the run's end. */
void zm_progress_begin(struct zm_progress *progress, const char *title, unsigned int repeat);
void zm_progress_show(struct zm_progress *progress, const struct zm_progress_state *state);
void zm_progress_end(struct zm_progress *progress, const char *outcome);

/* A line of its own, with the drawn one out of its way. */
void zm_progress_say(struct zm_progress *progress, const char *line);

#endif
