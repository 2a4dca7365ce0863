// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement, rule by rule. A row names the rule it checks, in the words of the
 * study it comes from where there is one:
 *
 *	A	zone allocation by lifetime: zenfs, wla, sla
 *	B	zone budget and finish
 *	C	isolation of GC output
 *
 * Open zones are written as words of letters: the class (- not set, N none,
 * S short, M medium, L long, E extreme, F file-system metadata, a to k the groups), "g" if it was
 * opened for GC, "i" if nothing comes to it any more, "e" if it is empty, "a" if it is left alone
 * (the first of them for longest), and the room in blocks if it is not 100.
 */
#include "../core/policy.h"
#include "unit.h"

#define MAX_ZONES	16
#define OLD		1000000u	/* the age of what is idle (blocks) */

/* May a zone be opened? */
enum open {
	OPEN,			/* yes */
	SPENT,			/* no, the budget is spent */
	SCARCE,			/* no, free zones are short */
	RESERVE,		/* no, they are down to what GC needs */
	CLOSING,		/* not yet: the budget is spent until one is closed */
	NR_OPENS
};

struct row {
	const char *rule;
	u8 policy;
	bool gc;
	u8 isolation;
	u8 finish;
	char class;
	u8 open;
	const char *zones;
	u8 verdict;
	unsigned int idx;
};

#define ZENFS	LZ_POLICY_ZENFS
#define WLA	LZ_POLICY_WLA
#define SLA	LZ_POLICY_SLA
#define ADAPT	LZ_POLICY_ADAPTIVE
#define USER	false
#define GC	true
#define PERS	LZ_ISOLATION_PERSISTENT
#define INIT	LZ_ISOLATION_INITIAL
#define NEVER	LZ_FINISH_NEVER
#define MISM	LZ_FINISH_MISMATCH
#define COST	LZ_FINISH_COST
#define USE	LZ_PLACE_USE
#define NEW	LZ_PLACE_NEW
#define FIN	LZ_PLACE_FINISH
#define WAIT	LZ_PLACE_WAIT
/* USE as a fallback. */
#define FALL	(LZ_PLACE_USE | FALLBACK)
#define FALLBACK	0x80
/* USE, and the zone changes its class. */
#define ADOPT	(LZ_PLACE_USE | ADOPTED)
#define ADOPTED		0x40

static const struct row rows[] = {
	/* --- A, zenfs: "lifetime strictly greater than the data's, closest" --- */
	{ "zenfs: greater", ZENFS, USER, PERS, NEVER, 'S', OPEN, "M", USE, 0 },
	{ "zenfs: greater, by two", ZENFS, USER, PERS, NEVER, 'S', OPEN, "L", USE, 0 },
	{ "zenfs: greater, by three", ZENFS, USER, PERS, NEVER, 'S', OPEN, "E", USE, 0 },
	{ "zenfs: closest greater", ZENFS, USER, PERS, NEVER, 'S', OPEN, "E L M", USE, 2 },
	{ "zenfs: greater by two before by three", ZENFS, USER, PERS, NEVER, 'S', OPEN,
	  "E L", USE, 1 },
	{ "zenfs: closest greater of two", ZENFS, USER, PERS, NEVER, 'M', OPEN, "E L", USE, 1 },
	{ "zenfs: greater before equal", ZENFS, USER, PERS, NEVER, 'M', OPEN, "M E", USE, 1 },
	{ "zenfs: equal is not greater: new", ZENFS, USER, PERS, NEVER, 'M', OPEN, "M", NEW, 0 },
	{ "zenfs: smaller is not greater: new", ZENFS, USER, PERS, NEVER, 'L', OPEN,
	  "S M", NEW, 0 },
	{ "zenfs: nothing is greater than EXTREME", ZENFS, USER, PERS, NEVER, 'E', OPEN,
	  "S M L E", NEW, 0 },
	{ "zenfs: no open zone: new", ZENFS, USER, PERS, NEVER, 'S', OPEN, "", NEW, 0 },
	{ "zenfs: no room is no zone", ZENFS, USER, PERS, NEVER, 'S', OPEN, "M0 L", USE, 1 },
	/* "equal lifetime only during GC, when no zone with a larger one is open" */
	{ "zenfs gc: equal when no larger", ZENFS, GC, PERS, NEVER, 'M', OPEN, "S M", USE, 1 },
	{ "zenfs gc: larger before equal", ZENFS, GC, PERS, NEVER, 'M', OPEN, "M E", USE, 1 },
	{ "zenfs gc: larger, closest", ZENFS, GC, PERS, NEVER, 'S', OPEN, "S E L M", USE, 3 },
	{ "zenfs gc: by three before equal", ZENFS, GC, PERS, NEVER, 'S', OPEN, "S E", USE, 1 },
	{ "zenfs gc: by two before by three", ZENFS, GC, PERS, NEVER, 'S', OPEN, "E L", USE, 1 },
	{ "zenfs gc: EXTREME has only equal", ZENFS, GC, PERS, NEVER, 'E', OPEN, "L E", USE, 1 },
	{ "zenfs gc: else new", ZENFS, GC, PERS, NEVER, 'L', OPEN, "S M", NEW, 0 },
	{ "zenfs gc: shares with user data", ZENFS, GC, PERS, NEVER, 'M', OPEN, "Lg5 L", USE, 0 },
	{ "zenfs: user data shares with GC output", ZENFS, USER, PERS, NEVER, 'M', OPEN,
	  "Lg", USE, 0 },
	/* "also accepts equal when the open-zone budget is spent" */
	{ "zenfs: equal when the budget is spent", ZENFS, USER, PERS, NEVER, 'M', SPENT,
	  "S M", USE, 1 },
	{ "zenfs: larger even then", ZENFS, USER, PERS, NEVER, 'M', SPENT, "M E", USE, 1 },
	{ "zenfs: equal for lack of free zones counts", ZENFS, USER, PERS, NEVER, 'M', SCARCE,
	  "S M", FALL, 1 },
	{ "zenfs: equal spares a finish", ZENFS, USER, PERS, MISM, 'E', SPENT, "L E", USE, 1 },
	{ "zenfs: equal among GC output too", ZENFS, USER, PERS, NEVER, 'M', SPENT, "Mg", USE, 0 },
	{ "zenfs: smaller is a fallback", ZENFS, USER, PERS, NEVER, 'L', SPENT, "S M", FALL, 1 },

	/* --- A, wla: "zone lifetime = data lifetime" ... --- */
	{ "wla: equal", WLA, USER, PERS, NEVER, 'M', OPEN, "L M S", USE, 1 },
	{ "wla: equal SHORT", WLA, USER, PERS, NEVER, 'S', OPEN, "M L E S", USE, 3 },
	{ "wla: equal EXTREME", WLA, USER, PERS, NEVER, 'E', OPEN, "L E", USE, 1 },
	/* ... "zone lifetime > data lifetime, closest; then a new zone" */
	{ "wla: then greater", WLA, USER, PERS, NEVER, 'M', OPEN, "S L", USE, 1 },
	{ "wla: then greater, closest", WLA, USER, PERS, NEVER, 'S', OPEN, "E L", USE, 1 },
	{ "wla: then greater, closest of all", WLA, USER, PERS, NEVER, 'S', OPEN, "E L M", USE, 2 },
	{ "wla: then greater, even by three", WLA, USER, PERS, NEVER, 'S', OPEN, "E", USE, 0 },
	{ "wla: then new", WLA, USER, PERS, NEVER, 'L', OPEN, "S M", NEW, 0 },
	{ "wla: then new, none greater than EXTREME", WLA, USER, PERS, NEVER, 'E', OPEN,
	  "S M L", NEW, 0 },
	{ "wla: equal without room, greater", WLA, USER, PERS, NEVER, 'M', OPEN, "M0 L", USE, 1 },
	{ "wla: no open zone: new", WLA, USER, PERS, NEVER, 'M', OPEN, "", NEW, 0 },
	{ "wla: of two alike the first", WLA, USER, PERS, NEVER, 'M', OPEN, "M M", USE, 0 },
	{ "wla: nearly full first", WLA, USER, PERS, NEVER, 'M', OPEN, "M9 M3 M7", USE, 1 },

	/* --- A, sla: "zone lifetime = data lifetime; otherwise a new zone" --- */
	{ "sla: equal", SLA, USER, PERS, NEVER, 'M', OPEN, "L M", USE, 1 },
	{ "sla: greater is not equal: new", SLA, USER, PERS, NEVER, 'M', OPEN, "L E", NEW, 0 },
	{ "sla: smaller is not equal: new", SLA, USER, PERS, NEVER, 'L', OPEN, "S M", NEW, 0 },
	{ "sla: EXTREME", SLA, USER, PERS, NEVER, 'E', OPEN, "S L E", USE, 2 },
	{ "sla: SHORT", SLA, USER, PERS, NEVER, 'S', OPEN, "M L E", NEW, 0 },
	{ "sla: greater when none may be opened", SLA, USER, PERS, NEVER, 'M', SPENT,
	  "S E L", FALL, 2 },

	/* --- classes without an order match only themselves --- */
	{ "wla: NOT_SET to NOT_SET", WLA, USER, PERS, NEVER, '-', OPEN, "N S M L E F -", USE, 6 },
	{ "wla: NONE to NONE", WLA, USER, PERS, NEVER, 'N', OPEN, "- S M L E F N", USE, 6 },
	{ "wla: META to META", WLA, USER, PERS, NEVER, 'F', OPEN, "- N S M L E F", USE, 6 },
	{ "wla: nothing is greater than NOT_SET", WLA, USER, PERS, NEVER, '-', OPEN,
	  "N S M L E F", NEW, 0 },
	{ "wla: nothing is greater than NONE", WLA, USER, PERS, NEVER, 'N', OPEN,
	  "- S M L E F", NEW, 0 },
	{ "wla: META is not greater than EXTREME", WLA, USER, PERS, NEVER, 'E', OPEN, "F", NEW, 0 },
	{ "wla: SHORT not to NOT_SET, NONE, META", WLA, USER, PERS, NEVER, 'S', OPEN,
	  "- N F", NEW, 0 },
	{ "zenfs: NOT_SET to its own", ZENFS, USER, PERS, NEVER, '-', OPEN, "S N -", USE, 2 },
	{ "zenfs: nothing is greater than NOT_SET", ZENFS, USER, PERS, NEVER, '-', OPEN,
	  "N S M L E F", NEW, 0 },
	{ "zenfs: META is not greater than EXTREME", ZENFS, USER, PERS, NEVER, 'E', OPEN,
	  "F", NEW, 0 },
	{ "zenfs gc: NONE to its own", ZENFS, GC, PERS, NEVER, 'N', OPEN, "S Ng", USE, 1 },
	{ "sla: META to its own", SLA, USER, PERS, NEVER, 'F', OPEN, "- F", USE, 1 },
	{ "sla: NONE is not NOT_SET", SLA, USER, PERS, NEVER, 'N', OPEN, "-", NEW, 0 },

	/* --- C, persistent: moved data "goes only to zones of its own class" --- */
	{ "persistent wla gc: equal", WLA, GC, PERS, NEVER, 'M', OPEN, "Lg Mg", USE, 1 },
	{ "persistent wla gc: not to greater: new", WLA, GC, PERS, NEVER, 'M', OPEN,
	  "Lg Eg L", NEW, 0 },
	{ "persistent sla gc: equal", SLA, GC, PERS, NEVER, 'M', OPEN, "Lg Mg", USE, 1 },
	{ "persistent sla gc: not to another: new", SLA, GC, PERS, NEVER, 'M', OPEN,
	  "Lg Sg", NEW, 0 },
	{ "persistent: GC apart from fresh data", WLA, GC, PERS, NEVER, 'M', OPEN, "M", NEW, 0 },
	{ "persistent: GC stream first", WLA, GC, PERS, NEVER, 'M', OPEN, "M1 Mg", USE, 1 },
	{ "persistent: fresh data apart from GC", WLA, USER, PERS, NEVER, 'M', OPEN, "Mg", NEW, 0 },
	{ "persistent: user stream first", SLA, USER, PERS, NEVER, 'M', OPEN, "Mg1 M", USE, 1 },
	{ "persistent: user stream, greater", WLA, USER, PERS, NEVER, 'M', OPEN, "Mg L", USE, 1 },
	{ "persistent: same class shared for lack of budget", WLA, GC, PERS, NEVER, 'M', SPENT,
	  "L M", USE, 1 },
	{ "persistent: same class shared for lack of zones", SLA, GC, PERS, NEVER, 'M', SCARCE,
	  "L M", USE, 1 },
	{ "persistent: users share for lack of budget", SLA, USER, PERS, NEVER, 'M', SPENT,
	  "L Mg", USE, 1 },
	{ "persistent: sharing spares a finish", SLA, GC, PERS, MISM, 'M', SPENT, "L M", USE, 1 },
	{ "persistent wla gc: greater is a fallback", WLA, GC, PERS, NEVER, 'M', SPENT,
	  "S L", FALL, 1 },
	{ "persistent: unhinted GC apart from unhinted data", ZENFS, GC, PERS, NEVER, '-', OPEN,
	  "-", NEW, 0 },
	{ "persistent: unhinted shared for lack of budget", ZENFS, GC, PERS, NEVER, '-', SPENT,
	  "-", USE, 0 },

	/* --- C, initial: "GC output of all classes shares one stream" --- */
	{ "initial gc: any class", WLA, GC, INIT, NEVER, 'M', OPEN, "M Sg", USE, 1 },
	{ "initial gc: any class, sla", SLA, GC, INIT, NEVER, 'E', OPEN, "E Sg", USE, 1 },
	{ "initial gc: any class, zenfs", ZENFS, GC, INIT, NEVER, 'E', OPEN, "E Sg", USE, 1 },
	{ "initial gc: any class, no order", SLA, GC, INIT, NEVER, '-', OPEN, "- Fg", USE, 1 },
	{ "initial gc: one stream, fill the first", WLA, GC, INIT, NEVER, 'M', OPEN,
	  "Mg9 Eg2", USE, 1 },
	{ "initial gc: fill the first, not the next longer", WLA, GC, INIT, NEVER, 'S', OPEN,
	  "Mg9 Sg2", USE, 1 },
	{ "initial gc: nor what lives much longer", WLA, GC, INIT, NEVER, 'S', OPEN,
	  "Lg9 Sg2", USE, 1 },
	{ "initial gc: nor EXTREME", WLA, GC, INIT, NEVER, 'S', OPEN, "Eg9 Sg2", USE, 1 },
	{ "initial gc: nor shorter", WLA, GC, INIT, NEVER, 'M', OPEN, "Sg9 Mg2", USE, 1 },
	{ "initial gc: nor its own", WLA, GC, INIT, NEVER, '-', OPEN, "-g9 Sg2", USE, 1 },
	{ "initial gc: the next longer", WLA, GC, INIT, NEVER, 'S', OPEN, "Mg", USE, 0 },
	{ "initial gc: much longer", WLA, GC, INIT, NEVER, 'S', OPEN, "Lg", USE, 0 },
	{ "initial gc: EXTREME", WLA, GC, INIT, NEVER, 'S', OPEN, "Eg", USE, 0 },
	{ "initial gc: its own", WLA, GC, INIT, NEVER, '-', OPEN, "-g", USE, 0 },
	{ "initial gc: not to user zones: new", WLA, GC, INIT, NEVER, 'M', OPEN, "M L", NEW, 0 },
	{ "initial gc: user zone by fallback", WLA, GC, INIT, NEVER, 'M', SPENT, "L M", FALL, 1 },
	{ "initial gc: user zone by fallback, zenfs", ZENFS, GC, INIT, NEVER, 'M', SPENT,
	  "L M", FALL, 1 },
	/* "user writes are separated by class" */
	{ "initial: users by class", SLA, USER, INIT, NEVER, 'M', OPEN, "L M", USE, 1 },
	{ "initial: users not to GC's stream", SLA, USER, INIT, NEVER, 'M', OPEN, "Mg", NEW, 0 },
	{ "initial: users not to GC's stream, zenfs", ZENFS, USER, INIT, NEVER, 'M', OPEN,
	  "Lg", NEW, 0 },
	{ "initial: users to another class before GC's", SLA, USER, INIT, NEVER, 'M', SPENT,
	  "Mg S", FALL, 1 },
	{ "initial: users to GC's as the last resort", SLA, USER, INIT, NEVER, 'M', SPENT,
	  "Mg S0", FALL, 0 },
	{ "initial: zenfs equal when spent, not GC's", ZENFS, USER, INIT, NEVER, 'M', SPENT,
	  "Mg M", USE, 1 },

	/* --- B: "finish a zone of another lifetime whenever no matching zone is open" --- */
	{ "mismatch: finish", SLA, USER, PERS, MISM, 'M', SPENT, "L", FIN, 0 },
	{ "mismatch: the cheapest, least room", SLA, USER, PERS, MISM, 'M', SPENT,
	  "L9 E3 S5", FIN, 1 },
	{ "mismatch: not where one matches", SLA, USER, PERS, MISM, 'M', SPENT, "L1 M", USE, 1 },
	{ "mismatch: not where one may be opened", SLA, USER, PERS, MISM, 'M', OPEN, "L", NEW, 0 },
	{ "mismatch: wla takes greater", WLA, USER, PERS, MISM, 'M', SPENT, "S1 E", USE, 1 },
	{ "mismatch: wla finishes smaller", WLA, USER, PERS, MISM, 'E', SPENT, "S8 L9", FIN, 0 },
	{ "mismatch: zenfs finishes smaller", ZENFS, USER, PERS, MISM, 'E', SPENT,
	  "S8 L9", FIN, 0 },
	{ "mismatch: never a zone of GC", SLA, USER, PERS, MISM, 'M', SPENT, "Lg1 S9", FIN, 1 },
	{ "mismatch: nor one of GC's two", SLA, USER, PERS, MISM, 'M', SPENT,
	  "Lg2 Sg5 S9", FIN, 2 },
	{ "mismatch: only GC's: share it", SLA, USER, PERS, MISM, 'M', SPENT, "Lg1", FALL, 0 },
	{ "mismatch: GC finishes nothing", SLA, GC, PERS, MISM, 'M', SPENT, "L4 Sg1", FALL, 1 },
	{ "mismatch: initial, GC without a stream", SLA, GC, INIT, MISM, 'M', SPENT,
	  "M4 L2", FALL, 0 },
	{ "mismatch: a full zone needs no finish", SLA, USER, PERS, MISM, 'M', SPENT,
	  "L0 E7", FIN, 1 },
	{ "mismatch: finishing frees no zone: fall back", SLA, USER, PERS, MISM, 'M', SCARCE,
	  "S E", FALL, 1 },
	{ "mismatch: all full: wait", SLA, USER, PERS, MISM, 'M', SPENT, "L0 E0", WAIT, 0 },
	{ "never: fall back", SLA, USER, PERS, NEVER, 'M', SPENT, "L9 E3", FALL, 0 },

	/* --- finish=cost: where it pays to be rid of a zone nobody fills --- */
	{ "cost: zones in use stay", SLA, USER, PERS, COST, 'M', SPENT, "L9 S5", FALL, 0 },
	{ "cost: filled, by what lives shorter", SLA, USER, PERS, COST, 'M', SPENT,
	  "L Ei50", FALL, 1 },
	{ "cost: never: shared", SLA, USER, PERS, NEVER, 'M', SPENT, "L Ei50", FALL, 0 },
	{ "cost: finished, for what lives longer", SLA, USER, PERS, COST, 'E', SPENT,
	  "L Si5000", FIN, 1 },
	{ "cost: filled, by the next longer", SLA, USER, PERS, COST, 'M', SPENT,
	  "L Si5000", FALL, 1 },
	{ "cost: filled, if that is longer", SLA, USER, PERS, COST, 'S', SPENT,
	  "M Ei5000", FALL, 1 },
	{ "cost: filled, if nearly full", SLA, USER, PERS, COST, 'E', SPENT, "L Si20", FALL, 1 },
	{ "cost: the cheapest", SLA, USER, PERS, COST, 'E', SPENT,
	  "L Si5000 Si4000 Si9000", FIN, 2 },
	{ "cost: the cheapest, filled", SLA, USER, PERS, COST, 'E', SPENT,
	  "L Si5000 Mi40 Si9000", FALL, 2 },
	{ "cost: padding is dearer than sharing", SLA, USER, PERS, COST, 'E', SPENT,
	  "L Si2000000", FALL, 0 },
	{ "cost: never a zone of GC", SLA, USER, PERS, COST, 'E', SPENT, "L Sgi5000", FALL, 0 },
	{ "cost: GC finishes nothing", SLA, GC, PERS, COST, 'E', SPENT, "Lg Si5000", FALL, 0 },
	{ "cost: rather a new one", SLA, USER, PERS, COST, 'E', OPEN, "L Si5000", NEW, 0 },
	{ "cost: not where one matches", SLA, USER, PERS, COST, 'E', SPENT, "Si5000 E", USE, 1 },
	{ "cost: frees no zone: share", SLA, USER, PERS, COST, 'E', SCARCE, "L Si5000", FALL, 0 },
	{ "cost: wla takes greater", WLA, USER, PERS, COST, 'M', SPENT, "E Si5000", USE, 0 },
	{ "cost: groups adopt", ADAPT, USER, PERS, COST, 'c', SPENT, "d gi5000", ADOPT, 1 },
	{ "cost: of a hint, too", ADAPT, USER, PERS, COST, 'k', SPENT, "a Ei50", ADOPT, 1 },
	{ "cost: before it is idle, filled", ADAPT, USER, PERS, COST, 'k', SPENT,
	  "a Eo50", FALL, 1 },
	{ "cost: all full: wait", SLA, USER, PERS, COST, 'M', SPENT, "Li0 Ei0", WAIT, 0 },

	/* --- fallback: the nearest open zone, its own stream first --- */
	{ "fallback: longer before shorter", SLA, USER, PERS, NEVER, 'M', SPENT, "S E", FALL, 1 },
	{ "fallback: longer, closest", SLA, USER, PERS, NEVER, 'S', SPENT, "E L M", FALL, 2 },
	{ "fallback: unknown before shorter", SLA, USER, PERS, NEVER, 'M', SPENT, "S -", FALL, 1 },
	{ "fallback: LONG and EXTREME", SLA, USER, PERS, NEVER, 'E', SPENT, "- S L M", FALL, 2 },
	{ "fallback: file-system structures together", SLA, USER, PERS, NEVER, 'F', SPENT,
	  "L - N", FALL, 2 },
	{ "fallback: unhinted with MEDIUM", SLA, USER, PERS, NEVER, '-', SPENT, "S E M", FALL, 2 },
	{ "fallback: own stream before lifetime", SLA, GC, PERS, NEVER, 'M', SPENT,
	  "L Sg", FALL, 1 },
	{ "fallback: any zone with room will do", SLA, USER, PERS, NEVER, 'E', SPENT,
	  "F0 L0 Sg1", FALL, 2 },
	{ "fallback: for lack of free zones", WLA, USER, PERS, NEVER, 'E', SCARCE, "L S", FALL, 0 },

	/* --- reset=adaptive: empty zones are as good as new ones --- */
	{ "empty: rather than a new one", SLA, USER, PERS, NEVER, 'M', OPEN, "S Le", ADOPT, 1 },
	{ "empty: not under what lives longer", SLA, USER, PERS, NEVER, 'M', OPEN, "L Se", NEW, 0 },
	{ "empty: of its class", SLA, USER, PERS, NEVER, 'M', OPEN, "L Mge", ADOPT, 1 },
	{ "empty: without order, none", SLA, USER, PERS, NEVER, '-', OPEN, "Ee Ne", NEW, 0 },
	{ "empty: of a colder group", ADAPT, USER, PERS, NEVER, 'c', OPEN, "ae fe", ADOPT, 1 },
	{ "empty: its own first", SLA, USER, PERS, NEVER, 'M', OPEN, "Le M", USE, 1 },
	{ "empty: that with the least room", SLA, USER, PERS, NEVER, 'M', OPEN,
	  "Le9 Ee3 Le", ADOPT, 1 },
	{ "empty: GC's for users", WLA, USER, PERS, NEVER, 'L', OPEN, "Ege", ADOPT, 0 },
	{ "empty: and users' for GC", WLA, GC, PERS, NEVER, 'L', OPEN, "Le L", ADOPT, 0 },
	{ "empty: not before a longer one", WLA, USER, PERS, NEVER, 'M', OPEN, "Mge L", USE, 1 },
	{ "empty: though spent", SLA, USER, PERS, MISM, 'M', SPENT, "S Le", ADOPT, 1 },
	{ "empty: not GC's at the reserve", SLA, USER, PERS, NEVER, 'M', RESERVE, "Mge", WAIT, 0 },
	{ "empty: before an idle group", ADAPT, USER, PERS, NEVER, 'c', OPEN, "di ke", ADOPT, 1 },

	/* --- adaptive: what has a hint as in sla, groups by themselves --- */
	{ "adaptive: a hint is equal", ADAPT, USER, PERS, NEVER, 'M', OPEN, "L M d", USE, 1 },
	{ "adaptive: a hint is not greater: new", ADAPT, USER, PERS, NEVER, 'M', OPEN,
	  "L", NEW, 0 },
	{ "adaptive: hinted GC apart", ADAPT, GC, PERS, NEVER, 'M', OPEN, "M", NEW, 0 },
	{ "adaptive: a group to its zone", ADAPT, USER, PERS, NEVER, 'c', OPEN, "b d c", USE, 2 },
	{ "adaptive: not to the next: new", ADAPT, USER, PERS, NEVER, 'c', OPEN, "b d -", NEW, 0 },
	{ "adaptive: GC and users share", ADAPT, GC, PERS, NEVER, 'c', OPEN, "bg c", USE, 1 },
	{ "adaptive: users and GC share", ADAPT, USER, PERS, NEVER, 'c', OPEN, "b cg", USE, 1 },
	{ "adaptive: least room of both", ADAPT, USER, PERS, NEVER, 'c', OPEN, "c9 cg3", USE, 1 },
	{ "adaptive: an idle zone is adopted", ADAPT, USER, PERS, NEVER, 'c', OPEN,
	  "d ei", ADOPT, 1 },
	{ "adaptive: the nearest idle one", ADAPT, GC, PERS, NEVER, 'c', OPEN,
	  "ai fi dgi", ADOPT, 2 },
	{ "adaptive: its own first", ADAPT, USER, PERS, NEVER, 'c', OPEN, "di c", USE, 1 },
	{ "adaptive: its own, idle or not", ADAPT, USER, PERS, NEVER, 'c', OPEN, "ci", USE, 0 },
	{ "adaptive: that of a hint, too", ADAPT, USER, PERS, NEVER, 'c', OPEN, "L Si", ADOPT, 1 },
	{ "adaptive: or of none", ADAPT, GC, PERS, NEVER, 'j', OPEN, "Si -i", ADOPT, 1 },
	{ "adaptive: if idle", ADAPT, USER, PERS, NEVER, 'c', OPEN, "- L", NEW, 0 },
	{ "adaptive: not one left alone", ADAPT, GC, PERS, NEVER, 'k', OPEN, "Ex", NEW, 0 },
	{ "sla: the same for GC's groups", SLA, GC, PERS, NEVER, 'c', OPEN, "-i Mi", ADOPT, 1 },
	{ "adaptive: without a hint none is adopted", ADAPT, USER, PERS, NEVER, '-', OPEN,
	  "ci Si", NEW, 0 },
	{ "adaptive: hinted data adopts none", ADAPT, USER, PERS, NEVER, 'M', OPEN, "ci", NEW, 0 },
	{ "adaptive: adopted though spent", ADAPT, USER, PERS, NEVER, 'c', SPENT,
	  "b ki", ADOPT, 1 },
	{ "adaptive: the next group", ADAPT, USER, PERS, NEVER, 'c', SPENT, "a e dg", FALL, 2 },
	{ "adaptive: the next group, for GC", ADAPT, GC, PERS, NEVER, 'h', SPENT,
	  "cg g", FALL, 1 },
	{ "adaptive: unhinted zones are middling", ADAPT, USER, PERS, NEVER, 'h', SPENT,
	  "a - S", FALL, 1 },
	{ "adaptive: cold is like EXTREME", ADAPT, GC, PERS, NEVER, 'k', SPENT, "Sg E", FALL, 1 },
	{ "adaptive: hot is like SHORT", ADAPT, USER, PERS, NEVER, 'a', SPENT, "E S", FALL, 1 },
	{ "adaptive initial: GC has one stream", ADAPT, GC, INIT, NEVER, 'c', OPEN,
	  "c hg", USE, 1 },
	{ "adaptive initial: users keep out of it", ADAPT, USER, INIT, NEVER, 'c', OPEN,
	  "cg hi", NEW, 0 },
	{ "adaptive: users keep out at the reserve", ADAPT, USER, PERS, NEVER, 'c', RESERVE,
	  "cg dgi h", FALL, 2 },
	{ "wla: a group's zone is any other", WLA, USER, PERS, NEVER, '-', SPENT, "a i", FALL, 1 },

	/* --- zones left alone, as what was written last goes first --- */
	{ "alone: rather a new one", ADAPT, USER, PERS, NEVER, 'E', OPEN, "Ea Ea Ea", NEW, 0 },
	{ "alone: rather one that is not", ADAPT, USER, PERS, NEVER, 'E', OPEN,
	  "Ea1 Ea Ea Ea E", USE, 4 },
	{ "alone: the oldest of four", ADAPT, USER, PERS, NEVER, 'E', OPEN,
	  "L Ea Ea1 Ea Ea", USE, 1 },
	{ "alone: one with room", ADAPT, USER, PERS, NEVER, 'E', OPEN, "Ea0 Ea Ea Ea Ea", USE, 1 },
	{ "alone: full ones do not count", ADAPT, USER, PERS, NEVER, 'E', OPEN,
	  "Ea0 Ea Ea Ea", NEW, 0 },
	{ "alone: adopted, if empty", ADAPT, USER, PERS, NEVER, 'E', OPEN, "Ea Ee", USE, 1 },
	{ "alone: if no zone may be opened", ADAPT, USER, PERS, NEVER, 'E', SPENT,
	  "L Ea Ea", USE, 1 },
	{ "alone: rather than wait", ADAPT, USER, PERS, NEVER, 'E', CLOSING, "L Ea", USE, 1 },
	{ "alone: nothing to others", ADAPT, USER, PERS, NEVER, 'L', OPEN, "Ea Ea Ea Ea", NEW, 0 },
	{ "alone: nor to what GC moves", ADAPT, GC, PERS, NEVER, 'E', OPEN,
	  "Ea Ea Ea Ea", NEW, 0 },
	{ "alone: a fallback as ever", ADAPT, USER, PERS, NEVER, 'L', SPENT, "S Ea", FALL, 1 },

	/* --- the reserve: users keep out of GC's zones, by whatever way --- */
	{ "reserve: not by class", WLA, USER, PERS, NEVER, 'M', RESERVE, "Mg", WAIT, 0 },
	{ "reserve: not by the policy", ZENFS, USER, PERS, NEVER, 'M', RESERVE, "Lg", WAIT, 0 },
	{ "reserve: not by fallback", SLA, USER, INIT, NEVER, 'M', RESERVE, "Lg", WAIT, 0 },
	{ "reserve: any user zone instead", SLA, USER, PERS, NEVER, 'M', RESERVE, "Mg S", FALL, 1 },
	{ "reserve: its own, as ever", SLA, USER, PERS, NEVER, 'M', RESERVE, "Mg M", USE, 1 },
	{ "reserve: GC as ever", SLA, GC, PERS, NEVER, 'M', RESERVE, "S Mg", USE, 1 },
	{ "reserve: GC takes what it can get", SLA, GC, PERS, NEVER, 'M', RESERVE, "S", FALL, 0 },

	/* --- wait: where nothing else is possible, or a new zone soon --- */
	{ "wait: all open zones are full", WLA, USER, PERS, NEVER, 'M', SPENT, "M0 L0", WAIT, 0 },
	{ "wait: none open, none may be", WLA, USER, PERS, NEVER, 'M', SCARCE, "", WAIT, 0 },
	{ "wait: none open, gc", WLA, GC, INIT, MISM, 'M', SPENT, "", WAIT, 0 },
	{ "wait: rather than mix", WLA, USER, PERS, NEVER, 'M', CLOSING, "S", WAIT, 0 },
	{ "wait: rather than finish", WLA, USER, PERS, MISM, 'M', CLOSING, "S", WAIT, 0 },
	{ "wait: gc, too", SLA, GC, INIT, NEVER, 'M', CLOSING, "S", WAIT, 0 },
	{ "wait: not if one suits", WLA, USER, PERS, NEVER, 'M', CLOSING, "M S", USE, 0 },
	{ "open rather than wait", WLA, USER, PERS, NEVER, 'M', OPEN, "M0 L0", NEW, 0 },
};

static u8 class_of(char c)
{
	static const char letters[] = "-NSMLEFabcdefghijk";

	return strchr(letters, c) - letters;
}

static unsigned int parse_zones(const char *s, struct lz_place_zone *z)
{
	unsigned int n = 0;

	while (*s) {
		z[n].class = class_of(*s++);
		z[n].gc = *s == 'g';
		if (z[n].gc)
			s++;
		z[n].idle = *s == 'i' || *s == 'x';
		z[n].empty = *s == 'e';
		z[n].alone = *s == 'a' || *s == 'x';
		/* Old, and not idle yet. */
		z[n].age = z[n].idle || z[n].alone || *s == 'o' ? OLD - n : 0;
		if (z[n].empty || z[n].age)
			s++;
		z[n].room = *s && *s != ' ' ? 0 : 100;
		while (*s && *s != ' ')
			z[n].room = z[n].room * 10 + (*s++ - '0');
		while (*s == ' ')
			s++;
		n++;
	}
	return n;
}

static void place_rules(struct kunit *test)
{
	struct lz_place_zone z[MAX_ZONES];
	struct lz_place_out out;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct lz_place_in in = {
			.policy = r->policy, .finish = r->finish, .isolation = r->isolation,
			.class = class_of(r->class), .gc = r->gc, .can_open = r->open == OPEN,
			.budget_spent = r->open == SPENT || r->open == CLOSING,
			.closing = r->open == CLOSING,
			.reserve = r->open == RESERVE, .cost = &lz_cost_default, .zones = z,
		};

		in.n = parse_zones(r->zones, z);
		lz_place(&in, &out);
		KUNIT_EXPECT_EQ_MSG(test, out.verdict | (out.fallback ? FALLBACK : 0) |
				    (out.adopt ? ADOPTED : 0), r->verdict, "(%s)", r->rule);
		KUNIT_EXPECT_EQ_MSG(test, out.idx, r->idx, "(%s)", r->rule);
	}
}

/* Zones that data takes where it has none of its own: from the nearest to the farthest. */
static const char * const nearest[] = {
	"-MLNFES", "NF-MLSE", "SMLEN-", "SMLEF-", "MLE-NFS", "LE-MNFS", "EL-MNFS", "FNM-LSE",
	/* Groups by the distance; where there are two, both. */
	"-ihgfedcba", "-ijk", "Nih", "Nij", "Sabcdefghijk", "Mgfedcba", "Mghijk",
	"Ljihgfedcba", "Ljk", "Ekjihgfedcba", "Fedcba", "Fefghijk",
	"abcdefghijk", "fedcba", "fghijk", "kjihgfedcba", "aSFM-LE", "kEL-MFS", "gM-LES",
};

/* @gc: both are GC's, and nobody's but by fallback. */
static unsigned int taken(u8 data, u8 first, u8 second, bool gc)
{
	struct lz_place_zone z[] = {
		{ .class = first, .gc = gc, .room = 100 },
		{ .class = second, .gc = gc, .room = 100 },
	};
	struct lz_place_in in = {
		.policy = SLA, .isolation = gc ? INIT : PERS, .class = data,
		.budget_spent = true, .zones = z, .n = 2,
	};
	struct lz_place_out out;

	lz_place(&in, &out);
	return out.verdict == LZ_PLACE_USE ? out.idx : MAX_ZONES;
}

static void place_nearest(struct kunit *test)
{
	unsigned int i, near, far;

	for (i = 0; i < 2 * ARRAY_SIZE(nearest); i++) {
		const char *s = nearest[i / 2];
		u8 data = class_of(s[0]);
		bool gc = i % 2;

		for (far = 1; s[far]; far++) {
			for (near = 0; near < far; near++) {
				u8 a = class_of(s[near]), b = class_of(s[far]);

				/* What is GC's has a hint, or a group, but seldom either. */
				if (gc && min(a, b) < LZ_CLASS_GROUP && max(a, b) >= LZ_CLASS_GROUP)
					continue;
				KUNIT_EXPECT_EQ_MSG(test, taken(data, a, b, gc), 0u,
						    "(%c: %c, %c)", s[0], s[near], s[far]);
				KUNIT_EXPECT_EQ_MSG(test, taken(data, b, a, gc), 1u,
						    "(%c: %c, %c)", s[0], s[near], s[far]);
			}
		}
	}
}

/*
 * What it costs to share the first zone with data, in quarters of a copy, and to fill the second,
 * which nothing comes to any more.
 */
static const struct mix {
	char data;
	char shared;
	u8 costs;
	char idle;
	u8 filled;
} mixes[] = {
	{ 'M', 'L', 1, 'S', 4 }, { 'M', 'E', 2, 'S', 4 }, { 'M', '-', 3, 'S', 4 },
	{ 'S', 'M', 1, '-', 3 }, { 'S', 'L', 2, '-', 3 }, { 'S', 'E', 2, '-', 3 },
	{ 'L', 'M', 4, 'F', 3 }, { 'E', 'L', 4, 'M', 6 }, { 'E', 'M', 6, 'S', 8 },
	{ '-', 'M', 3, 'S', 3 }, { 'N', 'F', 3, 'S', 3 },
	{ 'c', 'd', 1, 'k', 2 }, { 'c', 'e', 2, 'k', 2 }, { 'c', 'f', 2, 'k', 2 },
	{ 'g', 'f', 1, 'S', 3 }, { 'g', 'e', 2, 'S', 3 }, { 'g', 'd', 3, 'S', 3 },
	{ 'g', 'c', 4, 'S', 3 }, { 'g', 'b', 4, 'S', 3 },
	/* With a hint or without: no order between them. */
	{ 'g', 'M', 3, 'S', 3 }, { 'M', 'g', 3, 'S', 4 },
};

/* Sharing for as long as the zone has been idle is dearer than to fill it, by a hair. */
static void place_worth(struct kunit *test)
{
	static const struct lz_cost fill = { .copy = 4, .pad = 1000 };
	/* A block has a copy less to go; what is left of the zone is finished at once. */
	static const struct lz_cost pad = { .copy = 4, .pad = 3, .finish = 500 };
	struct lz_place_zone z[3] = {};
	struct lz_place_in in = {
		.policy = SLA, .finish = COST, .budget_spent = true, .cost = &fill,
		.zones = z, .n = 2,
	};
	struct lz_place_out out;
	unsigned int i;
	u64 age;

	for (i = 0; i < 2 * ARRAY_SIZE(mixes); i++) {
		struct lz_place_zone *idle = &z[i % 2], *shared = &z[!(i % 2)];
		const struct mix *m = &mixes[i / 2];

		in.class = class_of(m->data);
		*shared = (struct lz_place_zone){ .class = class_of(m->shared), .room = 1000 };
		*idle = (struct lz_place_zone){ .class = class_of(m->idle), .room = 100 };
		/* It is shared among two. */
		age = m->filled * 100 / m->costs;
		idle->age = 2 * age;
		lz_place(&in, &out);
		KUNIT_EXPECT_EQ_MSG(test, out.idx, (unsigned int)(shared - z), "(%u)", i / 2);
		idle->age = 2 * age + 2;
		lz_place(&in, &out);
		KUNIT_EXPECT_EQ_MSG(test, out.idx, (unsigned int)(idle - z), "(%u)", i / 2);
		KUNIT_EXPECT_EQ_MSG(test, (int)out.verdict, USE, "(%u)", i / 2);
		KUNIT_EXPECT_TRUE_MSG(test, out.fallback, "(%u)", i / 2);
	}

	/* E in S: eight quarters a block to fill it, seven to be rid of it. */
	in.cost = &pad;
	in.class = class_of('E');
	z[0] = (struct lz_place_zone){ .class = class_of('L'), .room = 1000 };
	z[1] = (struct lz_place_zone){ .class = class_of('S'), .room = 500, .age = OLD };
	lz_place(&in, &out);
	KUNIT_EXPECT_EQ(test, (int)out.verdict, USE);
	KUNIT_EXPECT_TRUE(test, out.fallback);
	KUNIT_EXPECT_EQ(test, out.idx, 1u);
	z[1].room = 501;
	lz_place(&in, &out);
	KUNIT_EXPECT_EQ(test, (int)out.verdict, FIN);
	KUNIT_EXPECT_FALSE(test, out.fallback);
	KUNIT_EXPECT_EQ(test, out.idx, 1u);

	/* Of two alike the first; of others the one that gains more. */
	in.n = 3;
	z[2] = z[1];
	lz_place(&in, &out);
	KUNIT_EXPECT_EQ(test, out.idx, 1u);
	z[2].age = OLD + 3;
	lz_place(&in, &out);
	KUNIT_EXPECT_EQ(test, out.idx, 2u);
	z[1].age = OLD + 6;
	lz_place(&in, &out);
	KUNIT_EXPECT_EQ(test, out.idx, 1u);
}

/* What holds for every decision, whatever is asked. */
static bool check_decision(struct kunit *test, const struct lz_place_in *in)
{
	bool has_room = false, ok;
	struct lz_place_out out;
	unsigned int i;

	for (i = 0; i < in->n; i++)
		has_room |= in->zones[i].room &&
			    (in->gc || !in->reserve || !in->zones[i].gc);
	lz_place(in, &out);

	switch (out.verdict) {
	case LZ_PLACE_USE:
		ok = out.idx < in->n && in->zones[out.idx].room &&
		     (!in->zones[out.idx].alone || !in->can_open);
		break;
	case LZ_PLACE_FINISH:
		ok = out.idx < in->n && in->zones[out.idx].room && in->budget_spent &&
		     !in->can_open && !in->closing && !in->gc && !in->zones[out.idx].gc &&
		     (in->finish == LZ_FINISH_MISMATCH ||
		      (in->finish == LZ_FINISH_COST && in->zones[out.idx].age));
		break;
	case LZ_PLACE_NEW:
		ok = in->can_open;
		break;
	default:
		ok = (!has_room || in->closing) && !in->can_open;
	}
	if (out.adopt)
		ok &= out.verdict == LZ_PLACE_USE &&
			(in->zones[out.idx].empty ||
			 (in->zones[out.idx].idle && !in->zones[out.idx].alone &&
			  lz_is_group(in->class)));
	if (out.fallback)
		ok &= !in->can_open && !in->closing && out.verdict == LZ_PLACE_USE;
	KUNIT_EXPECT_TRUE_MSG(test, ok,
			      "(policy %u finish %u isolation %u class %u gc %u open %u verdict %u)",
			      in->policy, in->finish, in->isolation, in->class, in->gc,
			      in->can_open, out.verdict);
	return ok;
}

/* Every input with up to two open zones. */
static void place_every_input(struct kunit *test)
{
	static const u32 rooms[] = { 0, 1, 5000 };
	/* All there are of data, and some groups. */
	static const u8 classes[LZ_NR_CLASSES + 3] = {
		0, 1, 2, 3, 4, 5, 6, LZ_CLASS_GROUP, LZ_CLASS_GROUP + 4, LZ_NR_ZONE_CLASSES - 1,
	};
	const unsigned int nr = ARRAY_SIZE(classes), kinds = nr * 4 * ARRAY_SIZE(rooms);
	struct lz_place_zone z[2];
	unsigned int how, zones, i, v;

	how = LZ_NR_POLICIES * LZ_NR_FINISHES * LZ_NR_ISOLATIONS * nr * 2 * NR_OPENS;
	while (how--) {
		struct lz_place_in in = { .cost = &lz_cost_default, .zones = z };

		/* All of it takes a minute with KASAN. */
		cond_resched();
		v = how;
		in.policy = v % LZ_NR_POLICIES;
		v /= LZ_NR_POLICIES;
		in.finish = v % LZ_NR_FINISHES;
		v /= LZ_NR_FINISHES;
		in.isolation = v % LZ_NR_ISOLATIONS;
		v /= LZ_NR_ISOLATIONS;
		in.class = classes[v % nr];
		v /= nr;
		in.gc = v % 2;
		v /= 2;
		in.can_open = v == OPEN;
		in.budget_spent = v == SPENT || v == CLOSING;
		in.closing = v == CLOSING;
		in.reserve = v == RESERVE;

		/* None, one of each kind, two of each kind. */
		for (zones = 0; zones < 1 + kinds + kinds * kinds; zones++) {
			in.n = !zones ? 0 : zones <= kinds ? 1 : 2;
			v = zones - (in.n == 2 ? 1 + kinds : in.n);
			for (i = 0; i < in.n; i++) {
				z[i].class = classes[v % nr];
				v /= nr;
				z[i].gc = v % 4 == 1;
				z[i].idle = v % 4 == 2;
				z[i].age = z[i].idle ? OLD : 0;
				z[i].empty = v % 4 == 3;
				z[i].alone = z[i].idle && z[i].class == LZ_CLASS_EXTREME;
				v /= 4;
				z[i].room = rooms[v % ARRAY_SIZE(rooms)];
				v /= ARRAY_SIZE(rooms);
			}
			/* One that is wrong is enough: it may be all of millions. */
			if (!check_decision(test, &in))
				return;
		}
	}
}

/*
 * A class that always gets the same answer never finishes its own zone: with
 * one user zone and one GC zone, writes still go on under every policy.
 */
static void place_least_budget(struct kunit *test)
{
	static const struct lz_place_zone z[] = {
		{ .class = LZ_CLASS_LONG, .gc = true, .room = 10 },
		{ .class = LZ_CLASS_MEDIUM, .gc = false, .room = 10 },
	};
	struct lz_place_in in = { .zones = z, .n = 2, .budget_spent = true };
	struct lz_place_out out;
	u8 p, iso, c;

	for (p = 0; p < LZ_NR_POLICIES; p++)
		for (iso = 0; iso < LZ_NR_ISOLATIONS; iso++)
			for (c = 0; c < LZ_NR_ZONE_CLASSES; c++) {
				in.policy = p;
				in.isolation = iso;
				in.class = c;
				in.gc = false;
				lz_place(&in, &out);
				KUNIT_EXPECT_EQ(test, (int)out.verdict, LZ_PLACE_USE);
				in.gc = true;
				lz_place(&in, &out);
				KUNIT_EXPECT_EQ(test, (int)out.verdict, LZ_PLACE_USE);
			}
}

/* A group's zone has been idle for a 32nd of the device, any other for a quarter. */
static void place_idle(struct kunit *test)
{
	const u64 blocks = 32000;
	u8 class;

	for (class = 0; class < LZ_NR_ZONE_CLASSES; class++) {
		u64 most = class < LZ_CLASS_GROUP ? 8000 : 1000;

		KUNIT_EXPECT_FALSE(test, lz_idle(class, most, blocks));
		KUNIT_EXPECT_TRUE(test, lz_idle(class, most + 1, blocks));
	}
}

/*
 * The pictures of Documentation/placement.rst: blocks in the order they are written, "g" of those
 * GC moves, and the zones of three blocks they fill; "." is room left, "x" what a finish padded.
 */
static const struct picture {
	u8 policy;
	u8 isolation;
	u8 finish;
	unsigned int open;
	const char *writes;
	const char *zones;
} pictures[] = {
	{ ZENFS, PERS, NEVER, 9, "M S L M S L", "MSS LM. L.." },
	{ WLA, PERS, NEVER, 9, "M S L M S L", "MSM LSL" },
	{ SLA, PERS, NEVER, 9, "M S L M S L", "MM. SS. LL." },
	{ SLA, PERS, NEVER, 9, "M Mg Lg M Mg Lg", "MM. MM. LL." },
	{ SLA, INIT, NEVER, 9, "M Mg Lg M Mg Lg", "MM. MLM L.." },
	{ SLA, PERS, NEVER, 2, "S S L M M L", "SS. LMM L.." },
	{ SLA, PERS, MISM, 2, "S S L M M L", "SSx LL. MM." },
};

#define PICTURE_CAP	3u

static void place_pictures(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pictures); i++) {
		const struct picture *p = &pictures[i];
		char text[MAX_ZONES * (PICTURE_CAP + 1)] = "", *at;
		struct lz_place_zone open[MAX_ZONES];
		unsigned int of[MAX_ZONES], zones = 0, n = 0, z;
		const char *w = p->writes;

		while (*w) {
			struct lz_place_in in = {
				.policy = p->policy, .finish = p->finish,
				.isolation = p->isolation, .class = class_of(*w), .gc = w[1] == 'g',
				.can_open = n < p->open, .budget_spent = n >= p->open,
				.cost = &lz_cost_default, .zones = open, .n = n,
			};
			struct lz_place_out out;

			lz_place(&in, &out);
			z = out.idx;
			if (out.verdict == LZ_PLACE_NEW) {
				KUNIT_ASSERT_LT(test, zones, MAX_ZONES);
				z = n++;
				of[z] = zones++;
				open[z] = (struct lz_place_zone) {
					.class = in.class, .gc = in.gc, .room = PICTURE_CAP,
				};
				memcpy(text + of[z] * (PICTURE_CAP + 1), " ...", PICTURE_CAP + 1);
			}
			at = text + (of[z] + 1) * (PICTURE_CAP + 1) - open[z].room;
			if (out.verdict == LZ_PLACE_FINISH) {
				memset(at, 'x', open[z].room);
				open[z].room = 0;
			} else {
				KUNIT_ASSERT_NE(test, (int)out.verdict, LZ_PLACE_WAIT);
				*at = *w++;
				w += *w == 'g';
				w += *w == ' ';
				open[z].room--;
			}
			if (!open[z].room) {
				n--;
				memmove(&open[z], &open[z + 1], (n - z) * sizeof(open[0]));
				memmove(&of[z], &of[z + 1], (n - z) * sizeof(of[0]));
			}
		}
		KUNIT_EXPECT_STREQ(test, text + 1, p->zones);
	}
}

static struct kunit_case place_cases[] = {
	KUNIT_CASE(place_rules),
	KUNIT_CASE(place_nearest),
	KUNIT_CASE(place_worth),
	KUNIT_CASE(place_idle),
	KUNIT_CASE(place_pictures),
	KUNIT_CASE(place_every_input),
	KUNIT_CASE(place_least_budget),
	{}
};

static struct kunit_suite place_suite = {
	.name = "lifezone-place",
	.test_cases = place_cases,
};

kunit_test_suite(place_suite);
