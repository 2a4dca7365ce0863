// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone sim: what placement policies make of a load, counted on a drive that is only
 * simulated. One row for each load, policy and seed, or one for so many blocks of each.
 */
#include <stdlib.h>
#include "lifezone.h"
#include "sim/follow.h"

#define LIST_MAX	16u	/* loads, policies */
#define MB_PER_S_MAX	1000000u

struct sim_args {
	const char *load[LIST_MAX];
	u32 loads;
	const struct sim_policy *policy[LIST_MAX];
	u32 policies;
	struct sim_setup setup;
	u64 seeds;
	u64 fills;
	u64 skip;
	u64 every;
	bool timed;
	const char *follow;
	bool list;
	bool json;
};

#define UNSET	(~0u)

enum {
	OPT_ZONES = 0x100, OPT_CAP, OPT_BLOCKS, OPT_OPEN, OPT_GC, OPT_SLOPE, OPT_AHEAD,
	OPT_EXCLUSIVE, OPT_COST, OPT_FILLS, OPT_SKIP, OPT_EVERY, OPT_SEED, OPT_SEEDS, OPT_JSON,
	OPT_LIST, OPT_RESERVE, OPT_FOLLOW, OPT_ARRIVE, OPT_DEVICE,
};

/**
 * struct device - a drive, and what is stored on it, in blocks of 64 KiB
 * @name: of --device
 * @doc: one line
 * @zones: as in struct sim_setup, as the next five are
 * @cap: likewise
 * @blocks: likewise
 * @gc_start: likewise
 * @gc_slope: likewise
 * @exclusive: likewise
 * @cost: as --cost has it
 * @timed: that is of zones as large as these: the time is told
 */
struct device {
	const char *name;
	const char *doc;
	u32 zones;
	u32 cap;
	u32 blocks;
	u32 gc_start;
	u32 gc_slope;
	bool exclusive;
	const char *cost;
	bool timed;
};

static const struct device devices[] = {
	{
		.name = "a", .zones = 256, .cap = 2048, .blocks = 250 * 2048, .gc_start = 51,
		.gc_slope = 3, .exclusive = true, .cost = "zn540,block=65536",
		.doc = "256 zones of 128 MiB, --exclusive, GC from 20 % free on with --gc-slope 3",
	}, {
		.name = "b", .zones = 80, .cap = 16384, .blocks = 1130000, .gc_start = 16,
		.gc_slope = 3, .cost = "tlc,block=65536", .timed = true,
		.doc = "80 zones of 1 GiB, --cost tlc, GC from 20 % free on with --gc-slope 3",
	}, {
		.name = "c", .zones = 30, .cap = 16384, .blocks = 409600, .gc_start = 2,
		.cost = "zn540,block=65536",
		.doc = "30 zones of 1 GiB, GC while fewer than 2 are free",
	}, {
		.name = "zn540", .zones = 904, .cap = 17232, .blocks = 14831250, .gc_start = 4,
		.cost = "zn540,block=65536", .timed = true,
		.doc = "904 zones of 1,077 MiB, --cost zn540, GC while fewer than 4 are free",
	},
};

static const struct argp_option sim_options[] = {
	{ "load", 'l', "LOAD", 0, "what is written; may be given several times (zipf:0.99)", 0 },
	{ "policy", 'p', "NAME", 0, "who places it; may be given several times (each of them)", 0 },
	{ "opt", 'o', "KEY=VALUE", 0,
	  "of the module's policies, caza and perfect: reset, finish, gc_isolation or victim, as of start; victim, or victim=linear, also of split, dac, sepbit and oracle",
	  0 },
	{ "list", OPT_LIST, NULL, 0, "list loads, policies and devices", 0 },
	{ "device", OPT_DEVICE, "NAME", 0,
	  "zones, blocks, GC and cost of a drive: a, b or c, of studies, or zn540; what follows overrides that",
	  0 },
	{ "zones", OPT_ZONES, "N", 0, "zones of the drive that hold data (2048)", 0 },
	{ "zone-cap", OPT_CAP, "BLOCKS", 0, "capacity of a zone (1024)", 0 },
	{ "blocks", OPT_BLOCKS, "N", 0, "logical blocks (1953125)", 0 },
	{ "max-open", OPT_OPEN, "N", 0, "zones open at a time (14)", 0 },
	{ "gc-start", OPT_GC, "N", 0, "GC runs while fewer zones are free (4)", 0 },
	{ "gc-slope", OPT_SLOPE, "N", 0,
	  "GC takes a zone only with more than 100 - N x (per cent missing) per cent garbage (any)",
	  0 },
	{ "gc-ahead", OPT_AHEAD, "N", 0,
	  "--arrive: while nobody writes GC runs below N more, at most a 16th of those to spare (4)",
	  0 },
	{ "reserve", OPT_RESERVE, "N", 0,
	  "GC begins at once, passes by what is not worth it, and has N free zones for itself, as in the module (0; --arrive: half of --gc-start)",
	  0 },
	{ "exclusive", OPT_EXCLUSIVE, NULL, 0,
	  "files of a store written at the same time do not share a zone, as in ZenFS", 0 },
	{ "cost", OPT_COST, "PRESET|KEY=N,...", 0,
	  "tell the time on a drive, too: zn540 or tlc, with erase and finish of its zones of 1,077 MiB or 1 GiB; write, read, pad (ns a page), ...",
	  0 },
	{ "arrive", OPT_ARRIVE, "MB/S|trace", 0,
	  "writes come at that rate, or as the trace has them, and wait in a queue: tell the latency",
	  0 },
	{ "fills", OPT_FILLS, "N", 0, "write N times the blocks there are (10)", 0 },
	{ "skip", OPT_SKIP, "N", 0, "count after N times the blocks (half of --fills)", 0 },
	{ "every", OPT_EVERY, "BLOCKS", 0, "a row for so many blocks users write, not for all", 0 },
	{ "seed", OPT_SEED, "S", 0, "of what is drawn (1)", 0 },
	{ "seeds", OPT_SEEDS, "N", 0, "runs, each with the next seed (1)", 0 },
	{ "follow", OPT_FOLLOW, "TRACE", 0,
	  "decide once more what a device's tracepoints say, and tell what differs", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

/* What matters here of the module's options. */
static const char *const module_keys[] = { "reset", "finish", "gc_isolation", "victim" };

static u64 number(const struct argp_state *state, const char *name, const char *arg, u64 min,
		  u64 max)
{
	u64 v;

	if (!parse_number(arg, &v) || v < min || v > max)
		usage_error(state, "--%s %s: must be %llu to %llu", name, arg,
			    (unsigned long long)min, (unsigned long long)max);
	return v;
}

static const struct sim_policy *policy_named(const struct argp_state *state, const char *name)
{
	u32 i;

	for (i = 0; sim_policies[i]; i++)
		if (!strcmp(sim_policies[i]->name, name))
			return sim_policies[i];
	usage_error(state, "--policy %s: no such policy (--list names them)", name);
}

/* One more is allowed than for a device. */
static void parse_victim(const struct argp_state *state, const char *rule, struct lz_options *o)
{
	char why[256];

	if (!strcmp(rule, "linear"))
		o->victim = SIM_VICTIM_LINEAR;
	else if (lz_option_set(o, "victim", rule, false, why, sizeof(why)))
		usage_error(state, "%s linear", why);
}

static void device_set(struct sim_args *a, const struct device *d)
{
	a->setup.zones = d->zones;
	a->setup.cap = d->cap;
	a->setup.blocks = d->blocks;
	a->setup.gc_start = d->gc_start;
	a->setup.gc_slope = d->gc_slope;
	a->setup.exclusive = d->exclusive;
	a->timed = d->timed;
	sim_cost_set(&a->setup.cost, d->cost);
}

static void list_text(void)
{
	u32 i;

	printf("loads:\n");
	for (i = 0; load_docs[i]; i++)
		printf("  %s\n", load_docs[i]);
	printf("policies:\n");
	for (i = 0; sim_policies[i]; i++)
		printf("  %-14s %s\n", sim_policies[i]->name, sim_policies[i]->doc);
	printf("devices:\n");
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		printf("  %-14s %s\n", devices[i].name, devices[i].doc);
}

static struct json_object *named(const char *name, const char *doc)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", name);
	put_str(o, "doc", doc);
	return o;
}

/* A load from load_docs[*@i] on, the lines that go on with it joined. */
static struct json_object *list_load(u32 *i)
{
	const char *line = load_docs[(*i)++];
	size_t n = strcspn(line, " ");
	char name[80], doc[600];
	int at;

	snprintf(name, sizeof(name), "%.*s", (int)n, line);
	at = scnprintf(doc, sizeof(doc), "%s", line + n + strspn(line + n, " "));
	for (; load_docs[*i] && *load_docs[*i] == ' '; ++*i) {
		line = load_docs[*i];
		at += scnprintf(doc + at, sizeof(doc) - at, " %s", line + strspn(line, " "));
	}
	return named(name, doc);
}

static void list_json(void)
{
	struct json_object *o = json_object_new_object();
	struct json_object *loads = json_object_new_array();
	struct json_object *policies = json_object_new_array();
	struct json_object *drives = json_object_new_array();
	struct out out = { .json = true };
	u32 i;

	for (i = 0; load_docs[i];)
		json_object_array_add(loads, list_load(&i));
	for (i = 0; sim_policies[i]; i++)
		json_object_array_add(policies, named(sim_policies[i]->name, sim_policies[i]->doc));
	json_object_object_add(o, "loads", loads);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		json_object_array_add(drives, named(devices[i].name, devices[i].doc));
	json_object_object_add(o, "policies", policies);
	json_object_object_add(o, "devices", drives);
	out_object(&out, o);
}

static error_t parse_sim(int key, char *arg, struct argp_state *state)
{
	struct sim_args *a = state->input;
	bool known = false;
	size_t i;

	switch (key) {
	case 'l':
		if (a->loads == LIST_MAX)
			usage_error(state, "--load: at most %u", LIST_MAX);
		a->load[a->loads++] = arg;
		return 0;
	case 'p':
		if (a->policies == LIST_MAX)
			usage_error(state, "--policy: at most %u", LIST_MAX);
		a->policy[a->policies++] = policy_named(state, arg);
		return 0;
	case 'o':
		for (i = 0; i < ARRAY_SIZE(module_keys); i++)
			known |= strlen(module_keys[i]) == strcspn(arg, "=") &&
				 !strncmp(arg, module_keys[i], strlen(module_keys[i]));
		if (!known)
			usage_error(state,
				    "--opt %s: not reset, finish, gc_isolation or victim", arg);
		if (!strncmp(arg, "victim=", 7) && arg[7])
			parse_victim(state, arg + 7, &a->setup.o);
		else
			parse_option(state, arg, &a->setup.o);
		return 0;
	case OPT_LIST:
		a->list = true;
		return 0;
	case OPT_DEVICE:
		for (i = 0; i < ARRAY_SIZE(devices); i++) {
			if (strcmp(arg, devices[i].name))
				continue;
			device_set(a, &devices[i]);
			return 0;
		}
		usage_error(state, "--device %s: no such device (--list names them)", arg);
	case OPT_ZONES:
		a->setup.zones = number(state, "zones", arg, 8, 1u << 24);
		return 0;
	case OPT_CAP:
		a->setup.cap = number(state, "zone-cap", arg, 8, LZ_ZONE_BLOCKS_MAX);
		return 0;
	case OPT_BLOCKS:
		a->setup.blocks = number(state, "blocks", arg, 1000, SIM_NOWHERE - 1);
		return 0;
	case OPT_OPEN:
		a->setup.max_open = number(state, "max-open", arg, 2, SIM_OPEN_MAX);
		return 0;
	case OPT_GC:
		a->setup.gc_start = number(state, "gc-start", arg, 2, 1u << 20);
		return 0;
	case OPT_SLOPE:
		a->setup.gc_slope = number(state, "gc-slope", arg, 1, 100);
		return 0;
	case OPT_AHEAD:
		a->setup.o.gc_ahead = number(state, "gc-ahead", arg, 0, LZ_GC_AHEAD_MAX);
		return 0;
	case OPT_RESERVE:
		a->setup.reserve = number(state, "reserve", arg, 0, 1u << 20);
		return 0;
	case OPT_FOLLOW:
		a->follow = arg;
		return 0;
	case OPT_EXCLUSIVE:
		a->setup.exclusive = true;
		return 0;
	case OPT_COST:
		a->timed = true;
		if (!sim_cost_set(&a->setup.cost, arg))
			usage_error(state,
				    "--cost %s: must be zn540, tlc, or KEY=N,...: write (not 0), read, pad to 10^12, and to 10^9 for a block; erase, finish to 10^9; page, block (512) to 16777216",
				    arg);
		return 0;
	case OPT_ARRIVE:
		if (!strcmp(arg, "trace")) {
			a->setup.arrivals = SIM_TIMES;
			a->setup.rate = 0;
			return 0;
		}
		a->setup.arrivals = SIM_POISSON;
		if (!parse_number(arg, &a->setup.rate) || !a->setup.rate ||
		    a->setup.rate > MB_PER_S_MAX)
			usage_error(state, "--arrive %s: must be 1 to %u, or trace", arg,
				    MB_PER_S_MAX);
		a->setup.rate *= 1000000;
		return 0;
	case OPT_FILLS:
		a->fills = number(state, "fills", arg, 1, 100000);
		return 0;
	case OPT_SKIP:
		a->skip = number(state, "skip", arg, 0, 100000);
		return 0;
	case OPT_EVERY:
		a->every = number(state, "every", arg, 1, ~0ull >> 1);
		return 0;
	case OPT_SEED:
		a->setup.seed = number(state, "seed", arg, 0, ~0ull >> 1);
		return 0;
	case OPT_SEEDS:
		a->seeds = number(state, "seeds", arg, 1, 1000);
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		usage_error(state, "too many arguments: '%s'", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp sim_argp = {
	.options = sim_options,
	.parser = parse_sim,
	.doc = "Simulate placement policies on a drive of zones and count what they copy.\v\n"
	       "Exit status: 0; 1 if a load cannot be played or a policy runs out of zones, or\n"
	       "if decisions differ (--follow); 16 usage.",
};

/* @v, with so many digits after the point. */
static void put_fixed(struct json_object *o, const char *key, double v, int digits)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*f", digits, v);
	json_object_object_add(o, key, json_object_new_double_s(v, text));
}

/* What has passed since @was. */
static void put_time(struct json_object *o, const struct sim *s, const struct sim_time *was,
		     u64 blocks)
{
	double ns = s->t.now - was->now;

	put_fixed(o, "seconds", ns / 1e9, 3);
	put_fixed(o, "mb_per_s", blocks * s->setup.cost.block * 1e3 / ns, 2);
	put_fixed(o, "stall_s", (s->t.stall - was->stall) / 1e9, 3);
	put_fixed(o, "longest_stall_ms", s->t.longest / 1e6, 3);
	put_fixed(o, "finish_s", (s->t.finish - was->finish) / 1e9, 3);
}

static void put_us(struct json_object *o, const char *key, double ns)
{
	put_fixed(o, key, ns / 1e3, 1);
}

/* Of the queue; @was: when counting began. */
static void put_latency(struct json_object *o, const struct sim *s, const struct sim_latency *was,
			bool json)
{
	struct sim_latency l = sim_queue_latency(s->queue);
	struct json_object *bins;
	u64 end, n;
	u32 i = 0;

	if (s->setup.rate)
		put_u64(o, "offered_mb_per_s", s->setup.rate / 1000000);
	put_u64(o, "requests", l.n);
	put_fixed(o, "busy", l.now > was->now ? (l.busy - was->busy) / (l.now - was->now) : 0, 4);
	put_us(o, "latency_mean_us", l.mean);
	put_us(o, "latency_p50_us", l.p50);
	put_us(o, "latency_p99_us", l.p99);
	put_us(o, "latency_p999_us", l.p999);
	put_us(o, "latency_p9999_us", l.p9999);
	put_us(o, "latency_max_us", l.max);
	if (!json)
		return;
	/* Pairs: so many had a latency of up to so much, and more than the pair before. */
	bins = json_object_new_array();
	while (sim_queue_bin(s->queue, &i, &end, &n)) {
		struct json_object *pair = json_object_new_array_ext(2);

		json_object_array_add(pair, json_object_new_double(end / 1e3));
		json_object_array_add(pair, json_object_new_uint64(n));
		json_object_array_add(bins, pair);
	}
	json_object_object_add(o, "latency_histogram_us", bins);
}

/**
 * struct was - what had been counted when a row began
 * @n: events
 * @t: time
 * @l: of the queue
 */
struct was {
	struct sim_count n;
	struct sim_time t;
	struct sim_latency l;
};

/* Counting begins. */
static struct was row_begin(struct sim *s)
{
	struct was was = { .n = s->n, .t = s->t };

	s->t.longest = 0;
	if (s->queue) {
		was.l = sim_queue_latency(s->queue);
		sim_queue_reset(s->queue);
	}
	return was;
}

/* What happened since. */
static void row(const struct sim_args *a, const struct sim *s, const struct was *was,
		const char *load, struct out *out)
{
	const struct sim_count *n = &was->n;
	struct json_object *o = json_object_new_object();
	u64 user = s->n.user - n->user, copied = s->n.copied - n->copied;

	put_str(o, "load", load);
	put_str(o, "policy", s->p->name);
	put_u64(o, "seed", s->setup.seed);
	if (a->every)
		put_u64(o, "written_blocks", s->n.user);
	put_u64(o, "user_blocks", user);
	put_u64(o, "discarded_blocks", s->n.discarded - n->discarded);
	put_u64(o, "copied_blocks", copied);
	put_fixed(o, "write_amplification", 1 + (double)copied / user, 4);
	put_u64(o, "victims", s->n.victims - n->victims);
	put_u64(o, "erased_zones", s->n.erased - n->erased);
	put_u64(o, "erased_short", s->n.erased_short - n->erased_short);
	put_u64(o, "finished_zones", s->n.finished - n->finished);
	put_u64(o, "fallback_blocks", s->n.fallback - n->fallback);
	put_u64(o, "zones_in_use", s->setup.zones - s->nr_free);
	put_u64(o, "blocks_in_use", s->mapped);
	/* With a queue that is not the time of users, who have latencies. */
	if (a->timed && s->queue)
		put_fixed(o, "busy_s", (s->t.now - was->t.now) / 1e9, 3);
	else if (a->timed)
		put_time(o, s, &was->t, user);
	if (s->queue)
		put_latency(o, s, &was->l, a->json);
	out_row(out, o);
}

/* Goes on to write, up to @end blocks in all. 0, or an error that has been told. */
static int go_on(struct sim *s, const char *load, u64 end)
{
	int err = sim_run(s, end - s->n.user);
	const char *why;

	if (err) {
		complain(err == -ENODATA ? load : s->p->name, "%s, after %llu blocks",
			 err == -ENODATA ? load_wrong(s->load) : "no zone is left to write to",
			 (unsigned long long)s->n.user);
		return err;
	}
	why = sim_check(s);
	if (!why)
		return 0;
	complain(s->p->name, "the simulator is wrong: %s", why);
	return -EUCLEAN;
}

/* One run. 0, or an error that has been told. */
static int run(const struct sim_args *a, const struct sim_policy *p, const char *load, u64 seed,
	       struct out *out)
{
	struct sim_setup setup = a->setup;
	u64 skip = a->skip * setup.blocks, all = a->fills * setup.blocks;
	struct was was;
	bool any = false;
	const char *why;
	struct sim s;
	int err;

	setup.seed = seed;
	err = sim_init(&s, p, &setup, load, all, &why);
	if (err) {
		complain(load, "%s", why ? why : strerror(-err));
		return err;
	}
	/* All of a load that ends counts. */
	if (load_ends(s.load)) {
		skip = 0;
		all = ~0ull;
	}
	err = go_on(&s, load, skip);
	while (!err && s.n.user < all) {
		u64 most = all - s.n.user;

		was = row_begin(&s);
		err = go_on(&s, load, s.n.user + (a->every ? min(a->every, most) : most));
		if (!err && s.n.user == was.n.user)
			break;
		if (!err)
			row(a, &s, &was, load, out);
		any = true;
	}
	if (!err && !any) {
		complain(load, "nothing is written");
		err = -ENODATA;
	}
	sim_exit(&s);
	return err;
}

static const char *followed;

static void say_difference(u64 line, const char *text)
{
	complain(followed, "line %llu: %s", (unsigned long long)line, text);
}

static int follow(const struct sim_args *a)
{
	struct out out = { .json = a->json };
	struct sim_followed n;
	struct json_object *o;
	const char *why;
	int err;

	if (a->policies != 1) {
		complain("sim", "--follow: needs one --policy, the one of the device");
		return EXIT_USAGE_;
	}
	followed = a->follow;
	err = sim_follow(a->follow, a->policy[0], &a->setup, say_difference, &n, &why);
	if (err) {
		complain(a->follow, "%s", err == -EINVAL ? why : strerror(-err));
		return EXIT_FAIL;
	}
	if (!n.places && !n.victims && !n.resets) {
		complain(a->follow, "has no placement, victim or reset of a lifezone device");
		return EXIT_FAIL;
	}
	o = json_object_new_object();
	put_str(o, "policy", a->policy[0]->name);
	put_u64(o, "placements", n.places);
	put_u64(o, "finishes", n.finishes);
	put_u64(o, "victims", n.victims);
	put_u64(o, "resets", n.resets);
	put_u64(o, "differences", n.differ);
	out_object(&out, o);
	return n.differ ? EXIT_FAIL : EXIT_OK;
}

/* Is @text a load? If not that has been told. */
static bool is_load(const struct sim_args *a, const char *text)
{
	const char *why;
	struct load *l = load_new(text, a->setup.blocks, a->setup.seed, &why);
	bool is = l;

	if (!is)
		complain(text, "%s", why ? why : strerror(ENOMEM));
	load_free(l);
	return is;
}

int cmd_sim(int argc, char **argv)
{
	struct sim_args a = {
		.setup = {
			.zones = 2048, .cap = 1024, .blocks = 1953125, .max_open = 14,
			.gc_start = 4, .seed = 1, .reserve = UNSET,
		},
		.seeds = 1, .fills = 10, .skip = ~0ull,
	};
	struct out out = { 0 };
	u32 l, p;
	u64 i;

	lz_options_default(&a.setup.o);
	sim_cost_default(&a.setup.cost);
	parse_args(&sim_argp, "sim", argc, argv, &a);
	if (a.list) {
		if (a.json)
			list_json();
		else
			list_text();
		return EXIT_OK;
	}
	if (a.setup.reserve == UNSET) {
		a.setup.reserve = a.setup.arrivals == SIM_CLOSED || a.follow ? 0 :
			a.setup.gc_start / 2;
	} else if (!a.follow && a.setup.reserve && a.setup.reserve >= a.setup.gc_start) {
		complain("sim", "--reserve %u: must be less than --gc-start %u, or GC never begins",
			 a.setup.reserve, a.setup.gc_start);
		return EXIT_USAGE_;
	}
	if (a.follow)
		return follow(&a);
	if (a.skip == ~0ull)
		a.skip = a.fills / 2;
	if (a.skip >= a.fills) {
		complain("sim", "--skip %llu: must be less than --fills %llu",
			 (unsigned long long)a.skip, (unsigned long long)a.fills);
		return EXIT_USAGE_;
	}
	if (!a.loads)
		a.load[a.loads++] = "zipf:0.99";
	if (!a.policies)
		for (p = 0; sim_policies[p]; p++)
			if (sim_policies[p]->exclusive || !a.setup.exclusive)
				a.policy[a.policies++] = sim_policies[p];
	for (p = 0; a.setup.exclusive && p < a.policies; p++) {
		if (a.policy[p]->exclusive)
			continue;
		complain("sim", "--exclusive, or --device a: %s does not keep files apart",
			 a.policy[p]->name);
		return EXIT_USAGE_;
	}
	/* Not after hours of others; the first is told by its run. */
	for (l = 1; l < a.loads; l++)
		if (!is_load(&a, a.load[l]))
			return EXIT_FAIL;
	out.json = a.json;
	out_rows_begin(&out, "runs");
	for (l = 0; l < a.loads; l++)
		for (p = 0; p < a.policies; p++)
			for (i = 0; i < a.seeds; i++)
				if (run(&a, a.policy[p], a.load[l], a.setup.seed + i, &out))
					return EXIT_FAIL;
	out_rows_end(&out);
	return EXIT_OK;
}
