/*
 * profile: what a build is made of, as recorded: the classes of its processes, the trees in which they
 * come, and the order of its jobs. A small JSON file (docs/buildload.md describes it member by member).
 *
 *     stage    "objects": jobs that need nothing of each other; a stage begins when the one before has
 *              ended. A build is wide at first and ends with a serial link.
 *     job      what one slot of make's jobserver runs: a recipe, and which row its largest process is
 *     recipe   a tree of processes: sh, below it gcc, below that cc1 and then as, …
 *     class    the processes of one program: the files it maps, how its heap grows, and rows
 *     row      one recorded process: its figures together, never drawn one by one, because what is
 *              large in one is large in all
 *
 *     build --- stage 0 --> stage 1 --> …          job = recipe 3, row 17
 *               | job | job | job                         sh
 *                                                         |- gcc
 *                                                         |  |- cc1 (row 17)
 *                                                         |  '- as
 *                                                         '- fixdep
 *
 * Whoever makes one fills the arrays with memory of malloc's, calls zm_profile_check, and gives all of
 * it to zm_profile_free. What is read is checked, bounded and complete: every index is inside.
 */
#ifndef ZM_BUILDLOAD_PROFILE_H
#define ZM_BUILDLOAD_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

/* Bounds of a file that is read, and of what is written. */
enum {
	ZM_PROFILE_BYTES_MAX = 16 << 20,
	ZM_PROFILE_CLASSES_MAX = 256,
	ZM_PROFILE_ROWS_MAX = 4096, /* of a class */
	ZM_PROFILE_STEPS_MAX = 64,  /* of a mix */
	ZM_PROFILE_RAMPS_MAX = 8,
	ZM_PROFILE_POINTS_MAX = 64,
	ZM_PROFILE_RECIPES_MAX = 1024,
	ZM_PROFILE_NODES_MAX = 4096, /* of a recipe */
	ZM_PROFILE_DEPTH_MAX = 32,   /* of a recipe's tree */
	ZM_PROFILE_STAGES_MAX = 64,
	ZM_PROFILE_JOBS_MAX = 65536, /* of a stage */
	ZM_PROFILE_TEXT_MAX = 256,
};

/* A process's figures. In the file a class names those it has, in "fields"; what it has not, is drawn
 * from the others or from knobs (zero_reads), or not done. anon_pages and faults are always there. */
enum zm_profile_field {
	ZM_FIELD_ANON_PAGES, /* anonymous pages at its peak, copied file pages among them */
	ZM_FIELD_COPIED_PAGES, /* of them, those that are copied file pages for certain: more than it mapped */
	ZM_FIELD_FAULTS,      /* minor faults, all */
	ZM_FIELD_ZERO_READS,  /* faults that mapped the zero page; each is written to later */
	ZM_FIELD_FILE_PAGES,  /* pages of files mapped at its end (RssFile) */
	ZM_FIELD_TABLE_PAGES, /* page tables at its end (VmPTE) */
	ZM_FIELD_PEAK_RSS_PAGES,
	ZM_FIELD_USER_US, /* CPU time of its own, children not among it */
	ZM_FIELD_SYSTEM_US,
	ZM_FIELD_LIFE_US, /* from fork to exit */
	ZM_FIELD_OPENS,   /* files opened, each read to its end or as far as read_bytes goes */
	ZM_FIELD_OPENS_MISSING, /* opens that found no such file */
	ZM_FIELD_READ_BYTES,
	ZM_FIELD_WRITE_BYTES, /* to files */
	ZM_FIELD_PIPE_BYTES,  /* to its output, when that is no file */
	ZM_FIELD_SWITCHES,    /* voluntary context switches */
	ZM_NR_FIELDS,
};

/* "anon_pages", as in the file. */
const char *zm_profile_field_name(enum zm_profile_field field);

/* What a class is in a build, whatever its program is called. */
enum zm_profile_role {
	ZM_ROLE_SHELL,
	ZM_ROLE_DRIVER,
	ZM_ROLE_COMPILER,
	ZM_ROLE_ASSEMBLER,
	ZM_ROLE_LINKER,
	ZM_ROLE_ARCHIVER,
	ZM_ROLE_MAKE,
	ZM_ROLE_TOOL, /* anything else */
	ZM_NR_ROLES,
};

const char *zm_profile_role_name(enum zm_profile_role role); /* "compiler" */

/* By how much at a time, and how often (a count over all recorded processes, or per process: only the
 * proportions matter). */
struct zm_profile_step {
	uint64_t bytes; /* above 0 */
	double weight;  /* above 0 */
};

struct zm_profile_mix {
	struct zm_profile_step *steps;
	size_t nr;
};

/* How much of the peak's anonymous pages is there when so much of the CPU time is spent; both from 0 to
 * 1, both never falling, the first point's cpu 0, the last point 1, 1. */
struct zm_profile_point {
	double cpu;
	double anon;
};

struct zm_profile_ramp {
	uint64_t
		up_to_us; /* of user time: it holds for processes below; rising; UINT64_MAX: for all */
	struct zm_profile_point *points; /* 2 or more */
	size_t nr;
};

struct zm_profile_class {
	char *name; /* the program: "cc1"; no two classes have one name */
	enum zm_profile_role role;
	uint64_t image_bytes;          /* of the files it maps: the program and its libraries */
	unsigned int nr_images;        /* how many these are */
	struct zm_profile_mix maps;    /* anonymous mmap; may be empty: then all growth is brk */
	struct zm_profile_mix brks;    /* steps that brk grows by; may be empty: then none is brk */
	double brk_share;              /* of the anonymous pages, grown by brk; 0 … 1 */
	double unmap_share;            /* of what is mapped, unmapped before exit; 0 … 1 */
	struct zm_profile_ramp *ramps; /* none: it grows in proportion to its CPU time */
	size_t nr_ramps;
	unsigned int fields;            /* 1 << enum zm_profile_field, of those that rows have */
	uint64_t (*rows)[ZM_NR_FIELDS]; /* what is not in `fields` is 0 */
	size_t nr_rows;                 /* 1 or more */
};

/* A process of a recipe. The parent stands before it; the first has none (-1) and is the only such. */
struct zm_profile_node {
	unsigned int class_index;
	int parent;
	bool is_fork; /* a subshell: no exec, it goes on with its parent's image */
	bool is_beside; /* started beside the sibling before it (a pipeline), not after it has ended */
	bool is_piped; /* its output is a pipe of its own: to the sibling beside it, else to its parent */
	unsigned int row; /* of its class, counted from 1; 0: drawn. The main node's is the job's */
};

struct zm_profile_recipe {
	struct zm_profile_node *nodes; /* in the order in which they start, parents first */
	size_t nr;                     /* 1 or more */
};

struct zm_profile_job {
	unsigned int recipe;
	int row; /* of the class of the recipe's main node (zm_profile_main); -1: drawn */
};

struct zm_profile_stage {
	char *name;            /* "objects"; no two stages have one name */
	unsigned int max_jobs; /* at once, if fewer than there are slots; 0: no bound; 1: serial */
	unsigned int
		nr_makes; /* makes below the first that share its jobs; 0: the first starts them */
	struct zm_profile_job *jobs; /* as recorded, in order of their start; 1 or more */
	size_t nr;
};

/* What the recorded build came to, to be compared with its emulation. 0: not recorded. */
enum zm_profile_total {
	ZM_TOTAL_WALL_US,
	ZM_TOTAL_USER_US,
	ZM_TOTAL_SYSTEM_US,
	ZM_TOTAL_FAULTS,
	ZM_TOTAL_FORKS,
	ZM_TOTAL_EXECS,
	ZM_TOTAL_SWITCHES,
	ZM_TOTAL_SLOTS, /* -j */
	ZM_NR_TOTALS,
};

const char *zm_profile_total_name(enum zm_profile_total total); /* "wall_us" */

/* What no recording says, and `zonemark calibrate kbuild` fits. */
enum zm_profile_knob {
	ZM_KNOB_USER_SCALE,      /* of user time; 1 */
	ZM_KNOB_ZERO_READ_SHARE, /* of a compiler's anonymous pages, where rows have neither zero_reads
				   * nor file_pages, which say them */
	ZM_KNOB_EARLY_FILE_SHARE, /* of file faults, before the program begins to work */
	ZM_KNOB_COPY_SHARE,       /* of file faults, that write to a private file page */
	ZM_KNOB_WALK_BYTES,       /* of its heap that a process goes over while it works */
	ZM_KNOB_HOPS,             /* moves of a compiler from one CPU to another, on average */
	ZM_KNOB_MAKE_PAGES,       /* resident anonymous pages of the first make */
	ZM_NR_KNOBS,
};

const char *zm_profile_knob_name(enum zm_profile_knob knob); /* "user_scale" */
double zm_profile_knob_preset(enum zm_profile_knob knob);

struct zm_profile {
	char *name;                    /* "linux-6.1-tinyconfig" */
	char *command;                 /* what was recorded: "make -j2" */
	char *machine;                 /* on what: CPUs, kernel; for the reader only */
	char *compiler;                /* its version; for the reader only */
	uint64_t page_bytes;           /* of the machine it was recorded on */
	struct zm_profile_mix headers; /* sizes of the files that are read; may be empty */
	uint64_t nr_headers;           /* different ones */
	struct zm_profile_class *classes;
	size_t nr_classes;
	struct zm_profile_recipe *recipes;
	size_t nr_recipes;
	struct zm_profile_stage *stages;
	size_t nr_stages;
	uint64_t totals[ZM_NR_TOTALS];
	double knobs[ZM_NR_KNOBS];
};

/* Empty, with every knob at its preset. NULL without memory. */
struct zm_profile *zm_profile_new(void);
void zm_profile_free(struct zm_profile *profile);

/* Everything that holds of a profile; -EINVAL, and the sentence names the member. */
int zm_profile_check(const struct zm_profile *profile, struct zm_why *why);

/* Strict: unknown, missing and repeated members are refused, and the sentence says where. `name` is
 * what the text is called in it. -EINVAL, -EFBIG, -ENOMEM, or what opening said. */
int zm_profile_parse(const char *text, size_t length, const char *name,
		     struct zm_profile **ret_profile, struct zm_why *why);
int zm_profile_read(const char *path, struct zm_profile **ret_profile, struct zm_why *why);

/* Checks, then prints; what is printed reads back as the same profile. *ret_text is the caller's. */
int zm_profile_print(const struct zm_profile *profile, char **ret_text, size_t *ret_length,
		     struct zm_why *why);

/* The file is there whole or as it was before. */
int zm_profile_write(const struct zm_profile *profile, const char *path, struct zm_why *why);

/* The node of a recipe that a job's row is about: of those whose class has the most anonymous pages on
 * average, the first. */
size_t zm_profile_main(const struct zm_profile *profile, const struct zm_profile_recipe *recipe);

/* Mean of a field over a class's rows; 0 when it has not got it. */
double zm_profile_mean(const struct zm_profile_class *class, enum zm_profile_field field);

#endif
