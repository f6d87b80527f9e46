/*
 * server: a PostgreSQL server of a test's own, in a folder that goes away.
 *
 *     test ── pipe ── keeper ── postgres        (on a socket in the folder; on no port)
 *
 * The keeper starts and ends the server as it reads from the pipe; when the test ends, however it does, the
 * pipe is closed, and the keeper ends the server and removes the folder. As root the server runs as the
 * user postgres, or nobody: it refuses root.
 *
 *     cmocka_run_group_tests(tests, server_setup, server_teardown)
 *
 *     ON_SERVER(twice_is_once)      the test twice_is_once again, as twice_is_once_on_server
 *     TEST_ON_SERVER(twice_is_once) its row; fixture->path is a URL: a schema of its own
 */
#ifndef ZM_RESULTS_TESTS_SERVER_H
#define ZM_RESULTS_TESTS_SERVER_H

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>

#include "results/tests/fixture.h"

static struct server {
	char folder[64];
	char binaries[128]; /* the folder of initdb and postgres */
	char url[256];      /* as its superuser */
	int words, answers; /* to the keeper, and from it */
	const char *lacks;  /* why there is none */
} the_server = { .words = -1, .answers = -1, .lacks = "it was not started" };

/* --- in the keeper --- */

static inline void server_become_nobody(void)
{
	const struct passwd *user = getpwnam("postgres");

	if (geteuid() != 0)
		return;
	user = user ? user : getpwnam("nobody");
	if (!user || setgroups(0, NULL) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0)
		_exit(127);
}

/* A line for the shell, in the folder; what it says goes to the file log. */
static inline pid_t server_spawn(const char *line, bool is_nobody)
{
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0666);

		(void)dup2(null, STDIN_FILENO);
		(void)dup2(log, STDOUT_FILENO);
		(void)dup2(log, STDERR_FILENO);
		(void)setpgid(0, 0);
		if (is_nobody)
			server_become_nobody();
		(void)execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	return pid;
}

static inline bool server_do(const char *line, bool is_nobody)
{
	pid_t pid = server_spawn(line, is_nobody);
	int status;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* What initdb makes is always the same: it is made once in a build, and copied. Of several that do this at
 * once one's stays. */
static inline bool server_init(void)
{
	char line[1536], kept[512], version[128];

	(void)snprintf(version, sizeof(version), "%s", the_server.binaries);
	for (char *at = version; *at; at++)
		*at = *at == '/' ? '-' : *at;
	(void)snprintf(kept, sizeof(kept), "%.*s/tests/server-%u%s",
		       (int)(sizeof(ZM_PROGRAM) - sizeof("/bin/zonemark")), ZM_PROGRAM, geteuid(),
		       version);
	(void)snprintf(line, sizeof(line), "cp -a '%s' data", kept);
	if (access(kept, F_OK) == 0)
		return server_do(line, false);
	(void)snprintf(line, sizeof(line),
		       "exec %s/initdb -D data -U owner -E UTF8 --locale=C -N -A trust "
		       "--wal-segsize=1",
		       the_server.binaries);
	if (!server_do(line, true))
		return false;
	(void)snprintf(line, sizeof(line),
		       "cp -a data '%s.%d' && mv -T '%s.%d' '%s' || rm -rf '%s.%d'", kept, getpid(),
		       kept, getpid(), kept, kept, getpid());
	(void)server_do(line, false);
	return true;
}

static inline pid_t server_start(void)
{
	char line[512];

	(void)snprintf(line, sizeof(line),
		       "exec %s/postgres -D data -k %s -c listen_addresses= -c fsync=off "
		       "-c shared_buffers=16MB -c max_connections=40",
		       the_server.binaries, the_server.folder);
	return server_spawn(line, true);
}

/* At once: the connections are cut. */
static inline void server_end(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGQUIT);
	(void)waitpid(pid, NULL, 0);
}

/* Answers when the server takes connections, or does not any more: its socket says so. */
static inline void server_wait_for_socket(pid_t pid)
{
	for (int i = 0; i < 1200 && waitpid(pid, NULL, WNOHANG) == 0; i++) {
		if (access("data/postmaster.pid", F_OK) == 0) {
			FILE *file = fopen("data/postmaster.pid", "re");
			char line[128] = "";

			while (file && fgets(line, sizeof(line), file))
				;
			if (file)
				(void)fclose(file);
			if (strncmp(line, "ready", 5) == 0)
				return;
		}
		(void)usleep(25000);
	}
}

static inline void server_keep(int words, int answers)
{
	bool is_there = server_init();
	pid_t pid = -1;
	char word;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	while (read(words, &word, 1) == 1) {
		if (word == '+' && is_there && pid <= 0) {
			pid = server_start();
			server_wait_for_socket(pid);
		} else if (word == '-') {
			server_end(pid);
			pid = -1;
		}
		if (write(answers, is_there ? "y" : "n", 1) != 1)
			break;
	}
	server_end(pid);
	(void)chdir("/");
	(void)nftw(the_server.folder, fixture_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	_exit(0);
}

/* --- in the test --- */

static inline bool server_say(char word)
{
	char answer = 'n';

	return write(the_server.words, &word, 1) == 1 &&
	       read(the_server.answers, &answer, 1) == 1 && answer == 'y';
}

static inline void server_up(void)
{
	assert_true(server_say('+'));
}

static inline void server_down(void)
{
	assert_true(server_say('-'));
}

/* The newest that Debian has, or what is in the PATH. */
static inline bool server_find_binaries(void)
{
	const char *at = getenv("PATH");
	char program[192];
	glob_t found;

	if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0) {
		const char *last = found.gl_pathv[found.gl_pathc - 1];

		(void)snprintf(the_server.binaries, sizeof(the_server.binaries), "%.*s",
			       (int)(strrchr(last, '/') - last), last);
		globfree(&found);
		return true;
	}
	for (; at && *at; at += strspn(at, ":")) {
		(void)snprintf(the_server.binaries, sizeof(the_server.binaries), "%.*s",
			       (int)strcspn(at, ":"), at);
		(void)snprintf(program, sizeof(program), "%s/initdb", the_server.binaries);
		if (access(program, X_OK) == 0)
			return true;
		at += strcspn(at, ":");
	}
	return false;
}

static inline bool server_make_folder(void)
{
	const struct passwd *user = getpwnam("postgres");

	(void)snprintf(the_server.folder, sizeof(the_server.folder), "/tmp/zm-server-XXXXXX");
	user = user ? user : getpwnam("nobody");
	return mkdtemp(the_server.folder) &&
	       (geteuid() != 0 ||
		(user && chown(the_server.folder, user->pw_uid, user->pw_gid) == 0));
}

static inline void server_fork_keeper(void)
{
	int words[2], answers[2];
	pid_t pid;

	if (pipe2(words, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		(void)close(words[1]);
		(void)close(answers[0]);
		(void)setsid();
		if (chdir(the_server.folder) < 0)
			_exit(1);
		server_keep(words[0], answers[1]);
	}
	(void)close(words[0]);
	(void)close(answers[1]);
	the_server.words = words[1];
	the_server.answers = answers[0];
}

/* Never fails: without a server the tests on it are skipped. */
static inline int server_setup(void **state)
{
	(void)state;
#ifdef ZM_HAVE_PQ
	the_server.lacks = "no initdb here: the package postgresql";
	if (!server_find_binaries())
		return 0;
	the_server.lacks = "its folder cannot be made";
	if (!server_make_folder())
		return 0;
	server_fork_keeper();
	the_server.lacks = server_say('+') ? NULL : "initdb fails here";
	(void)snprintf(the_server.url, sizeof(the_server.url),
		       "postgresql:///postgres?host=%s&user=owner", the_server.folder);
#else
	the_server.lacks = "this build is without libpq";
#endif
	return 0;
}

static inline int server_teardown(void **state)
{
	char byte;

	(void)state;
	if (the_server.words < 0)
		return 0;
	(void)close(the_server.words);
	while (read(the_server.answers, &byte, 1) > 0)
		; /* until it has cleared up */
	(void)close(the_server.answers);
	return 0;
}

/* The fixture's store is in a schema of its own. */
static inline int server_fixture_setup(void **state)
{
	static unsigned int nr;
	struct fixture *fixture;
	struct zm_db *db = NULL;
	char sql[64];

	if (fixture_setup(state) < 0)
		return -1;
	fixture = *state;
	if (the_server.lacks)
		return 0;
	nr++;
	(void)snprintf(sql, sizeof(sql), "CREATE SCHEMA test%u", nr);
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s&options=-csearch_path%%3Dtest%u",
		       the_server.url, nr);
	server_up();
	if (zm_db_open(the_server.url, ZM_DB_WRITE, &db, NULL) < 0 ||
	    zm_db_script(db, NULL, sql) < 0)
		return -1;
	zm_db_close(db);
	return 0;
}

static inline void server_needed(void)
{
	if (!the_server.lacks)
		return;
	print_message("no server: %s\n", the_server.lacks);
	skip();
}

#define ON_SERVER(name)                                                                            \
	static void name##_on_server(void **state)                                                 \
	{                                                                                          \
		server_needed();                                                                   \
		name(state);                                                                       \
	}

#define TEST_ON_SERVER(name)                                                                       \
	cmocka_unit_test_setup_teardown(name##_on_server, server_fixture_setup, fixture_teardown)

#endif
