/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text that is not ours: a label, a word of a trace, a name.
 */
#ifndef LIFEZONE_TEXT_H
#define LIFEZONE_TEXT_H

#include <ctype.h>

/* What would end the line, or command the terminal, becomes question marks, also if UTF-8. */
static inline void clean_text(char *s)
{
	unsigned char *c;

	for (c = (unsigned char *)s; *c; c++) {
		if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			*c++ = '?';
		else if (!iscntrl(*c))
			continue;
		*c = '?';
	}
}

#endif /* LIFEZONE_TEXT_H */
