// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the module decide as the simulator does? The tracepoints of a device, as text, are read
 * in order; of the zones is known what the trace says. Each decision is then taken once more,
 * by what decides in the simulator, and compared with the one that was traced:
 *
 *   lifezone_place    sim_place(), from the open zones shown by lifezone_place_zone
 *   lifezone_victim   sim_pick(), from the zones shown by lifezone_victim_zone
 *   lifezone_reset    sim_reset_due(), or the last lifezone_victim that was empty
 *
 * Which zones are open, for whom and in which order is not shown but kept, by lifezone_zone_state
 * and by the decisions before; where the events say something else, that is a difference, too.
 * So is a zone that was reset without a decision. Policy and options are those of the whole
 * trace. Zones set aside after an error are left out, as the simulator has none.
 *
 * What is measured of lifetimes is not in the trace: the class of data and the rates of zones
 * are taken from it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "follow.h"

#define CLOCK	(1ull << 62)	/* now, at any time: what is traced are ages */

/* As in lz_show_class(), in that order. */
static const char *const classes[LZ_NR_ZONE_CLASSES] = {
	"not_set", "none", "short", "medium", "long", "extreme", "meta", "group0", "group1",
	"group2", "group3", "group4", "group5", "group6", "group7", "group8", "group9", "group10",
};

static const char *const verdicts[] = {
	[LZ_PLACE_USE] = "use", [LZ_PLACE_NEW] = "new", [LZ_PLACE_FINISH] = "finish",
	[LZ_PLACE_WAIT] = "wait",
};

/* A zone, as it was shown for the next decision. */
struct shown {
	u32 zone;
	u8 class;
	bool gc;
	u32 room;
	u32 valid;
	u32 written;
	u64 age;
	int rate;
};

/* What has been shown since the last decision, the newest last. */
struct shown_list {
	struct shown *e;
	u32 n;
};

/**
 * struct follow - a trace that is followed
 * @s: the zones as the trace says; no load, and nothing is mapped
 * @p: the policy, but for rates, which are in the trace
 * @opening: zone that was opened, and belongs to the decision that comes next
 * @due: by zone: it is to be reset
 * @chosen: and: that is instead of a victim
 * @open: zones for the next placement
 * @full: zones for the next victim
 * @device: whose decisions these are
 * @wrong: what is wrong with the line
 * @line: number of the line
 * @say: is told of differences
 * @n: what was compared
 */
struct follow {
	struct sim s;
	struct sim_policy p;
	u32 opening;
	bool *due;
	bool *chosen;
	struct shown_list open;
	struct shown_list full;
	char device[16];
	const char *wrong;
	u64 line;
	void (*say)(u64 line, const char *text);
	struct sim_followed *n;
};

__attribute__((format(printf, 2, 3)))
static void differ(struct follow *f, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	f->n->differ++;
	f->say(f->line, text);
}

static int number_of(const char *const *names, u32 n, const char *name)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -1;
}

static int class_of(const char *name)
{
	return number_of(classes, LZ_NR_ZONE_CLASSES, name);
}

static u32 stream_of(u8 class, bool gc)
{
	return class + (gc ? SIM_GC_STREAMS : 0);
}

/* Room for the newest: more than there are zones are never asked for. */
static struct shown *show(const struct follow *f, struct shown_list *l)
{
	if (l->n == f->s.setup.zones)
		memmove(l->e, l->e + 1, --l->n * sizeof(*l->e));
	return &l->e[l->n++];
}

/* The newest @n, which are taken off; NULL: so many have not been shown. */
static const struct shown *take(struct shown_list *l, u64 n)
{
	if (n > l->n)
		return NULL;
	n = l->n - n;
	l->n = 0;
	return l->e + n;
}

static void zone_left(struct follow *f, u32 zone, u8 state)
{
	if (f->s.z[zone].state == SIM_OPEN)
		sim_slot_give(&f->s, zone);
	f->s.z[zone].state = state;
	f->chosen[zone] = false;
}

/* False: no module has so many open. */
static bool zone_opened(struct follow *f, u32 zone, u32 stream)
{
	zone_left(f, zone, SIM_FREE);
	if (f->s.nr_open == SIM_OPEN_MAX)
		return false;
	f->s.z[zone] = (struct sim_zone){ .state = SIM_OPEN, .stream = stream };
	sim_slot_take(&f->s, zone);
	return true;
}

/* In the state that is said? */
static bool state_is(struct follow *f, u32 zone, u8 state)
{
	static const char *const names[] = { "free", "open", "full" };
	u8 was = f->s.z[zone].state;

	if (was != state)
		differ(f, "zone %u is %s, and was %s by the events before", zone, names[state],
		       names[was]);
	return was == state;
}

/* And of that class? */
static void zone_is(struct follow *f, u32 zone, u8 state, u8 class)
{
	const struct sim_zone *z = &f->s.z[zone];

	if (state_is(f, zone, state) && sim_class(z->stream) != class)
		differ(f, "zone %u is of class %s, and was of %s by the events before", zone,
		       classes[class], classes[sim_class(z->stream)]);
}

static bool on_zone_state(struct follow *f, const char *text)
{
	char class[16], old[8], new[8];
	u32 zone;

	if (sscanf(text, "zone %u class %15s %7s -> %7s", &zone, class, old, new) != 4 ||
	    zone >= f->s.setup.zones || class_of(class) < 0)
		return false;
	if (!strcmp(new, "open")) {
		/* It is not there yet for the decision to open it. */
		f->opening = zone;
		return true;
	}
	if (!strcmp(new, "full")) {
		zone_is(f, zone, SIM_OPEN, class_of(class));
		zone_left(f, zone, SIM_FULL);
		return true;
	}
	if (!strcmp(new, "free") && (!strcmp(old, "open") || !strcmp(old, "full"))) {
		zone_is(f, zone, *old == 'o' ? SIM_OPEN : SIM_FULL, class_of(class));
		if (!f->due[zone])
			differ(f, "zone %u is reset, which nobody decided", zone);
		f->due[zone] = false;
	}
	zone_left(f, zone, SIM_FREE);
	return true;
}

static bool on_place_zone(struct follow *f, const char *text)
{
	struct shown *e = show(f, &f->open);
	char class[16], who[8];
	unsigned long long age;

	if (sscanf(text, "zone %u %7s class %15s room %u valid %u age %llu", &e->zone, who, class,
		   &e->room, &e->valid, &age) != 6 ||
	    e->zone >= f->s.setup.zones || class_of(class) < 0 || e->room > f->s.setup.cap)
		return false;
	e->class = class_of(class);
	e->gc = !strcmp(who, "gc");
	e->age = age;
	return true;
}

/* The open zones as they were shown: of @n there was a choice. */
static bool see_open(struct follow *f, u64 n)
{
	const struct shown *e = take(&f->open, n);
	u32 i;

	if (!e) {
		differ(f, "%llu zones were open, and fewer were shown", (unsigned long long)n);
		return false;
	}
	/* What is not shown has no room. */
	for (i = 0; i < SIM_OPEN_MAX; i++)
		if (f->s.slot[i] != SIM_NOWHERE)
			f->s.z[f->s.slot[i]].wp = f->s.setup.cap;
	for (; n--; e++) {
		struct sim_zone *z = &f->s.z[e->zone];

		zone_is(f, e->zone, SIM_OPEN, e->class);
		if (z->state != SIM_OPEN)
			return false;
		if (sim_is_gc(z->stream) != e->gc)
			differ(f, "zone %u is %s, and was not by the events before", e->zone,
			       e->gc ? "GC's" : "for users");
		z->stream = stream_of(e->class, e->gc);
		z->wp = f->s.setup.cap - e->room;
		z->valid = e->valid;
		z->written = CLOCK - e->age;
	}
	return true;
}

static void compare_place(struct follow *f, u32 stream, int verdict, u32 zone)
{
	struct lz_place_out out;
	u32 ours;

	sim_place(&f->s, stream, &ours, &out);
	f->n->places++;
	if ((int)out.verdict != verdict)
		differ(f, "place: %s, the simulator: %s", verdicts[verdict], verdicts[out.verdict]);
	else if ((verdict == LZ_PLACE_USE || verdict == LZ_PLACE_FINISH) && ours != zone)
		differ(f, "place: %s zone %u, the simulator: zone %u", verdicts[verdict], zone,
		       ours);
	else if (verdict == LZ_PLACE_USE && out.adopt)
		sim_adopt(&f->s, zone, stream);
	f->n->finishes += verdict == LZ_PLACE_FINISH;
}

static bool on_place(struct follow *f, const char *text)
{
	unsigned long long open, free, usable;
	char who[8], class[16], verdict[8];
	int zone, v, at = 0;
	long long ended;
	bool gc;

	if (sscanf(text, "%7s class %15s -> %7s zone %d (open %llu free %llu usable %llu%n", who,
		   class, verdict, &zone, &open, &free, &usable, &at) != 7 ||
	    sscanf(text + at, " ended %lld", &ended) != 1)
		return false;
	v = number_of(verdicts, LZ_PLACE_WAIT + 1, verdict);
	if (v < 0 || class_of(class) < 0 || zone >= (int)f->s.setup.zones ||
	    (zone < 0 && v != LZ_PLACE_WAIT))
		return false;
	gc = !strcmp(who, "gc");
	f->s.nr_free = usable + (gc ? 0 : f->s.setup.reserve);
	/* Where users may have what is GC's, no zone is worth cleaning. */
	f->s.no_victim = !strstr(text + at, " reserve");
	f->s.held = strstr(text + at, " held");
	f->s.closing = strstr(text + at, " closing");
	f->s.slow = strstr(text + at, " slow");
	f->s.alone = ended >= 0;
	f->s.ended = CLOCK - ended;
	if (see_open(f, open))
		compare_place(f, stream_of(class_of(class), gc), v, zone);
	if (v != LZ_PLACE_NEW)
		return true;
	if (f->opening == (u32)zone) {
		f->opening = SIM_NOWHERE;
		return zone_opened(f, zone, stream_of(class_of(class), gc));
	}
	differ(f, "place: new zone %d, which was not opened", zone);
	f->opening = SIM_NOWHERE;
	return true;
}

static bool on_victim_zone(struct follow *f, const char *text)
{
	struct shown *e = show(f, &f->full);
	unsigned long long age;
	char class[16];

	if (sscanf(text, "zone %u class %15s valid %u of %u age %llu rate %d", &e->zone, class,
		   &e->valid, &e->written, &age, &e->rate) != 6 ||
	    e->zone >= f->s.setup.zones || class_of(class) < 0)
		return false;
	e->class = class_of(class);
	e->age = age;
	return true;
}

static bool on_victim(struct follow *f, const char *text)
{
	unsigned long long valid, age, of, free, spare;
	const struct shown *e;
	char class[16];
	u32 zone, ours, i;

	if (sscanf(text, "zone %u class %15s valid %llu age %llu (of %llu free %llu spare %llu)",
		   &zone, class, &valid, &age, &of, &free, &spare) != 7 ||
	    spare > f->s.setup.zones)
		return false;
	e = take(&f->full, of);
	if (!e) {
		differ(f, "victim: of %llu zones, and fewer were shown", of);
		return true;
	}
	/* One without garbage is no victim. */
	for (i = 0; i < f->s.setup.zones; i++)
		f->s.z[i].valid = f->s.setup.cap;
	for (; of--; e++) {
		/* An empty one may be another's by now, which is nothing to the choice. */
		if (e->valid)
			zone_is(f, e->zone, SIM_FULL, e->class);
		else
			state_is(f, e->zone, SIM_OPEN);
		f->s.z[e->zone].valid = e->valid;
		f->s.z[e->zone].wp = e->written;
		f->s.z[e->zone].written = CLOCK - e->age;
		f->s.z[e->zone].rate = e->rate;
	}
	f->s.nr_free = free;
	f->s.mapped = (f->s.setup.zones - spare) * f->s.setup.cap;
	ours = sim_pick(&f->s);
	f->n->victims++;
	if (ours != zone)
		differ(f, "victim: zone %u, the simulator: %d", zone, (int)ours);
	else
		f->chosen[zone] = f->s.z[zone].state == SIM_OPEN;
	return true;
}

static bool on_reset(struct follow *f, const char *text)
{
	char class[16], state[8], what[8];
	bool due, ours, chosen;
	int at = 0;
	u32 zone;

	if (sscanf(text, "zone %u class %15s %7s -> %7s%n", &zone, class, state, what, &at) != 4 ||
	    zone >= f->s.setup.zones || class_of(class) < 0)
		return false;
	zone_is(f, zone, *state == 'o' ? SIM_OPEN : SIM_FULL, class_of(class));
	due = !strcmp(what, "due");
	/* How much was written to it is not shown, but whether that is enough. */
	f->s.alone = strstr(text + at, " alone");
	f->s.z[zone].wp = f->s.setup.cap;
	chosen = strstr(text + at, " chosen");
	if (chosen && !f->chosen[zone])
		differ(f, "reset: zone %u was chosen, and was not by the events before", zone);
	/* Whoever writes to it before it is reset has it. */
	f->chosen[zone] = chosen;
	/* A full one is erased at once. */
	ours = f->s.z[zone].state == SIM_FULL || f->chosen[zone] || sim_reset_due(&f->s, zone);
	f->n->resets++;
	if (due != ours)
		differ(f, "reset: zone %u %s, the simulator: %s", zone, what,
		       ours ? "due" : "left");
	f->due[zone] = due;
	return true;
}

/* Is it of the device the others are of? */
static bool same_device(struct follow *f, const char *text)
{
	char device[16];

	if (sscanf(text, "%15s", device) != 1)
		return false;
	if (!*f->device)
		memcpy(f->device, device, sizeof(device));
	if (!strcmp(f->device, device))
		return true;
	f->wrong = "of a second device: must be the events of one";
	return false;
}

/* One line of a trace; false: it cannot be made out. */
static bool event(struct follow *f, char *line)
{
	static const struct {
		const char *name;
		bool (*on)(struct follow *f, const char *text);
	} events[] = {
		{ "zone_state", on_zone_state }, { "place_zone", on_place_zone },
		{ "place", on_place }, { "victim_zone", on_victim_zone },
		{ "victim", on_victim }, { "reset", on_reset },
	};
	char *at = strstr(line, ": lifezone_"), *end;
	u32 i;

	if (!at) {
		if (!strncmp(line, "CPU:", 4) && strstr(line, " EVENTS]"))
			f->wrong = "events are lost: the trace must have had more room";
		return !f->wrong;
	}
	at += strlen(": lifezone_");
	end = strchr(at, ':');
	if (!end)
		return false;
	*end++ = 0;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (strcmp(at, events[i].name))
			continue;
		/* The device comes first. */
		end += strspn(end, " ");
		if (!same_device(f, end))
			return false;
		end += strcspn(end, " ");
		end += strspn(end, " ");
		return events[i].on(f, end);
	}
	return true;
}

/* The rate is in the trace, for the rule that asks for it. */
static double traced_score(struct sim *s, u32 zone)
{
	return sim_victim(s, zone, sim_rule(s), s->z[zone].rate);
}

static void follow_end(struct follow *f)
{
	free(f->s.z);
	free(f->due);
	free(f->chosen);
	free(f->open.e);
	free(f->full.e);
}

static int follow_begin(struct follow *f, const struct sim_policy *p, const struct sim_setup *setup)
{
	struct lz_options o = setup->o;
	char why[80];

	if (lz_option_set(&o, "policy", p->name, false, why, sizeof(why)))
		return -EINVAL;
	f->p = *p;
	if (lz_wants_rates(&o))
		f->p.score = traced_score;
	f->opening = SIM_NOWHERE;
	sim_begin(&f->s, &f->p, setup);
	f->s.setup.o = o;
	f->s.clock = CLOCK;
	f->s.z = calloc(setup->zones, sizeof(*f->s.z));
	f->due = calloc(setup->zones, sizeof(*f->due));
	f->chosen = calloc(setup->zones, sizeof(*f->chosen));
	f->open.e = calloc(setup->zones, sizeof(*f->open.e));
	f->full.e = calloc(setup->zones, sizeof(*f->full.e));
	return f->s.z && f->due && f->chosen && f->open.e && f->full.e ? 0 : -ENOMEM;
}

int sim_follow(const char *path, const struct sim_policy *p, const struct sim_setup *setup,
	       void (*say)(u64 line, const char *text), struct sim_followed *n, const char **why)
{
	struct follow f = { .say = say, .n = n };
	static char said[200];
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	int err;

	*why = said;
	*n = (struct sim_followed){ 0 };
	if (!in) {
		snprintf(said, sizeof(said), "%s", strerror(errno));
		return -EINVAL;
	}
	err = follow_begin(&f, p, setup);
	if (err == -EINVAL)
		snprintf(said, sizeof(said), "%s is none of the module's policies", p->name);
	while (!err && getline(&line, &size, in) >= 0) {
		f.line++;
		line[strcspn(line, "\n")] = 0;
		if (event(&f, line))
			continue;
		snprintf(said, sizeof(said), "line %llu: %s", (unsigned long long)f.line,
			 f.wrong ?: "not of this module, or of another geometry");
		err = -EINVAL;
	}
	if (!err && ferror(in)) {
		snprintf(said, sizeof(said), "%s", strerror(errno));
		err = -EINVAL;
	}
	follow_end(&f);
	free(line);
	fclose(in);
	return err;
}
