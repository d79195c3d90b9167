/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_private.h - a scan under way, for scan*.c alone.
 *
 * scan.c has the questions that are asked seldom and what all of them need, scan_quick.c those whose cells need nothing but
 * what was found of their label, CPU and stack, scan_parts.c tells when it was, and scan_two.c has two threads do that.
 */
#ifndef TUI_SCAN_PRIVATE_H
#define TUI_SCAN_PRIVATE_H

#include "tui/forest.h"
#include "tui/halves.h"
#include "tui/scan.h"
#include "tui/sieve.h"

#define SCAN_DENSE_SIDES 4u

/* In an array by node: + 1, with what the sieve says of the stack. */
#define SCAN_DENSE_FAILS (1u << 31)
#define SCAN_DENSE_IDLE (1u << 30)
#define SCAN_DENSE_ID (SCAN_DENSE_IDLE - 1)

struct scan_dense {
	uint32_t *entries;
	uint32_t room;
};

/* Numbers + 1, by label or by CPU; 0: not known yet. */
struct scan_quick {
	uint32_t *at;
	uint32_t room;
	uint32_t
		learnt; /* the place that was learnt last; 0 before the first, and nothing is known of it then */
};

/* How much of a slice's time lies in each part; 1 in all. */
struct scan_spread {
	double part[SCAN_PARTS];
	int only; /* the part that it is all in, or -1 */
};

/* What the entries of the range of stacks at hand have in parts. */
struct scan_parting {
	uint64_t *counted; /* by entry: how much of its weight is in parts already */
	uint32_t counted_room, parts_room;
	uint32_t first; /* entry of the range */
	struct scan_spread spread; /* of what is not in parts yet */
};

struct scan_work {
	const struct scan_question *question;
	struct scan *scan;
	struct sieve sieve;
	struct half half; /* of quick questions: stacks that are this thread's */
	bool asks_cells; /* the sieve is for more than stacks */
	uint8_t idle_bit; /* of the sieve's: what is as if it were not there; 0: nothing is */
	uint32_t entries_room, sides_room, tasks_room, columns_room;
	struct intern task_keys, column_keys;
	uint32_t *label_tasks; /* + 1, by label; 0: not known yet */
	uint32_t labels_room;
	struct scan_dense dense[SCAN_DENSE_SIDES];
	uint32_t *hashed; /* entry + 1, by (node, side) */
	uint32_t n_hashed, hashed_slots;
	uint32_t *side_entries; /* + 1, by side and place, where nodes are not asked for */
	uint32_t side_entries_room;
	uint32_t *side_slots; /* side + 1 */
	uint32_t n_side_slots;
	uint32_t last_side;
	struct scan_quick sides[STORE_EVENTS_MAX];
	/* Where nodes are not asked for: entries, with SCAN_PLACES for each label or CPU. */
	struct scan_quick quick[STORE_EVENTS_MAX];
	uint8_t *abouts; /* by node: all that is to know of a stack then */
	uint32_t abouts_room;
	/* Of the one symbol that is asked for. */
	struct forest *forest;
	uint8_t *has; /* by node of the forest: it is on the way to the root */
	uint32_t n_has, has_room;
	uint32_t n_walked; /* stacks that were asked before `has` was made */
	uint8_t *places; /* by node of the stacks: enum scan_place */
	uint32_t places_room;
	bool places_shared; /* they are those of the other thread */
	struct scan_parting parting;
};

void scan_work_init(
	struct scan_work *work, const struct scan_question *question, struct scan *scan);
void scan_work_fini(struct scan_work *work);
/* All slices of the question.  0 or -ENOMEM. */
int scan_slices(struct scan_work *work);
/* The same, by two threads where there are many cells. */
int scan_in_two(struct scan_work *work);

/* Before two threads begin: where the one symbol is on all stacks that were met before, of those below n_stacks.  0 or -ENOMEM. */
int scan_prepare_places(struct scan_work *work, struct scan_work *other, uint32_t n_stacks);
/* The task of a label, where tasks are asked for.  0 or -ENOMEM. */
int scan_task_of(struct scan_work *work, uint32_t label, uint32_t *task);
/* One that was met, whose parts that were not asked for are 0; of the same, the newest is kept.  0 or -ENOMEM. */
int scan_add_task(struct scan_work *work, const struct scan_task *seen, uint32_t *task);
int scan_side_id(struct scan_work *work, const struct scan_side *side, uint32_t *id);
/* The node of the entry that a stack belongs to.  0 or -ENOMEM. */
int scan_entry_node(struct scan_work *work, uint32_t stack, uint32_t *node);
/* One that is not there yet. */
int scan_new_entry(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id);
int scan_entry_id(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id);

bool scan_is_quick(const struct scan_question *question);
/* Slice `at` of the snapshot. */
int scan_quick_slice(struct scan_work *work, const struct slice *slice, size_t at);
/* The sums of what passed, once, in the end. */
int scan_quick_sums(struct scan_work *work);

/* Of questions in parts: before the cells of a slice are added, and after those of all slices in a range of stacks.  0 or
 * -ENOMEM. */
int scan_parts_begin(struct scan_work *work, const struct slice *slice);
int scan_parts_end(struct scan_work *work);
/* Room for those of an entry that is the newest.  0 or -ENOMEM. */
int scan_parts_room(struct scan_work *work, uint32_t entry);

static inline uint8_t scan_event(
	const struct scan_question *question, const struct slice *slice, uint32_t i)
{
	return question->stands_for ? question->stands_for[slice->event[i]] : slice->event[i];
}

#endif
