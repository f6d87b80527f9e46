/*
 * script: one build, written down: every process that it will start, with the figures drawn for it.
 *
 *     profile + seed + build number --> script --> a memory file --> read by each process, its own part
 *
 * A script is one piece of memory without pointers, so that a process of the emulated build (helper/)
 * can read its part with one pread. The same profile, seed and number give the same bytes.
 *
 *     head | stages | jobs | classes | steps
 *
 * A step is a process. A job's steps stand together, in the order of a walk through its tree: a step's
 * children follow it, each with all that is below it.
 */
#ifndef ZM_BUILDLOAD_SCRIPT_H
#define ZM_BUILDLOAD_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "buildload/profile.h"
#include "workloads/base/why.h"

#define ZM_SCRIPT_MAGIC 0x7a6d6275696c6431ULL

enum {
	ZM_SCRIPT_NAME = 16,   /* a process's name, as the kernel cuts it */
	ZM_SCRIPT_RAMP = 32,   /* points of a ramp, at equal steps of CPU time */
	ZM_SCRIPT_IMAGES = 16, /* that a process maps, at most */
	ZM_SCRIPT_IMAGE_BYTES = 64
				<< 20, /* of all of them: larger ones are mapped more than once */
};

/* Where the others are: offsets in bytes from its own start. */
struct zm_script_head {
	uint64_t magic;
	uint64_t bytes; /* of all */
	uint32_t nr_stages, nr_jobs, nr_classes, nr_steps;
	uint32_t
		first_make_step; /* steps of the makes themselves, at the end: one per make below the first */
	uint32_t make_pages; /* that the first make holds */
	uint32_t nr_headers; /* files h/0 … of the instance; 0: none */
	uint32_t page_bytes;
	uint32_t walk_bytes;
	uint32_t padding;
	uint64_t stages_at, jobs_at, classes_at, steps_at;
};

struct zm_script_stage {
	uint32_t first_job, nr_jobs;
	uint32_t max_jobs;   /* 0: as many as there are slots */
	uint32_t nr_makes;   /* below the first; 0: the first starts the jobs */
	uint32_t first_make; /* number of its first make, of all stages' */
	uint32_t padding;
};

struct zm_script_job {
	uint32_t first_step, nr_steps;
	uint64_t weight; /* user time of its steps as recorded, us: how much of the build it is */
};

struct zm_script_mix {
	uint32_t nr;
	uint32_t padding;
	struct {
		uint64_t bytes;
		uint64_t until; /* of 2^32: a number drawn below it, and not below the one before */
	} steps[ZM_PROFILE_STEPS_MAX];
};

struct zm_script_class {
	char name[ZM_SCRIPT_NAME];
	uint32_t role; /* enum zm_profile_role */
	uint32_t nr_images;
	uint64_t
		image_pages; /* of each image: image K is so many pages of the one file behind K - 1 */
	uint32_t brk_ppm, unmap_ppm, early_ppm, copy_ppm; /* shares, in millionths */
	struct zm_script_mix maps, brks;
};

enum zm_script_flag {
	ZM_STEP_FORK = 1 << 0,        /* no exec */
	ZM_STEP_BESIDE = 1 << 1,      /* beside the sibling before it */
	ZM_STEP_NEXT_BESIDE = 1 << 2, /* the sibling after it runs beside it */
	ZM_STEP_TEMPORARY = 1 << 3,   /* its parent removes what it wrote: a compiler's, for as */
	ZM_STEP_PIPED = 1 << 4,       /* its output is a new pipe */
	ZM_STEP_READS = 1 << 5,       /* its input is the pipe of the sibling before it */
};

struct zm_script_step {
	uint32_t nr_below; /* steps in its tree, itself among them */
	uint32_t nr_children;
	uint16_t class_index;
	uint16_t flags;
	uint32_t output; /* the file that it writes is o/OUTPUT; the step's own number */
	uint32_t hops; /* to another CPU, in equal parts of its CPU time, the last one at its end */
	uint32_t padding;
	uint64_t seed;
	uint64_t anon_pages, copied_pages, zero_reads, faults;
	uint64_t work; /* units of work (act.h) */
	uint64_t opens, opens_missing, read_bytes, write_bytes, pipe_bytes;
	uint16_t
		ramp[ZM_SCRIPT_RAMP]; /* of 65535: the anonymous pages' share after 1/32, 2/32, … */
};

struct zm_script {
	unsigned char *data;
	size_t bytes;
};

struct zm_script_choice {
	uint64_t seed;       /* of the instance */
	uint64_t number;     /* of the build: what was not recorded in order is drawn anew */
	uint64_t page_bytes; /* of this machine: pages of another size are converted */
	unsigned int jobs;   /* of each stage at most; 0: all */
	unsigned int stages; /* so many, from the first; 0: all */
	double work_scale;   /* of the user time, beside the knob */
	bool is_shuffled;    /* jobs of a stage in drawn order, not the recorded */
};

/* -ENOMEM; -EOVERFLOW: more than 2^31 steps. The profile has been checked. */
int zm_script_make(const struct zm_profile *profile, const struct zm_script_choice *choice,
		   struct zm_script *ret_script, struct zm_why *why);
/* What a process of this class maps of files. */
uint64_t zm_script_image_bytes(const struct zm_profile_class *class);

void zm_script_release(struct zm_script *script);

const struct zm_script_head *zm_script_head(const struct zm_script *script);
const struct zm_script_stage *zm_script_stages(const struct zm_script *script);
const struct zm_script_job *zm_script_jobs(const struct zm_script *script);
const struct zm_script_class *zm_script_classes(const struct zm_script *script);
const struct zm_script_step *zm_script_steps(const struct zm_script *script);

#endif
