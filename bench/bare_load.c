/*
 * bare_load: a few lines for each workload, and nothing that counts. The instructions that fault are those of
 * base/touch, whose place decides more than what is compared.
 *
 * Areas are small enough for any machine and large enough that a round takes some milliseconds: 64 MiB
 * where memory is gone over, 64 huge pages where a pool grows.
 */
#include "bench/bare_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bare.h"
#include "workloads/base/clock.h"
#include "workloads/base/touch.h"

#define MIB        (UINT64_C(1) << 20)
#define AREA       (64 * MIB)
#define AREA_WORDS (AREA / sizeof(uint64_t))
#define AREA_KB    ((double)AREA / 1024)
#define BIG        (128 * MIB)
#define REGION     (16 * MIB)
#define GUEST      (4 * MIB) /* a cycle is counted as a whole: there must be many */
#define NR_POOL    64

static uint64_t page_bytes;
static int file = -1;
static char *area;
static struct drand48_data draws;

static int open_pages(const char *directory)
{
	(void)directory;
	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return srand48_r(7, &draws);
}

static int open_file(const char *directory, uint64_t bytes)
{
	(void)open_pages(directory);
	file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return file < 0 || ftruncate(file, (off_t)bytes) < 0 ? -errno : 0;
}

static int open_big_file(const char *directory)
{
	return open_file(directory, BIG);
}

static int open_region_file(const char *directory)
{
	return open_file(directory, REGION);
}

static int open_area_file(const char *directory)
{
	return open_file(directory, AREA);
}

static int open_empty_file(const char *directory)
{
	return open_file(directory, 0);
}

static int open_shm(const char *directory)
{
	(void)directory;
	return open_area_file("/dev/shm");
}

static int open_zero(const char *directory)
{
	(void)open_pages(directory);
	file = open("/dev/zero", O_RDWR | O_CLOEXEC);
	return file < 0 ? -errno : 0;
}

/* --- will-it-scale ------------------------------------------------------------------------------ */

#define CALLS 1000

static int touch_region(int flags)
{
	const struct zm_bare bare = {
		.size = REGION, .page_bytes = page_bytes, .flags = flags, .fd = file
	};

	return zm_bare_rounds(&bare, 1);
}

static int page_fault1(void)
{
	return touch_region(MAP_PRIVATE | MAP_ANONYMOUS);
}

static int page_fault2(void)
{
	return touch_region(MAP_PRIVATE);
}

static int page_fault3(void)
{
	return touch_region(MAP_SHARED);
}

static int malloc_of(size_t bytes)
{
	for (int i = 0; i < CALLS; i++) {
		void *memory = malloc(bytes);

		__asm__ volatile("" : "+r"(memory) : : "memory"); /* else both calls may go */
		if (!memory)
			return -ENOMEM;
		free(memory);
	}
	return 0;
}

static int malloc1(void)
{
	return malloc_of(BIG);
}

static int malloc2(void)
{
	return malloc_of(1024);
}

static int map_big(int flags)
{
	for (int i = 0; i < CALLS; i++) {
		void *base = mmap(NULL, BIG, PROT_READ | PROT_WRITE, flags, file, 0);

		if (base == MAP_FAILED || munmap(base, BIG) < 0)
			return -errno;
	}
	return 0;
}

static int mmap1(void)
{
	return map_big(MAP_PRIVATE | MAP_ANONYMOUS);
}

static int mmap2(void)
{
	return map_big(MAP_PRIVATE);
}

/* A heap of its own, which can grow. */
static int open_heap(const char *directory)
{
	(void)open_pages(directory);
	return sbrk((intptr_t)page_bytes) == (void *)-1 ? -errno : 0;
}

static int brk2(void)
{
	char *end = sbrk(0);

	for (int i = 0; i < CALLS; i += 2)
		if (brk(end + page_bytes) < 0 || brk(end) < 0)
			return -errno;
	return 0;
}

static int fallocate2(void)
{
	for (off_t at = 0; at < (off_t)MIB; at += 8192)
		if (fallocate(file, 0, at, 8192) < 0)
			return -errno;
	return ftruncate(file, 0) < 0 ? -errno : 0;
}

static int flush(uint64_t bytes, int flags)
{
	char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
	uint64_t sum;
	int r;

	if (base == MAP_FAILED)
		return -errno;
	r = zm_touch_flush(base, base + bytes, page_bytes, &sum);
	if (r < 0)
		return r;
	return munmap(base, bytes) < 0 ? -errno : 0;
}

static int tlb_flush1(void)
{
	return flush(BIG, MAP_PRIVATE);
}

static int tlb_flush2(void)
{
	return flush(MIB, MAP_PRIVATE | MAP_ANONYMOUS);
}

/* --- vm-scalability ------------------------------------------------------------------------------ */

static void write_all(void)
{
	zm_touch_write_words((uint64_t *)(void *)area, 0, AREA_WORDS);
}

static void read_all(void)
{
	zm_touch_read_words((uint64_t *)(void *)area, 0, AREA_WORDS);
}

static void write_anywhere(void)
{
	volatile uint64_t *words = (volatile uint64_t *)(void *)area;

	for (uint64_t i = 0; i < AREA_WORDS; i++) {
		uint64_t word;
		long drawn;

		(void)lrand48_r(&draws, &drawn);
		word = (uint64_t)((double)(AREA_WORDS - 1) * (double)drawn / 2147483648.0);
		words[word] = word;
	}
}

static int map_area(int protection, int flags)
{
	void *base = mmap(NULL, AREA, protection, flags, file, 0);

	if (base == MAP_FAILED)
		return -errno;
	area = base;
	return 0;
}

static int go_over(int protection, int flags, void (*access)(void))
{
	int r = map_area(protection, flags);

	if (r < 0)
		return r;
	access();
	return munmap(area, AREA) < 0 ? -errno : 0;
}

static int anon_w_seq(void)
{
	return go_over(PROT_READ | PROT_WRITE, MAP_PRIVATE, write_all);
}

static int anon_w_rand(void)
{
	return go_over(PROT_READ | PROT_WRITE, MAP_PRIVATE, write_anywhere);
}

static int anon_r_seq(void)
{
	return go_over(PROT_READ, MAP_PRIVATE, read_all);
}

static int lru_shm(void)
{
	int r = go_over(PROT_READ, MAP_SHARED, read_all);

	if (r == 0 && (ftruncate(file, 0) < 0 || ftruncate(file, AREA) < 0))
		r = -errno;
	return r;
}

/* A child copies what its parent has populated. */
static int copy(void (*access)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		access();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return status == 0 ? 0 : -ECHILD;
}

static int open_cow(const char *directory)
{
	int r = open_zero(directory);

	return r < 0 ? r : map_area(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE);
}

void zm_bare_load_lend_file(int fd)
{
	(void)close(file);
	file = fd;
}

void zm_bare_load_lend(void *lent)
{
	(void)munmap(area, AREA);
	area = lent;
}

static int anon_cow_seq(void)
{
	return copy(write_all);
}

static int anon_cow_rand(void)
{
	return copy(write_anywhere);
}

static int open_cow_huge(const char *directory)
{
	(void)open_pages(directory);
	return map_area(PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE);
}

static int lru_file_readonce(void)
{
	static _Alignas(4096) char block[4096];

	if (lseek(file, 0, SEEK_SET) < 0)
		return -errno;
	for (uint64_t done = 0; done < AREA; done += sizeof(block))
		if (read(file, block, sizeof(block)) != sizeof(block))
			return -EIO;
	return ftruncate(file, 0) < 0 || ftruncate(file, AREA) < 0 ? -errno : 0;
}

/* Ten pages at a time. */
static int small_allocs(void)
{
	uint64_t piece = 10 * page_bytes, nr = 0;
	static char *pieces[AREA / 4096];

	for (uint64_t at = 0; at < AREA; at += piece) {
		uint64_t length = AREA - at < piece ? AREA - at : piece;

		pieces[nr] = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
		if (pieces[nr] == MAP_FAILED)
			return -errno;
		zm_touch_read_words((uint64_t *)(void *)pieces[nr++], 0, length / sizeof(uint64_t));
	}
	for (uint64_t i = 0; i < nr; i++)
		(void)munmap(pieces[i], i == nr - 1 ? AREA - i * piece : piece);
	return 0;
}

static const char *files_are_in;
static double cut_s;
static unsigned int nr_cut;

static int open_truncate(const char *directory)
{
	files_are_in = directory;
	return open_pages(directory);
}

static int truncate_once(void)
{
	static _Alignas(4096) char block[131072];
	int r = open_file(files_are_in, AREA);
	uint64_t since_ns;

	for (uint64_t done = 0; r == 0 && done < AREA; done += sizeof(block))
		if (read(file, block, sizeof(block)) != sizeof(block))
			r = -EIO;
	since_ns = zm_clock_now_ns();
	(void)close(file);
	cut_s += (double)(zm_clock_now_ns() - since_ns) / 1e9;
	nr_cut++;
	return r;
}

/* kB/s of the mere giving up. */
static double truncate_figure(void)
{
	return AREA_KB * nr_cut / cut_s;
}

/* --- ours ---------------------------------------------------------------------------------------- */

static double grow_ns, shrink_ns;
static unsigned int nr_grown;
static unsigned long long pool_base;
static char pool_path[80];

static int find_pool(void)
{
	FILE *memory = fopen("/proc/meminfo", "re");
	char line[128];
	unsigned long long kb = 0;

	while (memory && kb == 0 && fgets(line, sizeof(line), memory))
		(void)sscanf(line, "Hugepagesize: %llu kB", &kb);
	if (memory)
		(void)fclose(memory);
	(void)snprintf(pool_path, sizeof(pool_path),
		       "/sys/kernel/mm/hugepages/hugepages-%llukB/nr_hugepages", kb);
	return kb ? 0 : -ENOENT;
}

static int open_pool(const char *directory)
{
	FILE *pool = find_pool() == 0 ? fopen(pool_path, "re") : NULL;
	int n = pool ? fscanf(pool, "%llu", &pool_base) : 0;

	if (pool)
		(void)fclose(pool);
	return n == 1 ? open_pages(directory) : -ENOENT;
}

static int write_number(unsigned long long number)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%llu", number);
	int fd = open(pool_path, O_WRONLY | O_CLOEXEC);
	int r = fd < 0 || write(fd, text, (size_t)length) != length ? -errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int hugetlb_pool(void)
{
	uint64_t since_ns = zm_clock_now_ns();
	int r = write_number(pool_base + NR_POOL);

	grow_ns += (double)(zm_clock_now_ns() - since_ns);
	nr_grown += NR_POOL;
	if (r < 0)
		return r;
	since_ns = zm_clock_now_ns();
	r = write_number(pool_base);
	shrink_ns += (double)(zm_clock_now_ns() - since_ns);
	return r;
}

static double hugetlb_pool_ns(void)
{
	return grow_ns + shrink_ns;
}

static double hugetlb_pool_figure(void)
{
	return grow_ns / nr_grown;
}

static int guest_cycle(void)
{
	int memory = memfd_create("bare", MFD_CLOEXEC);
	char *base;

	if (memory < 0 || ftruncate(memory, GUEST) < 0)
		return -errno;
	base = mmap(NULL, GUEST, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (base == MAP_FAILED)
		return -errno;
	zm_touch_write(base, base + GUEST, page_bytes);
	(void)munmap(base, GUEST);
	return close(memory) < 0 ? -errno : 0;
}

/* --- all of them --------------------------------------------------------------------------------- */

#define KB_WORDS (1024 / sizeof(uint64_t))
#define WIS      "will-it-scale.per_process_ops"
#define VMSCAL   "vm-scalability.true_throughput"

const struct zm_bare_load zm_bare_loads[] = {
	{ .name = "page_fault1",
	  .options = "size=16M thp=never",
	  .metric = WIS,
	  .paged_bytes = REGION,
	  .open = open_pages,
	  .round = page_fault1 },
	{ .name = "page_fault2",
	  .options = "size=16M dir=%s thp=never",
	  .metric = WIS,
	  .paged_bytes = REGION,
	  .open = open_region_file,
	  .round = page_fault2,
	  .has_region = 1 },
	{ .name = "page_fault3",
	  .options = "size=16M dir=%s thp=never",
	  .metric = WIS,
	  .paged_bytes = REGION,
	  .open = open_region_file,
	  .round = page_fault3,
	  .has_region = 1 },
	{ .name = "malloc1",
	  .options = "",
	  .metric = WIS,
	  .ops = CALLS,
	  .open = open_pages,
	  .round = malloc1 },
	{ .name = "malloc2",
	  .options = "",
	  .metric = WIS,
	  .ops = CALLS,
	  .open = open_pages,
	  .round = malloc2 },
	{ .name = "mmap1",
	  .options = "",
	  .metric = WIS,
	  .ops = CALLS,
	  .open = open_pages,
	  .round = mmap1 },
	{ .name = "mmap2",
	  .options = "dir=%s",
	  .metric = WIS,
	  .ops = CALLS,
	  .open = open_big_file,
	  .round = mmap2 },
	{ .name = "brk2",
	  .options = "",
	  .metric = WIS,
	  .ops = CALLS,
	  .open = open_heap,
	  .round = brk2 },
	{ .name = "fallocate2",
	  .options = "dir=%s",
	  .metric = WIS,
	  .ops = 128,
	  .open = open_empty_file,
	  .round = fallocate2 },
	{ .name = "tlb_flush1",
	  .options = "dir=%s",
	  .metric = WIS,
	  .paged_bytes = BIG,
	  .open = open_big_file,
	  .round = tlb_flush1,
	  .has_region = 1 },
	{ .name = "tlb_flush2",
	  .options = "",
	  .metric = WIS,
	  .paged_bytes = MIB,
	  .open = open_pages,
	  .round = tlb_flush2 },
	{ .name = "anon_w_seq",
	  .options = "unit_size=64M thp=never",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_zero,
	  .round = anon_w_seq,
	  .harness_ops = KB_WORDS },
	{ .name = "anon_w_rand",
	  .options = "unit_size=64M thp=never",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_zero,
	  .round = anon_w_rand,
	  .harness_ops = KB_WORDS },
	{ .name = "anon_r_seq",
	  .options = "unit_size=64M thp=never",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_zero,
	  .round = anon_r_seq,
	  .harness_ops = KB_WORDS },
	{ .name = "anon_cow_seq",
	  .options = "unit_size=128M thp=never",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_cow,
	  .round = anon_cow_seq,
	  .harness_ops = KB_WORDS,
	  .is_copier = 1 },
	{ .name = "anon_cow_rand",
	  .options = "unit_size=128M thp=never",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_cow,
	  .round = anon_cow_rand,
	  .harness_ops = KB_WORDS,
	  .is_copier = 1 },
	{ .name = "anon_cow_rand_hugetlb",
	  .options = "unit_size=128M pool=pool",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_cow_huge,
	  .round = anon_cow_rand,
	  .harness_ops = KB_WORDS,
	  .needs_root = 1,
	  .is_copier = 1 },
	{ .name = "lru_shm",
	  .options = "unit_size=64M",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_shm,
	  .round = lru_shm,
	  .harness_ops = KB_WORDS },
	{ .name = "lru_file_readonce",
	  .options = "unit_size=64M dir=%s",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_area_file,
	  .round = lru_file_readonce,
	  .harness_ops = 0.25 },
	{ .name = "small_allocs",
	  .options = "unit_size=64M",
	  .metric = VMSCAL,
	  .ops = AREA_KB,
	  .open = open_zero,
	  .round = small_allocs,
	  .harness_ops = KB_WORDS },
	{ .name = "truncate",
	  .options = "unit_size=64M dir=%s",
	  .metric = "vm-scalability.throughput",
	  .ops = AREA_KB,
	  .open = open_truncate,
	  .round = truncate_once,
	  .harness_ops = 0.25,
	  .figure = truncate_figure },
	{ .name = "hugetlb_pool",
	  .options = "pages=64",
	  .metric = "hugetlb_pool.grow_ns_per_page",
	  .ops = NR_POOL,
	  .open = open_pool,
	  .round = hugetlb_pool,
	  .figure = hugetlb_pool_figure,
	  .spent_ns = hugetlb_pool_ns, /* what was made is read back in no figure */
	  .spent_counters = 1 << 0 | 1 << 1,
	  .needs_root = 1 },
	{ .name = "guest_cycle",
	  .options = "size=4M backing=memfd threads=0",
	  .metric = "guest_cycle.cycles",
	  .ops = 1,
	  .open = open_pages,
	  .round = guest_cycle },
	{ .name = NULL },
};

double zm_bare_load_ops(const struct zm_bare_load *load)
{
	return load->paged_bytes ? (double)(load->paged_bytes / page_bytes) : load->ops;
}

double zm_bare_load_harness_ops(const struct zm_bare_load *load)
{
	return zm_bare_load_ops(load) * (load->harness_ops > 0 ? load->harness_ops : 1);
}

const struct zm_bare_load *zm_bare_load_find(const char *name)
{
	for (const struct zm_bare_load *load = zm_bare_loads; load->name; load++)
		if (strcmp(load->name, name) == 0)
			return load;
	return NULL;
}
