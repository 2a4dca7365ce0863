// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users write: options of the table line and of messages, and numbers and
 * sizes of the tool's command line.
 */
#include "../../tools/lifezone.h"
#include "../../dm-lifezone/core/policy.h"
#include "target.h"

static void wrong(const char *what, const char *word)
{
	fprintf(stderr, "fuzz: %s: '%s'\n", what, word);
	abort();
}

/* As it is printed, so it can be set. */
static void round_trip(const struct lz_options *o)
{
	struct lz_options copy;
	char value[32], why[160];
	const char *key;
	unsigned int i;

	lz_options_default(&copy);
	for (i = 0; lz_option_get(o, i, &key, value, sizeof(value)); i++) {
		if (lz_option_set(&copy, key, value, false, why, sizeof(why)))
			wrong("cannot be set as printed", key);
	}
	if (memcmp(&copy, o, sizeof(copy)))
		wrong("printed and set are not the same", "");
}

static void option(struct lz_options *o, const char *key, const char *value, bool live, size_t n)
{
	struct lz_options was = *o;
	char why[200];
	int err;

	memset(why, '#', sizeof(why));
	err = lz_option_set(o, key, value, live, why, n);
	if (n < sizeof(why) && why[n] != '#')
		wrong("more said than there is room for", key);
	if (err && (err != -EINVAL || memcmp(&was, o, sizeof(was))))
		wrong("refused, but not as it should be", key);
	if (err && n && !memchr(why, 0, n))
		wrong("the line does not end", key);
	if (!err)
		round_trip(o);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *line, *key, *value, *save;
	struct lz_options o;
	size_t n = 160;
	bool live;
	u64 v, w;

	if (!size)
		return 0;
	live = data[0] & 1;
	if (data[0] & 2)
		n = data[0] >> 1;
	line = malloc(size);
	memcpy(line, data + 1, size - 1);
	line[size - 1] = 0;

	if (parse_number(line, &v) && (!parse_size(line, &w) || v != w))
		wrong("a number, but not the same size", line);
	parse_size(line, &v);
	lz_options_default(&o);
	for (key = strtok_r(line, " ", &save); key; key = strtok_r(NULL, " ", &save)) {
		value = strtok_r(NULL, " ", &save);
		option(&o, key, value ? value : "", live, n);
	}
	free(line);
	return 0;
}

/* Mostly words that mean something. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	static const char *const word[] = {
		"policy ", "reset ", "finish ", "gc_isolation ", "victim ", "max_open ",
		"map_cache_mb ", "commit_ms ", "gc_ahead ", "wla ", "sla ", "zenfs ", "lazy ",
		"eager ", "adaptive ", "never ", "mismatch ", "cost ", "persistent ", "initial ",
		"cost_benefit ", "greedy ",
		"0 ", "4 ", "3 ", "4294967295 ", "4294967296 ", "600000 ", "10 ", "1048576 ",
		"0x10", "16M", "1KiB", "18446744073709551615", "18446744073709551616", "8P", "\n",
	};
	const char *w = word[seed / 8 % ARRAY_SIZE(word)];
	size_t n = strlen(w), at = size ? 1 + seed / 512 % size : 0;

	if (seed % 8 < 4 || size < 2 || size + n > max)
		return LLVMFuzzerMutate(data, size, max);
	memmove(data + at + n, data + at, size - at);
	memcpy(data + at, w, n);
	return size + n;
}
