// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages, numbers and names. A message is one line, begins with what it is
 * about, and says what was wrong and what is allowed.
 */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>
#include "lifezone.h"
#include "text.h"

void complain(const char *what, const char *fmt, ...)
{
	char line[2 * PATH_MAX];
	va_list ap;
	size_t n;

	n = snprintf(line, sizeof(line), "lifezone: %.*s: ", PATH_MAX, what);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	/* It may tell a label, which may be anything. */
	clean_text(line);
	fflush(stdout);
	fprintf(stderr, "%s\n", line);
}

void usage_error(const struct argp_state *state, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", state->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (\"%s --help\" tells more)\n", state->name);
	exit(EXIT_USAGE_);
}

/* Decimal, or hexadecimal with 0x; who writes 010 does not mean eight. */
static bool read_number(const char *s, u64 *v, char **end)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

	if (!isdigit((unsigned char)*s) || (hex && !isxdigit((unsigned char)s[2])))
		return false;
	errno = 0;
	*v = strtoull(s, end, hex ? 16 : 10);
	return !errno;
}

bool parse_number(const char *s, u64 *v)
{
	char *end;

	return read_number(s, v, &end) && !*end;
}

bool parse_size(const char *s, u64 *v)
{
	static const char units[] = "KMGTP";
	const char *u;
	char *end;
	int shift = 0;

	if (!read_number(s, v, &end))
		return false;
	if (*end) {
		u = strchr(units, toupper((unsigned char)*end));
		if (!u)
			return false;
		shift = 10 * (u - units + 1);
		end++;
		if (!strcmp(end, "iB"))
			end += 2;
	}
	if (*end || *v > UINT64_MAX >> shift)
		return false;
	*v <<= shift;
	return true;
}

bool read_u64(const char *path, u64 *v)
{
	FILE *f = fopen(path, "re");
	unsigned long long n;
	bool ok = f && fscanf(f, "%llu", &n) == 1;

	if (f)
		fclose(f);
	if (ok)
		*v = n;
	return ok;
}

bool block_text(dev_t dev, const char *name, char *text, size_t n)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(dev), minor(dev), name);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, n, f))
		*text = 0;
	text[strcspn(text, "\n")] = 0;
	fclose(f);
	return true;
}

bool block_u64(dev_t dev, const char *name, u64 *v)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(dev), minor(dev), name);
	return read_u64(path, v);
}

bool block_name(dev_t dev, char *name, size_t n)
{
	char path[64], link[256];
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return false;
	link[len] = 0;
	snprintf(name, n, "%s", strrchr(link, '/') + 1);
	return true;
}

u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

const char *human_size(u64 bytes, char *buf, size_t n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = bytes;
	size_t i = 0;

	while (v >= 1024 && i < ARRAY_SIZE(units) - 1) {
		v /= 1024;
		i++;
	}
	snprintf(buf, n, v == (u64)v ? "%.0f %s" : "%.1f %s", v, units[i]);
	return buf;
}

void uuid_text(const u8 *uuid, char text[37])
{
	uuid_unparse_lower(uuid, text);
}

error_t parse_device(int key, char *arg, struct argp_state *state, const char **path)
{
	if (key == ARGP_KEY_ARG && *path)
		usage_error(state, "one device only, not also '%s'", arg);
	if (key == ARGP_KEY_END && !*path)
		usage_error(state, "which device?");
	if (key == ARGP_KEY_ARG)
		*path = arg;
	return key == ARGP_KEY_ARG || key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

static argp_parser_t parse_one;

/* Of a word it does not know argp would say more than a line. */
static error_t parse_quietly(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT)
		state->err_stream = NULL;
	return parse_one(key, arg, state);
}

void parse_args(const struct argp *argp, const char *name, int argc, char **argv, void *input)
{
	struct argp one_line = *argp;
	char full[32];
	error_t err;

	snprintf(full, sizeof(full), "lifezone %s", name);
	argv[0] = full;
	parse_one = argp->parser;
	one_line.parser = parse_quietly;
	err = argp_parse(&one_line, argc, argv, 0, NULL, input);
	/* getopt() has said what it is. */
	if (err == EINVAL)
		exit(EXIT_USAGE_);
	if (err) {
		complain(name, "%s", strerror(err));
		exit(EXIT_USAGE_);
	}
}

void parse_option(const struct argp_state *state, char *arg, struct lz_options *o)
{
	char *eq = strchr(arg, '='), why[256];

	if (!eq || eq == arg || !eq[1])
		usage_error(state, "--opt %s: not KEY=VALUE", arg);
	*eq = 0;
	if (lz_option_set(o, arg, eq + 1, false, why, sizeof(why)))
		usage_error(state, "%s", why);
}
