// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the tool: no memory for some pages, as leaves of the map are kept in, from
 * the LIFEZONE_NO_PAGES'th that is asked for on. How many are asked for goes to stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE	4096
#define REFUSED	4		/* one after the other */

void *__libc_memalign(size_t align, size_t size);

static long asked;

void *aligned_alloc(size_t align, size_t size)
{
	const char *from = getenv("LIFEZONE_NO_PAGES");
	long n = from ? strtol(from, NULL, 10) : -1;

	if (size != PAGE)
		return __libc_memalign(align, size);
	asked++;
	if (n < 0 || asked < n || asked >= n + REFUSED)
		return __libc_memalign(align, size);
	errno = ENOMEM;
	return NULL;
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "%ld pages\n", asked);
}
