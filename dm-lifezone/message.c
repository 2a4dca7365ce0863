// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: options that change, and what a user asks core for. One that is killed returns, but
 * the answer it waited for comes, and has a reference until then.
 */
#include "shell.h"

/**
 * struct lz_message_wait - a message that waits for core
 * @lt: target
 * @waiter: core's
 * @done: it has answered
 * @refs: who waits, and who answers
 * @err: what
 */
struct lz_message_wait {
	struct lz_target *lt;
	struct lz_waiter waiter;
	struct completion done;
	refcount_t refs;
	int err;
};

static void lz_message_put(struct lz_message_wait *m)
{
	if (refcount_dec_and_test(&m->refs))
		kfree(m);
}

static void lz_message_done(struct lz_waiter *w, int err)
{
	struct lz_message_wait *m = container_of(w, struct lz_message_wait, waiter);
	struct lz_target *lt = m->lt;

	m->err = err;
	complete(&m->done);
	lz_message_put(m);
	percpu_ref_put(&lt->users);
}

/* Asks core, and waits for its answer, or until killed: that may take half an hour. */
static int lz_message_wait(struct lz_target *lt, void (*ask)(struct lz *lz, struct lz_waiter *w))
{
	/* A suspend waits for messages, and memory may wait for its end. */
	struct lz_message_wait *m = kzalloc(sizeof(*m), GFP_NOIO);
	int r;

	if (!m)
		return -ENOMEM;
	m->lt = lt;
	m->waiter.fn = lz_message_done;
	init_completion(&m->done);
	refcount_set(&m->refs, 2);
	percpu_ref_get(&lt->users);
	ask(lt->lz, &m->waiter);
	r = wait_for_completion_killable(&m->done) ? -EINTR : m->err;
	lz_message_put(m);
	return r;
}

static int lz_message_run(struct lz_target *lt, unsigned int argc, char **argv)
{
	char why[LZ_WHY_SIZE];
	u32 zones;
	int r;

	if (!strcmp(argv[0], "set") && argc == 3) {
		r = lz_target_set_option(lt, argv[1], argv[2], why, sizeof(why));
		if (r)
			DMWARN("%s: %s", lz_target_name(lt), why);
		return r;
	}
	if (!strcmp(argv[0], "gc") && argc <= 2) {
		if (kstrtou32(argc == 2 ? argv[1] : "1", 10, &zones) || !zones) {
			DMWARN("%s: message gc takes a number of zones, at least 1, not \"%s\"",
			       lz_target_name(lt), argv[1]);
			return -EINVAL;
		}
		lz_request_gc(lt->lz, zones);
		return 0;
	}
	if (!strcmp(argv[0], "checkpoint") && argc == 1)
		return lz_message_wait(lt, lz_request_checkpoint);
	if (!strcmp(argv[0], "commit") && argc == 1)
		return lz_message_wait(lt, lz_flush);
	DMWARN("%s: unknown message \"%s\" (%u words); allowed: %s", lz_target_name(lt), argv[0],
	       argc, "set KEY VALUE, gc [ZONES], checkpoint, commit");
	return -EINVAL;
}

int lz_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
	       unsigned int maxlen)
{
	struct lz_target *lt = ti->private;
	int r;

	if (!argc)
		return -EINVAL;
	/* A suspend waits for it: core keeps running. */
	if (!percpu_ref_tryget_live(&lt->users)) {
		DMWARN("%s: message \"%s\" refused: the device is suspended",
		       lz_target_name(lt), argv[0]);
		return -EBUSY;
	}
	r = lz_message_run(lt, argc, argv);
	percpu_ref_put(&lt->users);
	return r;
}
