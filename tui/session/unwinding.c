/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwinding.c - see unwinding.h.
 */
#include "tui/session/unwinding.h"

#include "symbols/client/unwind.h"
#include "symbols/wire/unwtab.h"
#include "tui/base/grow.h"
#include "tui/names/names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 100u
#define WAITS_MAX 300u /* after this time the loader has given up, too */
#define ASKED_MAX 3u /* attempts if memory runs out */

/* The two layers do not include each other, but must agree on the format of a rule. */
_Static_assert((int)UNWTAB_NONE == (int)UNWIND_CFA_NONE && (int)UNWTAB_SP == (int)UNWIND_CFA_SP &&
		(int)UNWTAB_BP == (int)UNWIND_CFA_BP && (int)UNWTAB_PLT == (int)UNWIND_CFA_PLT &&
		(int)UNWTAB_DEREF_SP == (int)UNWIND_CFA_DEREF_SP &&
		(int)UNWTAB_DEREF_BP == (int)UNWIND_CFA_DEREF_BP &&
		(int)UNWTAB_SIGNAL == (int)UNWIND_CFA_SIGNAL &&
		(int)UNWTAB_END == (int)UNWIND_CFA_END &&
		(int)UNWTAB_REGISTER == (int)UNWIND_CFA_REGISTER &&
		(int)UNWTAB_CALL == (int)UNWIND_CFA_CALL &&
		(int)UNWTAB_DEREF_INDEXED == (int)UNWIND_CFA_DEREF_INDEXED &&
		(int)UNWTAB_REGISTER_BITS == (int)UNWIND_REGISTER_BITS,
	"ends of frames");
_Static_assert((int)UNWTAB_REG_SAME == (int)UNWIND_REG_SAME &&
		(int)UNWTAB_REG_CFA == (int)UNWIND_REG_CFA &&
		(int)UNWTAB_REG_BP == (int)UNWIND_REG_BP &&
		(int)UNWTAB_REG_SP == (int)UNWIND_REG_SP &&
		(int)UNWTAB_REG_UNDEFINED == (int)UNWIND_REG_UNDEFINED &&
		UNWTAB_ARM64_SIGNAL_REGS == UNWIND_ARM64_SIGNAL_REGS &&
		UNWTAB_FLAG_SIGNAL == UNWIND_SIGNAL && UNWTAB_MORE_SHIFT == UNWIND_MORE_SHIFT &&
		UNWTAB_BX_LOST == UNWIND_BX_LOST,
	"registers");
_Static_assert(sizeof(struct unwtab_rule) == sizeof(struct unwind_rule) &&
		offsetof(struct unwtab_rule, bp_off) == offsetof(struct unwind_rule, bp_off) &&
		offsetof(struct unwtab_rule, ra_off) == offsetof(struct unwind_rule, ra_off) &&
		offsetof(struct unwtab_rule, cfa) == offsetof(struct unwind_rule, cfa) &&
		offsetof(struct unwtab_rule, bp) == offsetof(struct unwind_rule, bp) &&
		offsetof(struct unwtab_rule, ra) == offsetof(struct unwind_rule, ra) &&
		offsetof(struct unwtab_rule, flags) == offsetof(struct unwind_rule, flags),
	"rules");

/* State of an image. */
struct known {
	bool settled;
	const struct unwtab *table; /* NULL if none */
};

struct unwinding {
	bool waits;
	atomic_bool stopped;
	struct symbols *symbols;
	struct images *images;
	struct known *known; /* by image; used only by the asking thread */
	uint32_t n_known;
};

int unwinding_new(struct unwinding **out, bool waits)
{
	struct unwinding *unwinding = calloc(1, sizeof(*unwinding));

	*out = unwinding;
	if (!unwinding)
		return -ENOMEM;
	unwinding->waits = waits;
	return 0;
}

void unwinding_free(struct unwinding *unwinding)
{
	if (unwinding)
		free(unwinding->known);
	free(unwinding);
}

void unwinding_begin(struct unwinding *unwinding, struct symbols *symbols, struct images *images)
{
	unwinding->symbols = symbols;
	unwinding->images = images;
}

void unwinding_stop(struct unwinding *unwinding)
{
	if (unwinding)
		atomic_store(&unwinding->stopped, true);
}

static struct known *known_of(struct unwinding *unwinding, uint32_t image)
{
	if (grow_zeroed((void **)&unwinding->known, image, &unwinding->n_known,
		    sizeof(*unwinding->known))) {
		symbols_lack_memory(unwinding->symbols);
		return NULL;
	}
	return &unwinding->known[image];
}

static bool has_tables(const struct symbols_source *source)
{
	return source->kind == SYMBOLS_FILE || source->kind == SYMBOLS_VDSO;
}

/* If memory runs out, the next sample asks again. */
static int ask(struct unwinding *unwinding, uint32_t image, const struct symbols_source *source)
{
	int ret = -ENOMEM;

	for (unsigned int i = 0; ret == -ENOMEM && i < ASKED_MAX; i++)
		ret = symbols_unwind_ask(unwinding->symbols, image, source);
	return ret;
}

/* Fills in *known; false if the answer is pending. */
static bool settle(struct unwinding *unwinding, uint32_t image, struct known *known)
{
	struct symbols_source source;
	enum symbols_state state = symbols_unwind_state(unwinding->symbols, image, &known->table);

	if (state == SYMBOLS_UNASKED) {
		const int ret =
			names_source(unwinding->images, image, &source) && has_tables(&source)
			? ask(unwinding, image, &source)
			: -ENOENT;

		if (ret == -ENOMEM) {
			symbols_lack_memory(unwinding->symbols);
			return true;
		}
		if (ret)
			state = SYMBOLS_NONE;
		else
			state = symbols_unwind_state(unwinding->symbols, image, &known->table);
	}
	for (unsigned int i = 0; state == SYMBOLS_PENDING && unwinding->waits && i < WAITS_MAX &&
		!atomic_load(&unwinding->stopped);
		i++) {
		(void)symbols_unwind_wait(unwinding->symbols, image, WAIT_MS);
		state = symbols_unwind_state(unwinding->symbols, image, &known->table);
	}
	if (state == SYMBOLS_PENDING && !unwinding->waits)
		return false;
	if (state != SYMBOLS_READY)
		known->table = NULL;
	known->settled = true;
	return true;
}

static enum unwind_answer find(void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	struct unwinding *unwinding = ctx;
	struct known *known = known_of(unwinding, image);
	const struct unwtab_rule *found;

	if (!known || !unwinding->symbols)
		return UNWIND_NO_DATA;
	if (!known->settled && !settle(unwinding, image, known))
		return UNWIND_PENDING;
	if (!known->table)
		return UNWIND_NO_DATA;
	found = unwtab_find(known->table, offset);
	/* A sparse table, like that of the linker's start files, says nothing about the code around
	 * it. */
	if (!found && known->table->flags & UNWTAB_SPARSE)
		return UNWIND_NO_DATA;
	if (found)
		memcpy(rule, found, sizeof(*rule));
	return UNWIND_KNOWN;
}

struct unwind_source unwinding_source(struct unwinding *unwinding)
{
	return (struct unwind_source){.find = find, .ctx = unwinding};
}
