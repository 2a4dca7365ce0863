// SPDX-License-Identifier: GPL-2.0-only
/*
 * No hibernation beneath a device.
 *
 * A hibernating kernel copies its memory and runs on until the copy is stored. Users are
 * frozen by then, but GC and zone resets need none: when the copy wakes up, its map would
 * lead to zones that were reset since. So would that of a device that is suspended or only
 * read, if the kernel that fetched the copy had started it meanwhile. Core cannot be
 * frozen as users are, as file systems wait for it while they are. So hibernation is
 * refused as long as there is a device with a map, and a device while the machine
 * hibernates. Sleep is not: memory stays. A module that is loaded while the machine is about to
 * hibernate has not heard of it.
 */
#include <linux/suspend.h>
#include "shell.h"

static DEFINE_MUTEX(lz_hibernate_lock);
static unsigned int lz_active;		/* devices with a map (lz_hibernate_lock) */
static bool lz_hibernating;		/* likewise */

/**
 * lz_hibernate_hold - from now on there is no hibernation
 *
 * Return: 0, or -EBUSY if there is one just now.
 */
int lz_hibernate_hold(void)
{
	int r = 0;

	mutex_lock(&lz_hibernate_lock);
	if (lz_hibernating)
		r = -EBUSY;
	else
		lz_active++;
	mutex_unlock(&lz_hibernate_lock);
	return r;
}

/**
 * lz_hibernate_release - undo lz_hibernate_hold()
 */
void lz_hibernate_release(void)
{
	mutex_lock(&lz_hibernate_lock);
	lz_active--;
	mutex_unlock(&lz_hibernate_lock);
}

static int lz_hibernate_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	int r = 0;

	mutex_lock(&lz_hibernate_lock);
	if (action == PM_HIBERNATION_PREPARE && lz_active) {
		DMERR("no hibernation while there are devices (%u): remove them first",
		      lz_active);
		r = -EBUSY;
	} else if (action == PM_HIBERNATION_PREPARE) {
		lz_hibernating = true;
	} else if (action == PM_POST_HIBERNATION) {
		lz_hibernating = false;
	}
	mutex_unlock(&lz_hibernate_lock);
	return notifier_from_errno(r);
}

static struct notifier_block lz_hibernate_nb = { .notifier_call = lz_hibernate_notify };

int __init lz_hibernate_init(void)
{
	return register_pm_notifier(&lz_hibernate_nb);
}

void lz_hibernate_exit(void)
{
	unregister_pm_notifier(&lz_hibernate_nb);
}
