/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_offers.h - a fake catalogue with every group, and every state that an event can have.
 */
#ifndef TESTS_SCREENS_FAKE_OFFERS_H
#define TESTS_SCREENS_FAKE_OFFERS_H

#include "tui/model/model.h"

/* Set by tests; fake_model_init() resets it. */
struct fake_offers {
	bool unread; /* the catalogue's thread has read nothing yet */
	int error, tracepoints_error;
};
extern struct fake_offers fake_offers;

extern const struct model_offer_ops fake_offer_ops;

#endif
