/* journal_recover: what dead owners left is undone by those who come after; what is damaged, planted or
 * somebody else's is not. */
#include "workloads/base/tests/journal_tree.h"

static void change_three(struct zm_journal *journal)
{
	(void)zm_journal_set(journal, FRACTION, "8", NULL);
	(void)zm_journal_set(journal, THP, "never", NULL);
	(void)zm_journal_made(journal, ZM_MADE_TREE, tree_path(&tree, "made"), NULL);
	tree_write(&tree, "made/by/me", "text");
}

static void a_dead_owners_changes_are_undone(void **state)
{
	(void)state;
	assert_int_equal(recover(), 0);
	die_after(change_three);
	assert_text(FRACTION, "8");
	assert_text(THP, "never");
	assert_int_equal(recover(), 1);
	assert_int_equal(nr_lines, 3);
	assert_text(FRACTION, "0");
	assert_text(THP, "madvise");
	assert_false(tree_has(&tree, "made"));
	assert_int_equal(count_names(".journal"), 0);
	assert_int_equal(recover(), 0);
	assert_int_equal(nr_lines, 0);
}

static void change_once(struct zm_journal *journal)
{
	(void)zm_journal_set(journal, FRACTION, "8", NULL);
}

static void a_living_owners_are_not(void **state)
{
	int up[2], down[2], status;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	child = fork();
	if (child == 0) {
		struct zm_journal *journal = NULL;

		if (zm_journal_open(&root, directory, &journal, NULL) == 0)
			change_once(journal);
		_exit(write(up[1], "x", 1) != 1 || read(down[0], &byte, 1) != 1);
	}
	assert_int_equal(read(up[0], &byte, 1), 1);
	assert_int_equal(recover(), 0);
	assert_text(FRACTION, "8");
	assert_int_equal(write(down[1], "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
	for (int i = 0; i < 2; i++) {
		(void)close(up[i]);
		(void)close(down[i]);
	}
}

static void a_zombie_owner_is_dead(void **state)
{
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct zm_journal *journal;

		if (zm_journal_open(&root, directory, &journal, NULL) == 0)
			change_once(journal);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void another_runs_setting_is_refused(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	die_after(change_once);
	assert_int_equal(zm_journal_set(journal, FRACTION, "9", &why), -EBUSY);
	assert_non_null(strstr(why.text, "zonemark restore"));
	assert_int_equal(zm_journal_save(journal, FRACTION, &why), -EBUSY);
	assert_int_equal(zm_journal_set(journal, POOL, "31", &why), 0);
	assert_int_equal(recover(), 1);
	assert_text(POOL, "31");
	assert_int_equal(zm_journal_set(journal, FRACTION, "9", &why), 0);
	zm_journal_close(journal);
	assert_text(FRACTION, "0");
	assert_text(POOL, "30");
}

static void journals_of_another_root_are_left(void **state)
{
	struct tree other;
	struct zm_sysroot other_root;

	(void)state;
	tree_make(&other);
	assert_int_equal(zm_sysroot_open_writable(&other_root, other.path), 0);
	die_after(change_once);
	assert_int_equal(zm_journal_recover(&other_root, directory, NULL, NULL, &why), 0);
	assert_text(FRACTION, "8");
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
	zm_sysroot_release(&other_root);
	tree_remove(&other);
}

/* Adds a line to a journal; frees it. */
static void plant_line(const char *name, char *line, size_t length)
{
	char path[PATH_MAX + 300];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "ae");
	assert_non_null(out);
	assert_int_equal(fwrite(line, 1, length, out), length);
	assert_int_equal(fclose(out), 0);
	free(line);
}

static void plant_fields(const char *name, const char *const *fields, size_t nr)
{
	size_t length;
	char *line;

	assert_int_equal(zm_record_print(fields, nr, &line, &length), 0);
	plant_line(name, line, length);
}

/* Writes a journal of another process's: it has set the fraction from one value to another. */
static void plant_journal(const char *name, const struct zm_owner *owner, uint64_t began_ns,
			  const char *from, const char *to)
{
	struct zm_records head = { .owner = *owner, .began_ns = began_ns };
	const char *const set[] = { "file", "1", FRACTION, from, to };
	const char *const now[] = { "now", "1", to };
	size_t length;
	char *line;

	zm_journal_root_name(&root, head.root, sizeof(head.root));
	assert_int_equal(zm_journal_directory_make(directory, &why), 0);
	assert_int_equal(zm_records_print_header(&head, &line, &length), 0);
	plant_line(name, line, length);
	plant_fields(name, set, nr_of(set));
	plant_fields(name, now, nr_of(now));
}

/* The same journal goes on: it has made a directory. */
static void plant_made(const char *name)
{
	const char *const made[] = { "made", "2", "tree", tree_path(&tree, "made") };

	plant_fields(name, made, nr_of(made));
	tree_write(&tree, "made/by/it", "text");
}

/* The kernel has forgotten the settings; what was set since is nobody's business. */
static void after_a_reboot_only_files_are_left_to_undo(void **state)
{
	struct zm_owner owner;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, &why), 0);
	owner.boot_id[0] = owner.boot_id[0] == 'f' ? 'e' : 'f';
	plant_journal("1-1-0.journal", &owner, 1, "3", "0");
	plant_made("1-1-0.journal");
	assert_int_equal(recover(), 1);
	assert_int_equal(nr_lines, 1);
	assert_text(FRACTION, "0\n");
	assert_false(tree_has(&tree, "made"));
	assert_int_equal(count_names(".journal"), 0);
}

/* A pid in another namespace tells nothing: its lock does. */
static void an_owner_in_another_container_lives_by_its_lock(void **state)
{
	int up[2], down[2];
	struct zm_owner owner;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, &why), 0);
	owner.pid = 1;
	owner.pid_ns++;
	plant_journal("1-1-0.journal", &owner, 1, "3", "0");
	plant_made("1-1-0.journal");
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	child = fork();
	if (child == 0) {
		int fd = open(tree_path(&tree, "state/journal/1-1-0.journal"), O_RDWR | O_CLOEXEC);

		if (fd < 0 || zm_journal_file_lock(fd) || write(up[1], "x", 1) != 1)
			_exit(1);
		_exit(read(down[0], &byte, 1) != 1);
	}
	assert_int_equal(read(up[0], &byte, 1), 1);
	assert_int_equal(recover(), 0);
	assert_true(tree_has(&tree, "made"));
	assert_int_equal(write(down[1], "x", 1), 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(recover(), 1);
	assert_false(tree_has(&tree, "made"));
	assert_text(FRACTION, "3");
	for (int i = 0; i < 2; i++) {
		(void)close(up[i]);
		(void)close(down[i]);
	}
}

/* Two dead runs that had the same setting in turn: the newer is undone first. */
static void the_newest_is_undone_first(void **state)
{
	static const char *const names[] = { "9-9-0.journal", "1-1-0.journal" };
	struct zm_owner owner;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, &why), 0);
	owner.pid = 1 << 30;
	for (int order = 0; order < 2; order++) {
		plant_journal(names[order], &owner, 10, "0", "1");
		plant_journal(names[1 - order], &owner, 20, "1", "2");
		tree_write(&tree, FRACTION, "2\n");
		assert_int_equal(recover(), 2);
		assert_text(FRACTION, "0");
	}
}

/* --- damaged and planted files --------------------------------------------------------------- */

/* The one journal file there is. */
static const char *find_journal(void)
{
	static char path[PATH_MAX + 300];
	DIR *listing = opendir(directory);

	assert_non_null(listing);
	path[0] = '\0';
	for (struct dirent *entry; (entry = readdir(listing));)
		if (strstr(entry->d_name, ".journal"))
			(void)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
	(void)closedir(listing);
	return path;
}

/* The bytes of the file's last line. */
static off_t last_line_length(const char *path)
{
	char text[8192];
	FILE *file = fopen(path, "re");
	size_t length = 0, last;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text), file);
	assert_in_range(length, 2, sizeof(text) - 1);
	assert_int_equal(fclose(file), 0);
	for (last = length - 1; last > 0 && text[last - 1] != '\n';)
		last--;
	return (off_t)(length - last);
}

static void a_torn_last_record_was_never_made(void **state)
{
	off_t line;

	(void)state;
	die_after(change_three);
	line = last_line_length(find_journal());
	assert_int_equal(recover(), 1);
	for (off_t cut = 1; cut <= line; cut++) {
		struct stat status;

		die_after(change_three);
		assert_int_equal(stat(find_journal(), &status), 0);
		assert_int_equal(truncate(find_journal(), status.st_size - cut), 0);
		assert_int_equal(recover(), 1);
		assert_text(FRACTION, "0");
		assert_text(THP, "madvise");
		assert_int_equal(count_names(".journal"), 0);
		assert_int_equal(count_names(".damaged"), 0);
		assert_int_equal(remove(tree_path(&tree, "made/by/me")), 0);
		assert_int_equal(remove(tree_path(&tree, "made/by")), 0);
		assert_int_equal(remove(tree_path(&tree, "made")), 0);
	}
}

/* Turns one byte of the file's line number `line` into another. */
static void spoil(const char *path, int line)
{
	FILE *file = fopen(path, "r+e");
	int c = 0;

	assert_non_null(file);
	for (int i = 0; i < line;) {
		c = fgetc(file);
		assert_int_not_equal(c, EOF);
		i += c == '\n';
	}
	assert_int_equal(fseek(file, 2, SEEK_CUR), 0);
	assert_int_equal(fputc('~', file), '~');
	assert_int_equal(fclose(file), 0);
}

static void a_damaged_record_is_left_out_and_the_file_kept(void **state)
{
	(void)state;
	die_after(change_three);
	spoil(find_journal(), 1);
	assert_int_equal(recover(), -EUCLEAN);
	assert_non_null(strstr(why.text, ".damaged"));
	assert_text(FRACTION, "8");
	assert_text(THP, "madvise");
	assert_false(tree_has(&tree, "made"));
	assert_int_equal(count_names(".damaged"), 1);
	assert_int_equal(recover(), 0);
}

static void a_damaged_header_undoes_nothing(void **state)
{
	(void)state;
	die_after(change_three);
	spoil(find_journal(), 0);
	assert_int_equal(recover(), -EUCLEAN);
	assert_text(FRACTION, "8");
	assert_int_equal(count_names(".damaged"), 1);
	assert_int_equal(recover(), 0);
}

static void what_others_can_write_is_refused(void **state)
{
	(void)state;
	die_after(change_once);
	assert_int_equal(chmod(find_journal(), 0622), 0);
	assert_int_equal(recover(), -EPERM);
	assert_text(FRACTION, "8");
	assert_int_equal(chmod(find_journal(), 0600), 0);
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(recover(), -EPERM);
	assert_text(FRACTION, "8");
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(recover(), 1);
	assert_text(FRACTION, "0");
}

static void anothers_journal_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	die_after(change_once);
	assert_int_equal(chown(find_journal(), 65534, 65534), 0);
	assert_int_equal(recover(), -EPERM);
	assert_non_null(strstr(why.text, "65534"));
	assert_text(FRACTION, "8");
}

static void links_and_pipes_are_no_journals(void **state)
{
	(void)state;
	die_after(change_once);
	assert_int_equal(recover(), 1);
	tree_write(&tree, "elsewhere", "zonemark-journal\n");
	assert_int_equal(
		symlink("../../elsewhere", tree_path(&tree, "state/journal/1-1-0.journal")), 0);
	assert_true(recover() < 0);
	assert_int_equal(unlink(tree_path(&tree, "state/journal/1-1-0.journal")), 0);
	assert_int_equal(mkfifo(tree_path(&tree, "state/journal/1-1-0.journal"), 0600), 0);
	assert_int_equal(recover(), -EPERM);
	assert_text("elsewhere", "zonemark-journal\n");
}

static void an_unfinished_new_file_is_swept(void **state)
{
	(void)state;
	die_after(change_once);
	tree_write(&tree, "state/journal/.new-1-1-1.journal", "zonemark-jour");
	assert_int_equal(recover(), 1);
	assert_false(tree_has(&tree, "state/journal/.new-1-1-1.journal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(a_dead_owners_changes_are_undone),
		test_in_tree(a_living_owners_are_not),
		test_in_tree(a_zombie_owner_is_dead),
		test_in_tree(another_runs_setting_is_refused),
		test_in_tree(journals_of_another_root_are_left),
		test_in_tree(after_a_reboot_only_files_are_left_to_undo),
		test_in_tree(an_owner_in_another_container_lives_by_its_lock),
		test_in_tree(the_newest_is_undone_first),
		test_in_tree(a_torn_last_record_was_never_made),
		test_in_tree(a_damaged_record_is_left_out_and_the_file_kept),
		test_in_tree(a_damaged_header_undoes_nothing),
		test_in_tree(what_others_can_write_is_refused),
		test_in_tree(anothers_journal_is_refused),
		test_in_tree(links_and_pipes_are_no_journals),
		test_in_tree(an_unfinished_new_file_is_swept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
