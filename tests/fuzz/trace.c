// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users have recorded: traces for the simulator, in all formats. Whatever a file says, a
 * request is of blocks there are, and a line that is wrong is told in one line.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../tools/sim/trace.h"
#include "target.h"

#define BLOCKS	1000u

static void wrong(const char *what, const char *said)
{
	fprintf(stderr, "fuzz: %s: '%s'\n", what, said);
	abort();
}

static void must_be_a_line(const char *said)
{
	if (!*said || strlen(said) > 160 || strpbrk(said, "\r\n"))
		wrong("not a line", said);
}

static void check(const struct sim_req *r)
{
	u32 n = r->discard ? r->n : 1;

	if (!n || n > BLOCKS || r->lba > BLOCKS - n)
		wrong("beyond the blocks there are", r->discard ? "discard" : "write");
	if (r->class > LZ_CLASS_EXTREME || (r->discard && r->class))
		wrong("no hint", r->discard ? "discard" : "write");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	int fd = memfd_create("trace", 0);
	const char *why = NULL;
	struct sim_req req;
	struct trace *t;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t = trace_new(path, BLOCKS, &why);
	if (!t) {
		if (!why)
			wrong("refused without a word", "");
		must_be_a_line(why);
	} else {
		while (trace_next(t, &req))
			check(&req);
		if (trace_wrong(t))
			must_be_a_line(trace_wrong(t));
	}
	trace_free(t);
	close(fd);
	return 0;
}

/* Mostly words that mean something. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	static const char *const word[] = {
		"fio version 2 iolog\n", "fio version 3 iolog\n", "/dev/a ", "/dev/b ", "add\n",
		"open\n", "close\n", "write ", "read ", "trim ", "sync ", "datasync ", "syncfs ",
		"wait ", "Input file a added\n",
		"time,op,offset,length,hint\n", "0,W,0,4096\n", "0,D,8192,8192,5\n", "0,F,0,0\n",
		"259,0 1 1 0.0 12 Q W ", "259,0 1 1 0.0 12 Q D ", "259,0 1 1 0.0 12 Q FN ",
		"0 + 8 ", "+ ", ",", " ", "\t", "#", "\n", "\r\n", "-1", "0", "4095",
		"4096", "4096000", "18446744073709551615", "18446744073709551616",
		"18014398509481984",
	};
	const char *w = word[seed / 8 % ARRAY_SIZE(word)];
	size_t n = strlen(w), at = size ? seed / 512 % (size + 1) : 0;

	if (seed % 8 < 3 || size + n > max)
		return LLVMFuzzerMutate(data, size, max);
	memmove(data + at + n, data + at, size - at);
	memcpy(data + at, w, n);
	return size + n;
}
