// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a target over the files of its corpus, without a fuzzer. A file that
 * brings it down costs a child, and the next one goes on behind it. The last
 * line counts.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

/* Only a fuzzer mutates. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	return size;
}

static void run(const char *path)
{
	static uint8_t buf[1 << 16];
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	/* Of its own, so that a look past its end shows. */
	data = malloc(n);
	for (size_t i = 0; i < n; i++)
		data[i] = buf[i];
	alarm(60);
	LLVMFuzzerTestOneInput(data, n);
	alarm(0);
	free(data);
}

/* From file @i on; how many are done comes through @fd, a byte each. */
static void child(char **path, int i, int n, int fd)
{
	for (; i < n; i++) {
		run(path[i]);
		if (write(fd, "", 1) != 1)
			_exit(1);
	}
	/* Whatever leaked makes itself heard now. */
	exit(0);
}

int main(int argc, char **argv)
{
	int done = 1, passed = 0, failed = 0, status, fd[2];
	pid_t pid;
	char c;

	while (done < argc) {
		if (pipe(fd)) {
			perror("pipe");
			return 1;
		}
		pid = fork();
		if (!pid) {
			close(fd[0]);
			child(argv, done, argc, fd[1]);
		}
		close(fd[1]);
		while (read(fd[0], &c, 1) == 1) {
			done++;
			passed++;
		}
		close(fd[0]);
		if (pid < 0 || waitpid(pid, &status, 0) < 0) {
			perror("fork");
			return 1;
		}
		if (status) {
			printf("FAIL %s\n", done < argc ? argv[done] : "leaks");
			failed++;
			done++;
		}
	}
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
