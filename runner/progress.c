/* progress: one line, drawn anew four times a second, or plain lines. */
#include "runner/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define DRAW_NS  (250 * ZM_NS_PER_MS)
#define PLAIN_NS (10 * ZM_NS_PER_S)

/* One that can draw a line anew: TERM=dumb says that it cannot. */
static bool is_terminal(FILE *out)
{
	const char *type = getenv("TERM");

	return isatty(fileno(out)) == 1 && !(type && strcmp(type, "dumb") == 0);
}

void zm_progress_init(struct zm_progress *progress, FILE *out, unsigned int nr_runs)
{
	*progress = (struct zm_progress){ .out = out,
					  .is_terminal = is_terminal(out),
					  .nr_runs = nr_runs };
}

static void clear(struct zm_progress *progress)
{
	if (progress->is_drawn)
		(void)fputs("\r\033[K", progress->out);
	progress->is_drawn = false;
}

void zm_progress_say(struct zm_progress *progress, const char *line)
{
	clear(progress);
	(void)fprintf(progress->out, "%s\n", line);
	(void)fflush(progress->out);
}

void zm_progress_begin(struct zm_progress *progress, const char *title, unsigned int repeat)
{
	progress->run++;
	if (progress->run > progress->nr_runs) /* time remained for what was left out */
		progress->nr_runs = progress->run;
	progress->title = title;
	progress->next_ns = 0;
	if (progress->is_terminal)
		return;
	progress->next_ns = zm_clock_now_ns() + PLAIN_NS;
	(void)fprintf(progress->out, "[%u/%u] %s, launch %u\n", progress->run, progress->nr_runs,
		      title, repeat + 1);
	(void)fflush(progress->out);
}

static size_t columns(const struct zm_progress *progress)
{
	struct winsize size;

	if (ioctl(fileno(progress->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 10)
		return size.ws_col;
	return 80;
}

static void print_state(const struct zm_progress *progress, const struct zm_progress_state *state,
			char *buf, size_t size)
{
	char rate[64] = "", used[64] = "";
	uint64_t left_ns = state->left_ns + progress->later_ns;
	char number[32];

	if (state->rate >= 0)
		(void)snprintf(rate, sizeof(rate), "  %s %ss/s",
			       zm_units_human_count(number, sizeof(number), state->rate),
			       state->op);
	if (state->used_bytes)
		(void)snprintf(
			used, sizeof(used), "  used %s",
			zm_units_human_bytes(number, sizeof(number), (double)state->used_bytes));
	(void)snprintf(buf, size, "[%u/%u] %s%s%s  %llu s left  %s", progress->run,
		       progress->nr_runs, state->phase, rate, used,
		       (unsigned long long)((left_ns + ZM_NS_PER_S - 1) / ZM_NS_PER_S),
		       progress->title);
}

void zm_progress_show(struct zm_progress *progress, const struct zm_progress_state *state)
{
	uint64_t now_ns = zm_clock_now_ns();
	char text[512];

	if (!progress->title || now_ns < progress->next_ns)
		return;
	progress->next_ns = now_ns + (progress->is_terminal ? DRAW_NS : PLAIN_NS);
	print_state(progress, state, text, sizeof(text));
	if (progress->is_terminal)
		(void)fprintf(progress->out, "\r%.*s\033[K", (int)columns(progress) - 1, text);
	else
		(void)fprintf(progress->out, "%s\n", text);
	progress->is_drawn = progress->is_terminal;
	(void)fflush(progress->out);
}

void zm_progress_end(struct zm_progress *progress, const char *outcome)
{
	clear(progress);
	(void)fprintf(progress->out, "[%u/%u] %s: %s\n", progress->run, progress->nr_runs,
		      progress->title, outcome);
	(void)fflush(progress->out);
	progress->title = NULL;
}
