/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * credit.c - see credit.h.
 */
#include "sampler/kernel/credit.h"

uint32_t credit_target(size_t ring_bytes, size_t n_events, size_t record_bytes)
{
	size_t usable = ring_bytes - ring_bytes / 8;
	size_t target;

	if (!n_events || !record_bytes)
		return CREDIT_MIN;
	target = usable / n_events / record_bytes;
	if (target < CREDIT_MIN)
		return CREDIT_MIN;
	/* The kernel's counter is a signed int. */
	return target > INT32_MAX / 4 ? INT32_MAX / 4 : (uint32_t)target;
}

bool credit_consume(struct credit *credit, uint64_t n)
{
	if (!n)
		return false;
	if (n >= credit->outstanding) {
		credit->outstanding = 0;
		return true;
	}
	credit->outstanding -= (uint32_t)n;
	return false;
}

uint32_t credit_grant(struct credit *credit)
{
	uint32_t n = 0;

	if (credit->outstanding < credit->target)
		n = credit->target - credit->outstanding;
	credit->outstanding += n;
	return n;
}

uint32_t credit_restart(struct credit *credit, bool losses_are_known)
{
	uint32_t n = credit->target / 2 + 1;

	if (!losses_are_known)
		credit->outstanding = 0;
	if (credit->outstanding < credit->target)
		return credit_grant(credit);
	/* Exceeds the target once; consumption brings it back. */
	if (credit->outstanding > credit->target)
		n = 1;
	credit->outstanding += n;
	return n;
}

uint32_t credit_record_bytes(uint32_t average, uint32_t seen)
{
	if (seen >= average)
		return average + (seen - average + 1) / 2;
	return average - (average - seen) / 64;
}
