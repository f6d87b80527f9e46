/*
 * kbuild-step: what every process of an emulated build is. One static program that starts at once; the
 * links by which it is started give it the names of those it stands for.
 *
 *     make build           the build (build.h)
 *     make part STAGE N    one of its makes
 *     NAME step N          a process of a job (process.h)
 *
 * It stands in the build's folder and has the descriptors of progress.h. Nobody starts it by hand.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "buildload/helper/build.h"
#include "buildload/helper/process.h"

#define EXIT_USAGE 2

static uint32_t number(const char *text)
{
	uint32_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint32_t)(*text - '0');
	return value;
}

int main(int argc, char **argv)
{
	static const char usage[] = "kbuild-step: a part of zonemark's kbuild, which starts it\n";

	/* Whoever is killed takes all below it along. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc >= 3 && strcmp(argv[1], "step") == 0)
		zm_process_run(number(argv[2]));
	else if (argc >= 4 && strcmp(argv[1], "part") == 0)
		zm_build_part(number(argv[2]), number(argv[3]));
	else if (argc >= 2 && strcmp(argv[1], "build") == 0)
		zm_build_all();
	else
		_exit((int)(write(STDERR_FILENO, usage, sizeof(usage) - 1) > 0 ? EXIT_USAGE
									       : EXIT_USAGE));
	_exit(0);
}
