/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_offers.h - a made-up catalogue: every group, and every state that an event can be in.
 */
#ifndef TESTS_SCREENS_FAKE_OFFERS_H
#define TESTS_SCREENS_FAKE_OFFERS_H

#include "tui/model/model.h"

/* What a test changes; fake_model_init() puts it back. */
struct fake_offers {
	bool unread; /* the thread has not come so far */
	int error, tracepoints_error;
};
extern struct fake_offers fake_offers;

extern const struct model_offer_ops fake_offer_ops;

#endif
