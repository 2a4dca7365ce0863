// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone dump on a hostile drive: the tool's own reader of the format, with a
 * drive in RAM in place of the tool's.
 */
#include "fuzz.h"
#include "../../tools/lifezone.h"

static struct fuzz *now;
static u64 said;

void complain(const char *what, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (strchr(line, '\n'))
		fuzz_wrong("not one line: '%s'", line);
	said++;
	fuzz_step();
}

bool drive_read(struct drive *d, u64 addr, u32 nblocks, void *buf)
{
	u32 i;

	fuzz_step();
	if (addr >= fuzz_blocks(now) || nblocks > fuzz_blocks(now) - addr)
		return false;
	for (i = 0; i < nblocks; i++)
		memcpy((u8 *)buf + (size_t)i * LZ_BLOCK_SIZE, fuzz_block(now, addr + i),
		       LZ_BLOCK_SIZE);
	return true;
}

/* Core's own recovery is the business of load.c. */
int dump_state(struct drive *d, struct out *out)
{
	return 0;
}

struct drive *drive_open(const char *path, unsigned int flags, const struct drive_image *img)
{
	struct drive *d = calloc(1, sizeof(*d));
	u32 i;

	d->path = path;
	d->g = now->g;
	d->z = calloc(d->g.nr_zones, sizeof(*d->z));
	for (i = 0; i < d->g.nr_zones; i++)
		d->z[i] = (struct lz_zone_report){ now->zone[i].wp, now->zone[i].cond,
						   now->zone[i].torn };
	return d;
}

bool drive_close(struct drive *d)
{
	if (d)
		free(d->z);
	free(d);
	return true;
}

const struct argp image_argp;

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static char *const what[] = {
		"super", "root", "roots", "zones", "journal", "map", "map", "summary", "block",
	};
	const struct fuzz_rec *rec;
	struct fuzz_rec first;
	u32 n = fuzz_records(data, size, &first, &rec), i;
	char *argv[6] = { "dump" }, number[24];
	int argc = 1, ret;
	u64 v;

	if (!n || first.op % FUZZ_SEEDS == FUZZ_SEEDS - 2)
		return 0;	/* the wide one prints for ages */
	now = fuzz_make(&first, rec, n - 1);
	fuzz_begin();
	said = 0;
	i = first.arg % ARRAY_SIZE(what);
	if (first.arg & 0x80)
		argv[argc++] = "--json";
	argv[argc++] = "drive";
	argv[argc++] = what[i];
	if (i > 5) {
		v = i == 8 ? now->meta[le16_to_cpu(first.a) % now->nr_meta] : le64_to_cpu(first.v);
		snprintf(number, sizeof(number), "%llu", (unsigned long long)v);
		argv[argc++] = number;
	}
	if (!stdout || !freopen("/dev/null", "w", stdout))
		fuzz_wrong("no /dev/null");
	ret = cmd_dump(argc, argv);
	if (ret == EXIT_FAIL && !said)
		fuzz_wrong("dump: status %d without a word", ret);
	fuzz_free(now);
	return 0;
}
