// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recorded traces, in one of three formats, which the first line tells:
 *
 *   blkparse   what blkparse prints by default, with the files it reads before; the requests as
 *              queued (action Q)
 *   fio        a log of fio's write_iolog, version 2 or 3, of one file
 *   CSV        time,op,offset,length[,hint]: op is a word that begins with w (write), d or t
 *              (discard, trim), r or f (read, flush: left out); offset and length in bytes;
 *              hint as the kernel numbers it, 0 to 5. The first line may name the columns, by
 *              these words. Lines that are empty or begin with # are left out.
 *
 * Times are seconds, but those of fio's version 3, which are microseconds; version 2 has none. Of a
 * block written in part all is written, and of one discarded in part nothing. A trace is of one
 * device, and a file, as some policies and each run read it anew.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "trace.h"
#include "../text.h"

#define BLOCK	4096u
#define SECTOR	512u

enum format { CSV, FIO, BLKPARSE };

/**
 * struct trace - a trace
 * @f: the file
 * @line: the line read last
 * @held: it was read to tell the format by, the first that says something, and is yet to be
 *	parsed
 * @size: of the memory it is in
 * @nr: its number, from 1 on
 * @format: enum format
 * @words: FIO: of a line before the action
 * @time: of the line (ns)
 * @target: what is written, a file or a device, where the format names it; NULL: not known yet
 * @blocks: logical blocks there are
 * @req: what is under way
 * @left: blocks of it that are yet to be written
 * @why: what is wrong, or ""
 */
struct trace {
	FILE *f;
	char *line;
	bool held;
	size_t size;
	u64 nr;
	u8 format;
	u8 words;
	u64 time;
	char *target;
	u32 blocks;
	struct sim_req req;
	u32 left;
	char why[160];
};

__attribute__((format(printf, 2, 3)))
static bool wrong(struct trace *t, const char *fmt, ...)
{
	int n = snprintf(t->why, sizeof(t->why), "line %llu: ", (unsigned long long)t->nr);
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->why + n, sizeof(t->why) - n, fmt, args);
	va_end(args);
	/* Words of the trace may be anything. */
	clean_text(t->why);
	return false;
}

/* The next line, without its end; false: there is none. */
static bool next_line(struct trace *t)
{
	ssize_t n = getline(&t->line, &t->size, t->f);

	if (n < 0) {
		if (ferror(t->f))
			wrong(t, "%s", strerror(errno));
		return false;
	}
	t->nr++;
	if (t->nr == 1 && !strncmp(t->line, "\x1f\x8b", 2))
		return wrong(t, "compressed by gzip, which is to be undone first");
	if (n && t->line[n - 1] == '\n')
		t->line[--n] = 0;
	if (n && t->line[n - 1] == '\r')
		t->line[--n] = 0;
	if (strcspn(t->line, "\r") < (size_t)n)
		return wrong(t, "a NUL or a carriage return: must be lines of text");
	return true;
}

/* A number without a sign, and nothing else. */
static bool number(const char *s, u64 *v)
{
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return !*end && !errno;
}

/* @word is a time in seconds. */
static bool time_of(struct trace *t, const char *word)
{
	char *end, *point;
	double v = strtod(word, &end);

	if (*end || end == word || !(v >= 0 && v < 1e10))
		return wrong(t, "time %.40s: must be seconds, fewer than 10^10", word);
	t->time = v * 1e9;
	/* In a double the date leaves no room for nanoseconds. */
	point = strchr(word, '.');
	if (point && !word[strspn(word, "0123456789.")])
		t->time = strtoull(word, NULL, 10) * 1000000000 +
			(u64)(strtod(point, NULL) * 1e9 + .5);
	return true;
}

/* What is written is @target, and nothing else. */
static bool only_target(struct trace *t, const char *what, const char *target)
{
	if (!t->target)
		t->target = strdup(target);
	if (!t->target)
		return wrong(t, "%s", strerror(ENOMEM));
	if (strcmp(t->target, target))
		return wrong(t, "%s %.40s: %.40s is written, too, and there is one device", what,
			     target, t->target);
	return true;
}

/* @n bytes from @offset on are written, as @class, or discarded. */
static bool request(struct trace *t, bool discard, u64 offset, u64 n, u8 class)
{
	u64 first, last;

	if (!n)
		return true;
	if (offset + n < offset)
		return wrong(t, "offset %llu and length %llu: too large",
			     (unsigned long long)offset, (unsigned long long)n);
	if ((offset + n - 1) / BLOCK >= t->blocks)
		return wrong(t, "offset %llu and length %llu: beyond the %u blocks there are",
			     (unsigned long long)offset, (unsigned long long)n, t->blocks);
	first = discard ? DIV_ROUND_UP(offset, BLOCK) : offset / BLOCK;
	last = discard ? (offset + n) / BLOCK : DIV_ROUND_UP(offset + n, BLOCK);
	if (last <= first)
		return true;
	t->req = (struct sim_req){ .lba = first, .n = discard ? last - first : 0, .class = class,
				   .discard = discard, .at = t->time };
	t->left = discard ? 1 : last - first;
	return true;
}

/* Splits the line at @by; how many words there are, of which at most @most are in @word. */
static u32 split(char *line, const char *by, char **word, u32 most)
{
	char *rest, *at;
	u32 n = 0;

	for (at = strtok_r(line, by, &rest); at; at = strtok_r(NULL, by, &rest)) {
		if (n < most)
			word[n] = at;
		n++;
	}
	return n;
}

#define COLUMNS		5u

/* The same at each comma, without blanks around; what is behind the last may be nothing. */
static u32 split_columns(char *line, char **word, u32 most)
{
	char *rest = line, *at, *end;
	u32 n = 0;

	while ((at = strsep(&rest, ","))) {
		at += strspn(at, " \t");
		for (end = at + strlen(at); end > at && strchr(" \t", end[-1]);)
			*--end = 0;
		if (!*at && !rest)
			break;
		if (n < most)
			word[n] = at;
		n++;
	}
	return n;
}

/* The first line, which is to name what is in the columns. */
static bool csv_head(struct trace *t, char **word, u32 n)
{
	static const char *const names[COLUMNS] = { "time", "op", "offset", "length", "hint" };
	u32 i;

	for (i = 0; i < n; i++)
		if (strcasecmp(word[i], names[i]))
			return wrong(t,
				     "column %.40s: must be %s, as in time,op,offset,length,hint",
				     word[i], names[i]);
	return true;
}

static bool csv_line(struct trace *t)
{
	char *word[COLUMNS] = { NULL };
	u32 n = split_columns(t->line, word, COLUMNS);
	u64 offset, length, hint = 0;

	if (!n || *word[0] == '#')
		return true;
	if (n < 4 || n > COLUMNS)
		return wrong(t, "%u columns: must be time,op,offset,length and maybe hint", n);
	if (t->held && isalpha((unsigned char)*word[0]))
		return csv_head(t, word, n);
	if (!time_of(t, word[0]))
		return false;
	if (!number(word[2], &offset))
		return wrong(t, "offset %.40s: must be a number of bytes", word[2]);
	if (!number(word[3], &length))
		return wrong(t, "length %.40s: must be a number of bytes", word[3]);
	if (word[4] && (!number(word[4], &hint) || hint > LZ_CLASS_EXTREME))
		return wrong(t, "hint %.40s: must be 0 to %u", word[4], LZ_CLASS_EXTREME);
	switch (*word[1] | 0x20) {
	case 'w':
		return request(t, false, offset, length, hint);
	case 'd':
	case 't':
		return request(t, true, offset, length, 0);
	case 'r':
	case 'f':
		return true;
	}
	return wrong(t, "op %.40s: must be write, discard, trim, read or flush", word[1]);
}

static bool fio_line(struct trace *t)
{
	static const char *const left_out[] = {
		"add", "open", "close", "read", "sync", "datasync", "sync_file_range", "syncfs",
		"wait",
	};
	char *word[6] = { NULL }, **action = word + t->words;
	u32 n = split(t->line, " \t", word, 6), i;
	bool trim;
	u64 offset, length;

	if (!n)
		return true;
	if (n <= t->words)
		return wrong(t, "%u words: must be a file, an action, offset and length", n);
	for (i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!strcmp(*action, left_out[i]))
			return true;
	trim = !strcmp(*action, "trim");
	if (!trim && strcmp(*action, "write"))
		return wrong(t, "action %.40s: not one of fio's", *action);
	if (n != t->words + 3u || !number(action[1], &offset) || !number(action[2], &length))
		return wrong(t, "%s: must be followed by offset and length in bytes", *action);
	if (t->words == 2) {
		if (!number(word[0], &t->time) || t->time > 1e16)
			return wrong(t, "time %.40s: must be microseconds", word[0]);
		t->time *= 1000;
	}
	return only_target(t, "file", action[-1]) && request(t, trim, offset, length, 0);
}

/* device cpu sequence time pid action what sector + sectors [program] */
static bool blkparse_line(struct trace *t)
{
	char *word[10] = { NULL };
	u32 n = split(t->line, " \t", word, 10);
	u64 sector, sectors;

	/* Before the requests may stand what it reads, and behind them stands a summary. */
	if (!n || word[0][strspn(word[0], "0123456789")] != ',')
		return true;
	if (n < 7)
		return wrong(t, "%u words: must be device, CPU, sequence, time, PID, action, flags",
			     n);
	if (strcmp(word[5], "Q") || !strpbrk(word[6], "WD"))
		return true;
	/* Only a flush has no blocks. */
	if (n > 7 && *word[7] == '[')
		return *word[6] == 'F' ||
			wrong(t, "%.40s without sectors: not a flush, which begins with F",
			      word[6]);
	if (n < 10 || strcmp(word[8], "+"))
		return wrong(t, "%.40s %.40s: must be followed by + and sectors", word[6],
			     n > 7 ? word[7] : "");
	if (!number(word[7], &sector) || !number(word[9], &sectors) ||
	    sector >= 1ull << 54 || sectors >= 1ull << 54)
		return wrong(t, "%.40s + %.40s: must be sectors", word[7], word[9]);
	if (!only_target(t, "device", word[0]) || !time_of(t, word[3]))
		return false;
	return request(t, strchr(word[6], 'D'), sector * SECTOR, sectors * SECTOR, 0);
}

bool trace_next(struct trace *t, struct sim_req *req)
{
	static bool (*const parse[])(struct trace *t) = {
		[CSV] = csv_line, [FIO] = fio_line, [BLKPARSE] = blkparse_line,
	};

	while (!t->left) {
		if (!t->held && !next_line(t))
			return false;
		if (!parse[t->format](t))
			return false;
		t->held = false;
	}
	*req = t->req;
	t->left--;
	t->req.lba++;
	req->more = t->left;
	return true;
}

bool trace_timed(const struct trace *t)
{
	return t->format != FIO || t->words == 2;
}

const char *trace_wrong(const struct trace *t)
{
	return *t->why ? t->why : NULL;
}

/* blkparse prints a line for each file it reads, before all others. */
static bool is_input_file(const char *line)
{
	static const char begin[] = "Input file ", end[] = " added";
	size_t n = strlen(line);

	return !strncmp(line, begin, strlen(begin)) && n >= strlen(begin) + strlen(end) &&
		!strcmp(line + n - strlen(end), end);
}

/* What the first line that says something tells. False: there is none, or it cannot be made out. */
static bool recognise(struct trace *t)
{
	unsigned int v[4];
	double time;

	do {
		if (!next_line(t))
			return false;
		/* A mark of UTF-8. */
		if (t->nr == 1 && !strncmp(t->line, "\xef\xbb\xbf", 3))
			memmove(t->line, t->line + 3, strlen(t->line + 3) + 1);
	} while (!t->line[strspn(t->line, " \t")] || *t->line == '#' || is_input_file(t->line));
	if (sscanf(t->line, "fio version %u iolog", v) == 1) {
		if (*v != 2 && *v != 3)
			return wrong(t, "fio's log is of version %u: must be 2 or 3", *v);
		t->format = FIO;
		/* From version 3 on a time stands before the file. */
		t->words = *v - 1;
		return true;
	}
	t->held = true;
	if (sscanf(t->line, "%u,%u %u %u %lf", v, v + 1, v + 2, v + 3, &time) == 5)
		t->format = BLKPARSE;
	else if (strchr(t->line, ','))
		t->format = CSV;
	else
		return wrong(t,
			     "neither blkparse's, nor a log of fio's, nor time,op,offset,length");
	return true;
}

struct trace *trace_new(const char *path, u32 blocks, const char **why)
{
	static char said[200];
	struct stat st;
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->blocks = blocks;
	t->f = fopen(path, "r");
	if (!t->f || fstat(fileno(t->f), &st))
		snprintf(said, sizeof(said), "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		snprintf(said, sizeof(said), "must be a file, as it may be read more than once");
	else if (recognise(t))
		return t;
	else if (*t->why)
		snprintf(said, sizeof(said), "%s", t->why);
	else
		snprintf(said, sizeof(said), "it is empty");
	*why = said;
	trace_free(t);
	return NULL;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	if (t->f)
		fclose(t->f);
	free(t->line);
	free(t->target);
	free(t);
}
