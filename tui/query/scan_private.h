/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_private.h - the state of a scan, for scan*.c alone.
 *
 * scan.c has the general loop and the common parts.  scan_quick.c has fast loops for questions
 * whose cells need only their label, CPU and stack.  scan_parts.c splits weights over time.
 * scan_two.c runs a quick question in two threads.
 */
#ifndef TUI_QUERY_SCAN_PRIVATE_H
#define TUI_QUERY_SCAN_PRIVATE_H

#include "tui/names/forest.h"
#include "tui/query/halves.h"
#include "tui/query/scan.h"
#include "tui/query/sieve.h"

#define SCAN_DENSE_SIDES 4u

/* Values of a dense array: entry id + 1, with the sieve's verdict on the stack. */
#define SCAN_DENSE_FAILS (1u << 31)
#define SCAN_DENSE_IDLE (1u << 30)
#define SCAN_DENSE_ID (SCAN_DENSE_IDLE - 1)

struct scan_dense {
	uint32_t *entries;
	uint32_t room;
};

/* Ids + 1, by label or by CPU; 0: not known yet. */
struct scan_quick {
	uint32_t *at;
	uint32_t room;
	uint32_t learnt; /* index that was learnt last; 0 before the first, at[0] is 0 then */
};

/* Shares of a slice's time in each part.  They add up to 1 if the slice lies in the parts. */
struct scan_spread {
	double part[SCAN_PARTS];
	int only; /* the part that contains the whole slice, or -1 */
};

/* Parts of the entries in the current range of stacks. */
struct scan_parting {
	uint64_t *counted; /* by entry: weight that is already assigned to parts */
	uint32_t counted_room, parts_room;
	uint32_t first; /* first entry of the range */
	struct scan_spread spread; /* for weights that are not assigned yet */
};

struct scan_work {
	const struct scan_question *question;
	struct scan *scan;
	struct sieve sieve;
	struct half half; /* for quick questions: the stacks of this thread */
	bool asks_cells; /* the sieve needs more than stacks */
	uint8_t idle_bit; /* bit of the sieve's verdict that hides a cell; 0: hides none */
	uint32_t entries_room, sides_room, tasks_room, columns_room;
	struct intern task_keys, column_keys;
	uint32_t *label_tasks; /* id + 1, by label; 0: not known yet */
	uint32_t labels_room;
	struct scan_dense dense[SCAN_DENSE_SIDES];
	uint32_t *hashed; /* entry + 1, by (node, side) */
	uint32_t n_hashed, hashed_slots;
	uint32_t *side_entries; /* id + 1, by side and place, if nodes are not asked for */
	uint32_t side_entries_room;
	uint32_t *side_slots; /* side + 1 */
	uint32_t n_side_slots;
	uint32_t last_side;
	struct scan_quick sides[STORE_EVENTS_MAX];
	/* If no nodes are asked for: entries, at (label or CPU) * SCAN_PLACES + place. */
	struct scan_quick quick[STORE_EVENTS_MAX];
	uint8_t *abouts; /* by node: ABOUT_* bits of the stack */
	uint32_t abouts_room;
	/* These find the place of the requested symbol. */
	struct forest *forest;
	uint8_t *has; /* by node of the forest: the symbol is on its way to the root */
	uint32_t n_has, has_room;
	uint32_t n_walked; /* number of stacks walked before `has` was built */
	uint8_t *places; /* by node of the stacks: enum scan_place */
	uint32_t places_room;
	bool places_shared; /* places belongs to the other thread */
	struct scan_parting parting;
};

void scan_work_init(
	struct scan_work *work, const struct scan_question *question, struct scan *scan);
void scan_work_fini(struct scan_work *work);
/* Scans all slices of the question.  Returns 0 or -ENOMEM. */
int scan_slices(struct scan_work *work);
/* Scans with two threads if there are many cells.  Returns 0 or -ENOMEM. */
int scan_in_two(struct scan_work *work);

/* Before two threads begin: finds the places of all known stacks below n_stacks, for both.  Returns
 * 0 or -ENOMEM. */
int scan_prepare_places(struct scan_work *work, struct scan_work *other, uint32_t n_stacks);
/* Returns the task of a label in *task, if tasks are asked for.  0 or -ENOMEM. */
int scan_task_of(struct scan_work *work, uint32_t label, uint32_t *task);
/* Finds or adds a task; parts that were not asked for are 0.  Keeps the newest version of it.
 * Returns 0 or -ENOMEM. */
int scan_add_task(struct scan_work *work, const struct scan_task *seen, uint32_t *task);
int scan_side_id(struct scan_work *work, const struct scan_side *side, uint32_t *id);
/* Returns the node of a stack's entry in *node.  0 or -ENOMEM. */
int scan_entry_node(struct scan_work *work, uint32_t stack, uint32_t *node);
/* Adds an entry, which must not exist yet. */
int scan_new_entry(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id);
int scan_entry_id(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id);

bool scan_is_quick(const struct scan_question *question);
/* Adds the cells of slice `at` of the snapshot.  Returns 0 or -ENOMEM. */
int scan_quick_slice(struct scan_work *work, const struct slice *slice, size_t at);
/* Computes the sums of the cells that passed; once, at the end. */
int scan_quick_sums(struct scan_work *work);

/* For questions in parts.  Call scan_parts_begin() before the cells of a slice are added, and
 * scan_parts_end() after all slices in a range of stacks.  Return 0 or -ENOMEM. */
int scan_parts_begin(struct scan_work *work, const struct slice *slice);
int scan_parts_end(struct scan_work *work);
/* Makes room for the parts of the newest entry.  Returns 0 or -ENOMEM. */
int scan_parts_room(struct scan_work *work, uint32_t entry);

static inline uint8_t scan_event(
	const struct scan_question *question, const struct slice *slice, uint32_t i)
{
	return question->stands_for ? question->stands_for[slice->event[i]] : slice->event[i];
}

#endif
