// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone table, start, stop, status, list, set: started devices, by way of
 * libdevmapper.
 *
 * A started device is known by its device-mapper UUID, LIFEZONE- and the UUID
 * of the superblock, so the same drive cannot be started twice under two names;
 * devices made with plain dmsetup are known by their target. Nodes and links
 * come from udev; each change waits on a udev cookie until they are there.
 *
 * What udev cannot have in a name libdevmapper "mangles", to \xNN, when a device is made. That is
 * its name then, for the kernel and in /dev/mapper, and so for us; who asks for a device may
 * also write it plainly.
 */
#include <ctype.h>
#include <libdevmapper.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "cmd.h"

#define TARGET		"lifezone"
#define UUID_PREFIX	"LIFEZONE-"
#define DM_NODES	"/dev/mapper/"

/* --- libdevmapper, quietly --------------------------------------------------------- */

static char dm_said[256];

/* Keeps its first complaint, to be told in one line with ours. */
static __printf(5, 6) void keep_log(int level, const char *file, int line, int errnum,
				    const char *f, ...)
{
	va_list ap;

	(void)file;
	(void)line;
	(void)errnum;
	if ((level & 7) > 3 || *dm_said)	/* syslog levels: errors only */
		return;
	va_start(ap, f);
	vsnprintf(dm_said, sizeof(dm_said), f, ap);
	va_end(ap);
}

static const char *dm_why(void)
{
	return *dm_said ? dm_said : "device-mapper refuses";
}

static struct dm_task *new_task(int type, const char *name)
{
	struct dm_task *t;

	dm_log_with_errno_init(keep_log);
	*dm_said = 0;
	/* Names of devices there are come from the kernel, and mean no others. */
	dm_set_name_mangling_mode(type == DM_DEVICE_CREATE ? DM_STRING_MANGLING_AUTO :
				  DM_STRING_MANGLING_NONE);
	t = dm_task_create(type);
	if (t && name && !dm_task_set_name(t, name)) {
		dm_task_destroy(t);
		t = NULL;
	}
	return t;
}

/* Runs a task that makes or removes nodes, and waits for udev. */
static bool run_synced(struct dm_task *t)
{
	uint32_t cookie = 0;
	bool ok;

	if (!dm_task_set_cookie(t, &cookie, 0))
		return false;
	ok = dm_task_run(t);
	dm_udev_wait(cookie);
	return ok;
}

struct started {
	char name[DM_NAME_LEN];		/* as /dev/mapper has it */
	char plain[DM_NAME_LEN];
	char uuid[DM_UUID_LEN];
	struct dm_info info;
	char *status;
	char *table;
};

static void started_free(struct started *s)
{
	free(s->status);
	free(s->table);
}

/* The name that @t was run for, without \xNN. */
static void plain_name(const struct dm_task *t, char *plain, size_t n)
{
	char *name = dm_task_get_name_unmangled(t);

	snprintf(plain, n, "%s", name ? name : dm_task_get_name(t));
	dm_free(name);
}

/* One device: true if it is one of ours. */
static bool get_started(const char *name, struct started *s)
{
	static const int types[] = { DM_DEVICE_TABLE, DM_DEVICE_STATUS };
	uint64_t start, length;
	char *type, *params;
	const char *uuid;
	size_t i;

	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", name);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct dm_task *t = new_task(types[i], name);
		bool ours = false;

		/* Status is looked at, nothing more: it must not make the device commit. */
		if (t && types[i] == DM_DEVICE_STATUS)
			dm_task_no_flush(t);
		if (t && dm_task_run(t) && dm_task_get_info(t, &s->info) && s->info.exists) {
			dm_get_next_target(t, NULL, &start, &length, &type, &params);
			ours = type && !strcmp(type, TARGET);
			uuid = dm_task_get_uuid(t);
			snprintf(s->uuid, sizeof(s->uuid), "%s", uuid ? uuid : "");
			plain_name(t, s->plain, sizeof(s->plain));
			if (ours && types[i] == DM_DEVICE_TABLE)
				s->table = strdup(params ? params : "");
			else if (ours)
				s->status = strdup(params ? params : "");
		}
		if (t)
			dm_task_destroy(t);
		if (!ours) {
			started_free(s);
			return false;
		}
	}
	return s->table && s->status;
}

/* Calls @fn for each started device until it returns false. -1: cannot be listed, see dm_why(). */
static int walk_started(bool (*fn)(struct started *s, void *arg), void *arg)
{
	struct dm_task *t = new_task(DM_DEVICE_LIST, NULL);
	struct dm_names *n;
	unsigned int next;
	int found = 0;

	if (!t || !dm_task_run(t)) {
		if (t)
			dm_task_destroy(t);
		return -1;
	}
	n = dm_task_get_names(t);
	if (n && n->dev) {
		do {
			struct started s;
			bool go_on = true;

			next = n->next;
			if (get_started(n->name, &s)) {
				found++;
				go_on = fn(&s, arg);
				started_free(&s);
			}
			if (!go_on)
				break;
			n = (struct dm_names *)((char *)n + next);
		} while (next);
	}
	dm_task_destroy(t);
	return found;
}

/* The same, and says why they cannot be listed. */
static int each_started(bool (*fn)(struct started *s, void *arg), void *arg)
{
	int n = walk_started(fn, arg);

	if (n < 0)
		complain("device-mapper", "its devices cannot be listed: %s", dm_why());
	return n;
}

/* The drive a table line names, as its first word: MAJ:MIN or a path. */
static dev_t drive_of(const char *table)
{
	unsigned int maj, min;
	char word[PATH_MAX];
	struct stat st;

	if (sscanf(table, "%4095s", word) != 1)
		return 0;
	if (sscanf(word, "%u:%u", &maj, &min) == 2)
		return makedev(maj, min);
	return stat(word, &st) ? 0 : st.st_rdev;
}

struct search {
	const char *word;	/* a name, a node of the device, or its drive */
	dev_t dev;
	struct started_id id;	/* of the one found; it has a name */
};

static void set_id(struct started_id *id, const struct started *s)
{
	snprintf(id->name, sizeof(id->name), "%s", s->name);
	snprintf(id->uuid, sizeof(id->uuid), "%s", s->uuid);
	id->dev = makedev(s->info.major, s->info.minor);
}

static bool match(struct started *s, void *arg)
{
	dev_t dev = makedev(s->info.major, s->info.minor);
	struct search *w = arg;
	bool exact = !strcmp(s->name, w->word) ||
		(w->dev && (drive_of(s->table) == w->dev || dev == w->dev));

	/* Another may have as its name what this one's only reads as. */
	if (!exact && (*w->id.name || strcmp(s->plain, w->word)))
		return true;
	set_id(&w->id, s);
	return !exact;
}

/* The name of the started device that @word means: 1, 0: none, -1: it has said why not. */
static int look_for(const char *word, struct search *w)
{
	struct stat st;

	memset(w, 0, sizeof(*w));
	w->word = word;
	if (strchr(word, '/') && !stat(word, &st) && S_ISBLK(st.st_mode))
		w->dev = st.st_rdev;
	else if (!strncmp(word, DM_NODES, strlen(DM_NODES)))
		w->word += strlen(DM_NODES);
	if (each_started(match, w) < 0)
		return -1;
	return *w->id.name ? 1 : 0;
}

/* The same; false: it has said why not. */
static bool find_started(const char *word, struct search *w)
{
	int found = look_for(word, w);

	if (!found)
		complain(word, "no started lifezone device (\"lifezone list\" lists them)");
	return found > 0;
}

bool started_find(const char *word, struct started_id *id)
{
	struct search w;

	if (!find_started(word, &w))
		return false;
	*id = w.id;
	return true;
}

int started_named(const char *name, struct started_id *id)
{
	struct search w;
	int found = look_for(name, &w);

	*id = w.id;
	return found;
}

struct id_list {
	struct started_id *id;
	size_t n;
};

static bool add_id(struct started *s, void *arg)
{
	struct id_list *l = arg;
	struct started_id *more = realloc(l->id, (l->n + 1) * sizeof(*more));

	if (!more)
		return false;
	l->id = more;
	set_id(&more[l->n++], s);
	return true;
}

int started_list(struct started_id **list)
{
	struct id_list l = { 0 };

	if (each_started(add_id, &l) < 0) {
		free(l.id);
		return -1;
	}
	*list = l.id;
	return l.n;
}

const char *started_message(const char *name, const char *message)
{
	struct dm_task *t = new_task(DM_DEVICE_TARGET_MSG, name);
	bool ok = t && dm_task_set_sector(t, 0) && dm_task_set_message(t, message) &&
		dm_task_run(t);

	if (t)
		dm_task_destroy(t);
	return ok ? NULL : dm_why();
}

static bool remove_device(const char *name)
{
	struct dm_task *t = new_task(DM_DEVICE_REMOVE, name);
	/* udev and the like open a device for a moment after each change. */
	bool ok = t && dm_task_retry_remove(t) && run_synced(t);

	if (t)
		dm_task_destroy(t);
	return ok;
}

/* --- table and start ---------------------------------------------------------------- */

struct start_args {
	const char *path;
	const char *name;
	bool readonly;
	bool table_only;
	unsigned int nr_opts;
	char *opts[64];		/* "key value" */
	struct lz_options o;
};

enum { OPT_OPT = 0x100, OPT_JSON };

static const struct argp_option start_options[] = {
	{ "opt", 'o', "KEY=VALUE", 0, "an option of the table line; may be repeated", 0 },
	{ "readonly", 'r', NULL, 0, "recover in memory and never write to the drive", 0 },
	{ 0 }
};

static const struct argp_option table_options[] = {
	{ "opt", 'o', "KEY=VALUE", 0, "an option of the table line; may be repeated", 0 },
	{ 0 }
};

static error_t parse_start(int key, char *arg, struct argp_state *state)
{
	struct start_args *a = state->input;

	switch (key) {
	case 'r':
		a->readonly = true;
		return 0;
	case 'o':
		if (a->nr_opts == ARRAY_SIZE(a->opts))
			usage_error(state, "more than %zu options", ARRAY_SIZE(a->opts));
		parse_option(state, arg, &a->o);
		arg[strlen(arg)] = ' ';
		a->opts[a->nr_opts++] = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->path)
			a->path = arg;
		else if (!a->name && !a->table_only)
			a->name = arg;
		else
			usage_error(state, "too many arguments: '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (!a->path)
			usage_error(state, "which device?");
		if (a->name && (strlen(a->name) >= DM_NAME_LEN || strchr(a->name, '/')))
			usage_error(state, "name '%s': up to %d bytes without a slash", a->name,
				    DM_NAME_LEN - 1);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp start_argp = {
	.options = start_options,
	.parser = parse_start,
	.args_doc = "DEV [NAME]",
	.doc = "Make the lifezone device on DEV appear as /dev/mapper/NAME.\n"
	       "Default NAME: lz- and its label, or the first digits of its UUID where it\n"
	       "has none, or one too long for a name.",
};

static const struct argp table_argp = {
	.options = table_options,
	.parser = parse_start,
	.args_doc = "DEV",
	.doc = "Print the table line for dmsetup create.",
};

/* Superblock of the drive at @path; false: it has said why not. */
static bool look_at(const struct start_args *a, struct lz_super_info *si)
{
	struct drive *d = drive_open(a->path, DRIVE_QUIET, NULL);
	bool ok = d && !read_super(d, si);

	if (ok && !a->table_only && d->kind != &drive_blk) {
		complain(a->path, "an image file cannot be started (a zoned drive is needed)");
		ok = false;
	}
	drive_close(d);
	return ok;
}

/* What follows "0 SECTORS lifezone" in the table line. */
static char *table_params(const struct start_args *a)
{
	char *path = realpath(a->path, NULL), *p = NULL;
	unsigned int i;
	size_t n;

	if (!path)
		return NULL;
	n = strlen(path) + 16;
	for (i = 0; i < a->nr_opts; i++)
		n += strlen(a->opts[i]) + 1;
	p = malloc(n);
	if (p) {
		size_t at = snprintf(p, n, "%s", path);

		if (a->nr_opts)
			at += snprintf(p + at, n - at, " %u", 2 * a->nr_opts);
		for (i = 0; i < a->nr_opts; i++)
			at += snprintf(p + at, n - at, " %s", a->opts[i]);
	}
	free(path);
	return p;
}

static bool match_uuid(struct started *s, void *arg)
{
	struct search *w = arg;

	if (strcmp(s->uuid, w->word) && drive_of(s->table) != w->dev)
		return true;
	set_id(&w->id, s);
	return false;
}

/* For what is started from the drive at @path, or with @uuid; @text is for device-mapper's UUID. */
static struct search search_super(const char *path, const u8 *uuid, char text[DM_UUID_LEN])
{
	struct search w = { .word = text };
	struct stat st;

	memcpy(text, UUID_PREFIX, sizeof(UUID_PREFIX));
	uuid_text(uuid, text + strlen(UUID_PREFIX));
	if (!stat(path, &st))
		w.dev = st.st_rdev;
	return w;
}

bool started_elsewhere(const char *path, const u8 *uuid)
{
	char text[DM_UUID_LEN];
	struct search w = search_super(path, uuid, text);

	/* Without device-mapper nothing is started. */
	if (walk_started(match_uuid, &w) < 0 || !*w.id.name)
		return false;
	complain(path, "in use as %s, by another node or a drive it is a copy of (stop that first)",
		 w.id.name);
	return true;
}

int cmd_table(int argc, char **argv)
{
	struct start_args a = { .table_only = true };
	struct lz_super_info si;
	char *params;

	lz_options_default(&a.o);
	parse_args(&table_argp, "table", argc, argv, &a);
	if (!look_at(&a, &si))
		return EXIT_FAIL;
	params = table_params(&a);
	if (!params) {
		complain(a.path, "%s", strerror(errno));
		return EXIT_FAIL;
	}
	printf("0 %llu %s %s\n", (unsigned long long)si.logical_blocks * LZ_BLOCK_SECTORS,
	       TARGET, params);
	free(params);
	return EXIT_OK;
}

int cmd_start(int argc, char **argv)
{
	struct start_args a = { 0 };
	char name[DM_NAME_LEN], full[DM_UUID_LEN];
	const char *uuid = full + strlen(UUID_PREFIX);
	struct lz_super_info si;
	struct dm_task *t = NULL;
	struct search w;
	char *params = NULL, *made;
	int ret = EXIT_FAIL;

	lz_options_default(&a.o);
	parse_args(&start_argp, "start", argc, argv, &a);
	if (!look_at(&a, &si))
		return EXIT_FAIL;
	w = search_super(a.path, si.uuid, full);
	if (!a.name) {
		snprintf(name, sizeof(name), "lz-%.*s", *si.label ? LZ_LABEL_SIZE : 8,
			 *si.label ? si.label : uuid);
		a.name = name;
	}
	if (each_started(match_uuid, &w) < 0)
		return EXIT_FAIL;
	if (*w.id.name) {
		complain(a.path, "already started as %s", w.id.name);
		return EXIT_FAIL;
	}
	params = table_params(&a);
	t = new_task(DM_DEVICE_CREATE, a.name);
	/* Mangled, a label may be too long. */
	if (!t && a.name == name && *si.label) {
		snprintf(name, sizeof(name), "lz-%.8s", uuid);
		t = new_task(DM_DEVICE_CREATE, name);
	}
	if (!params || !t || !dm_task_set_uuid(t, full) ||
	    !dm_task_add_target(t, 0, si.logical_blocks * LZ_BLOCK_SECTORS, TARGET, params) ||
	    (a.readonly && !dm_task_set_ro(t)) ||
	    !dm_task_set_add_node(t, DM_ADD_NODE_ON_CREATE)) {
		complain(a.path, "%s", dm_why());
		goto out;
	}
	if (!run_synced(t)) {
		complain(a.path, "cannot be started as %s: %s (the kernel's log tells more)",
			 a.name, dm_why());
		goto out;
	}
	made = dm_task_get_name_mangled(t);
	printf(DM_NODES "%s\n", made ? made : a.name);
	/* A device is not left started by what fails. Why it does is told as it ends. */
	if (!fflush(stdout) && !ferror(stdout))
		ret = EXIT_OK;
	else if (!remove_device(made ? made : a.name))
		complain(a.path, "stays started as %s: %s", made ? made : a.name, dm_why());
	dm_free(made);
out:
	if (t)
		dm_task_destroy(t);
	free(params);
	return ret;
}

/* --- stop and set ---------------------------------------------------------------------- */

struct words_args {
	const char *word[3];
	unsigned int nr, min, max;
	const char *missing;
	bool json;
};

static const struct argp_option json_options[] = {
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

static error_t parse_words(int key, char *arg, struct argp_state *state)
{
	struct words_args *a = state->input;

	switch (key) {
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->nr == a->max)
			usage_error(state, "too many arguments: '%s'", arg);
		a->word[a->nr++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->nr < a->min)
			usage_error(state, "%s", a->missing);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp stop_argp = {
	.parser = parse_words,
	.args_doc = "NAME|DEV",
	.doc = "Make a started device, named by itself or by its drive, go away.\n"
	       "Everything written to it is on the drive when this returns, or it fails.",
};

/* Its last checkpoint, which nobody would hear of as it goes away. NULL, or why there is none. */
static const char *save(const char *name)
{
	const char *why = NULL;
	struct started s;

	if (!get_started(name, &s))
		return NULL;
	if (!strcmp(s.status, "Fail"))
		why = "the device has failed";
	else if (!s.info.read_only && !s.info.suspended)
		why = started_message(name, "checkpoint");
	started_free(&s);
	return why;
}

int cmd_stop(int argc, char **argv)
{
	struct words_args a = { .min = 1, .max = 1, .missing = "which device?" };
	char said[sizeof(dm_said)];
	const char *unsaved;
	int ret = EXIT_OK;
	struct started s;
	struct search w;

	parse_args(&stop_argp, "stop", argc, argv, &a);
	if (!find_started(a.word[0], &w))
		return EXIT_FAIL;
	unsaved = save(w.id.name);
	snprintf(said, sizeof(said), "%s", unsaved ? unsaved : "");
	if (!remove_device(w.id.name)) {
		memcpy(said, dm_said, sizeof(said));
		if (get_started(w.id.name, &s)) {
			if (s.info.open_count)
				complain(w.id.name, "in use, opened %d times (unmount it first)",
					 s.info.open_count);
			else
				complain(w.id.name, "cannot be stopped: %s", said);
			started_free(&s);
		} else {
			complain(w.id.name, "cannot be stopped: %s", said);
		}
		ret = EXIT_FAIL;
	} else if (unsaved) {
		complain(w.id.name,
			 "stopped, but what was written last may not be on the drive: %s", said);
		ret = EXIT_FAIL;
	}
	return ret;
}

static const struct argp set_argp = {
	.parser = parse_words,
	.args_doc = "NAME|DEV KEY VALUE",
	.doc = "Change an option of a started device until it is stopped.\n"
	       "All but max_open and map_cache_mb can be changed.",
};

int cmd_set(int argc, char **argv)
{
	struct words_args a = {
		.min = 3,
		.max = 3,
		.missing = "give a device, an option and its value",
	};
	struct lz_options o;
	char why[256], msg[256];
	const char *refused;
	struct search w;

	parse_args(&set_argp, "set", argc, argv, &a);
	lz_options_default(&o);
	if (lz_option_set(&o, a.word[1], a.word[2], true, why, sizeof(why))) {
		complain(a.word[0], "%s", why);
		return EXIT_USAGE_;
	}
	if (!find_started(a.word[0], &w))
		return EXIT_FAIL;
	snprintf(msg, sizeof(msg), "set %s %s", a.word[1], a.word[2]);
	refused = started_message(w.id.name, msg);
	if (!refused)
		return EXIT_OK;
	complain(w.id.name, "%s cannot be set: %s", a.word[1], refused);
	return EXIT_FAIL;
}

/* --- status and list --------------------------------------------------------------------- */

/*
 * A value of a status line, a number as one. "used/total" is for programs an
 * object of both; people read it as it is.
 */
static struct json_object *value_json(char *value, bool json)
{
	char *slash = strchr(value, '/'), *end;
	struct json_object *o;
	u64 v, total;
	double d;

	if (parse_number(value, &v))
		return json_object_new_uint64(v);
	if (isdigit((unsigned char)*value)) {
		d = strtod(value, &end);
		if (!*end)
			return json_object_new_double_s(d, value);
	}
	if (!json || !slash || !parse_number(slash + 1, &total))
		return json_object_new_string(value);
	*slash = 0;
	if (!parse_number(value, &v)) {
		*slash = '/';
		return json_object_new_string(value);
	}
	o = json_object_new_object();
	put_u64(o, "used", v);
	put_u64(o, "total", total);
	return o;
}

/* Pairs "key value" of a status line. */
static void add_pairs(struct json_object *o, const char *line, bool json)
{
	char *copy = strdup(line), *save = NULL, *key, *value;

	for (key = copy ? strtok_r(copy, " ", &save) : NULL; key;
	     key = strtok_r(NULL, " ", &save)) {
		value = strtok_r(NULL, " ", &save);
		/* A word alone: "Fail", "Error". */
		if (!value)
			put_str(o, "state", key);
		else
			json_object_object_add(o, key, value_json(value, json));
	}
	free(copy);
}

static struct json_object *device_json(const struct started *s)
{
	struct json_object *o = json_object_new_object();
	dev_t drive = drive_of(s->table);
	char node[sizeof(DM_NODES) + DM_NAME_LEN], name[100] = "?";

	put_str(o, "name", s->name);
	snprintf(node, sizeof(node), DM_NODES "%s", s->name);
	put_str(o, "node", node);
	block_name(drive, name, sizeof(name));
	snprintf(node, sizeof(node), "/dev/%s", name);
	put_str(o, "drive", node);
	put_str(o, "uuid", !strncmp(s->uuid, UUID_PREFIX, strlen(UUID_PREFIX)) ?
		s->uuid + strlen(UUID_PREFIX) : s->uuid);
	put_bool(o, "suspended", s->info.suspended);
	put_bool(o, "readonly", s->info.read_only);
	put_u64(o, "open_count", s->info.open_count);
	return o;
}

struct show {
	struct out out;
	bool details;
	const char *only;
	unsigned int shown;
};

static bool show_one(struct started *s, void *arg)
{
	struct show *show = arg;
	struct json_object *o, *pairs;

	if (show->only && strcmp(show->only, s->name))
		return true;
	o = device_json(s);
	if (!show->details) {
		json_object_object_del(o, "node");
		out_row(&show->out, o);
		show->shown++;
		return true;
	}
	put_str(o, "table", s->table);
	pairs = json_object_new_object();
	add_pairs(pairs, s->status, show->out.json);
	json_object_object_add(o, "status", pairs);
	if (show->out.json) {
		out_row(&show->out, o);
	} else {
		if (show->shown)
			putchar('\n');
		out_object(&show->out, o);
	}
	show->shown++;
	return true;
}

static const struct argp status_argp = {
	.options = json_options,
	.parser = parse_words,
	.args_doc = "[NAME|DEV]",
	.doc = "Show what started devices are doing.",
};

int cmd_status(int argc, char **argv)
{
	struct words_args a = { .max = 1 };
	struct show show = { .details = true };
	struct search w;
	int n;

	parse_args(&status_argp, "status", argc, argv, &a);
	if (a.nr) {
		if (!find_started(a.word[0], &w))
			return EXIT_FAIL;
		show.only = w.id.name;
	}
	show.out.json = a.json;
	if (a.json)
		out_rows_begin(&show.out, "started devices");
	n = each_started(show_one, &show);
	if (n >= 0 && (a.json || !show.shown)) {
		show.out.title = "started devices";
		out_rows_end(&show.out);
	}
	return n < 0 ? EXIT_FAIL : EXIT_OK;
}

static const struct argp list_argp = {
	.options = json_options,
	.parser = parse_words,
	.doc = "List started devices.",
};

int cmd_list(int argc, char **argv)
{
	struct words_args a = { 0 };
	struct show show = { 0 };
	int n;

	parse_args(&list_argp, "list", argc, argv, &a);
	show.out.json = a.json;
	out_rows_begin(&show.out, "started devices");
	n = each_started(show_one, &show);
	if (n >= 0)
		out_rows_end(&show.out);
	return n < 0 ? EXIT_FAIL : EXIT_OK;
}
