/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_groups.h - the fixed profile grouped by other things than symbols.
 *
 * The rows are fixed, and their shares add up to the whole.
 */
#ifndef TESTS_SCREENS_FAKE_GROUPS_H
#define TESTS_SCREENS_FAKE_GROUPS_H

#include "tui/model/model.h"

extern const struct model_group_ops fake_group_ops;

#endif
