/*
 * bench: all that zm_phase_run needs, made for a test: a store, a journal and a temporary directory of
 * its own, this machine's topology. SIGTERM is heard, as a run hears it.
 */
#ifndef ZM_RUNNER_TESTS_BENCH_H
#define ZM_RUNNER_TESTS_BENCH_H

#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "results/store.h"
#include "runner/phase.h"
#include "workloads/base/tests/tree.h"

struct bench {
	struct zm_sysroot root;
	struct zm_topology topology;
	struct tree tree; /* with the store, the journal and $TMPDIR in it */
	char journal[PATH_MAX];
	struct zm_progress progress;
	struct zm_session session;
};

static inline void bench_open(struct bench *bench, const struct zm_monitor *const *monitors)
{
	sigset_t set;

	*bench = (struct bench){ 0 };
	tree_make(&bench->tree);
	tree_mkdir(&bench->tree, "tmp");
	tree_must(setenv("TMPDIR", tree_path(&bench->tree, "tmp"), 1) == 0);
	tree_must(zm_sysroot_open(&bench->root, NULL) == 0);
	tree_must(zm_topology_read(&bench->root, NULL, &bench->topology, NULL) == 0);
	zm_progress_init(&bench->progress, stderr, 1);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	tree_must(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	bench->session = (struct zm_session){
		.root = &bench->root,
		.topology = &bench->topology,
		.monitors = monitors,
		.progress = &bench->progress,
		.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
		.mem = { ZM_MEM_LOCAL, -1 },
		.invocation = "00000000-0000-4000-8000-000000000000",
		.command_line = "test",
		.inventory = "{}",
		.machine_id = "0123456789abcdef",
		.boot_id = "boot",
		.kernel = "kernel",
	};
	tree_must(zm_store_open(tree_path(&bench->tree, "store.db"), true, &bench->session.store,
				NULL) == 0);
	tree_mkdir(&bench->tree, "journal");
	(void)snprintf(bench->journal, sizeof(bench->journal), "%s",
		       tree_path(&bench->tree, "journal"));
	tree_must(zm_journal_open(&bench->root, bench->journal, &bench->session.journal, NULL) ==
		  0);
}

static inline void bench_close(struct bench *bench)
{
	zm_journal_close(bench->session.journal);
	zm_store_close(bench->session.store);
	(void)close(bench->session.signal_fd);
	zm_topology_release(&bench->topology);
	zm_sysroot_release(&bench->root);
	tree_remove(&bench->tree);
}

#endif
