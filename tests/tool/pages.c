// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the tool: no memory for some pages, as leaves of the map are kept in, and
 * arrays, as lists are, from the LIFEZONE_NO_PAGES'th that is asked for on. How many are asked
 * for goes to stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE	4096
#define ARRAY	2048		/* bytes, at least; libraries ask for less */
#define REFUSED	4		/* one after the other */

void *__libc_memalign(size_t align, size_t size);
void *__libc_calloc(size_t n, size_t size);

static long asked;

static int refused(void)
{
	const char *from = getenv("LIFEZONE_NO_PAGES");
	long n = from ? strtol(from, NULL, 10) : -1;

	asked++;
	if (n < 0 || asked < n || asked >= n + REFUSED)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *aligned_alloc(size_t align, size_t size)
{
	return size == PAGE && refused() ? NULL : __libc_memalign(align, size);
}

void *calloc(size_t n, size_t size)
{
	return n * size >= ARRAY && refused() ? NULL : __libc_calloc(n, size);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "%ld pages\n", asked);
}
