/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds.c - the table of sample kinds; see kinds.h. */
#include "sampler/fields/kinds.h"

#include <string.h>

static const struct sample_kind *const kinds[] = {&kind_ibs_op, &kind_ibs_fetch};

const struct sample_kind *kinds_find(const char *pmu)
{
	for (size_t i = 0; pmu && i < sizeof(kinds) / sizeof(*kinds); i++)
		for (const char *const *name = kinds[i]->pmus; *name; name++)
			if (!strcmp(*name, pmu))
				return kinds[i];
	return NULL;
}
