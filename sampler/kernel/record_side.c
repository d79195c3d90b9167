// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * record_side.c - decodes records other than samples: changes of tasks, lost records, kernel
 * events.
 *
 * The fields have the order of include/uapi/linux/perf_event.h.
 */
#include "sampler/kernel/record_private.h"

#include <errno.h>
#include <sys/mman.h>

/* Returns the string that fills the rest of the record, padded with NULs; NULL if not
 * terminated. */
static const char *string_at(const struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;

	return memchr(text, 0, words_left(cursor) * 8) ? text : NULL;
}

bool record_has_build_id(uint16_t misc, const uint8_t *at, bool no_build_ids)
{
	return misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
		(!no_build_ids || (at[0] == RECORD_BUILD_ID_MAX && !at[1] && !at[2] && !at[3]));
}

static int decode_mmap(
	struct record *out, struct cursor *cursor, const struct record_format *format)
{
	struct record_mmap *mmap = &out->mmap;
	bool second = out->type == PERF_RECORD_MMAP2;
	const uint64_t *at = cursor->at;
	struct pair pair;

	memset(mmap, 0, sizeof(*mmap));
	if (!skip(cursor, second ? 8 : 4))
		return -EBADMSG;
	pair = pair_at(at);
	mmap->pid = pair.first;
	mmap->tid = pair.second;
	mmap->start = at[1];
	mmap->len = at[2];
	mmap->pgoff = at[3];
	mmap->executable = !(out->misc & PERF_RECORD_MISC_MMAP_DATA);
	if (second) {
		const uint8_t *bytes = (const uint8_t *)(at + 4);

		if (record_has_build_id(out->misc, bytes, format->no_build_ids)) {
			if (bytes[0] > RECORD_BUILD_ID_MAX)
				return -EBADMSG;
			mmap->build_id_len = bytes[0];
			memcpy(mmap->build_id, bytes + 4, mmap->build_id_len);
		} else {
			pair = pair_at(at + 4);
			mmap->dev_major = pair.first;
			mmap->dev_minor = pair.second;
			mmap->inode = at[5];
			mmap->inode_generation = at[6];
			mmap->has_inode = true;
		}
		pair = pair_at(at + 7);
		mmap->prot = pair.first;
		mmap->flags = pair.second;
		mmap->executable = mmap->prot & PROT_EXEC;
	}
	mmap->filename = string_at(cursor);
	return mmap->filename ? 0 : -EBADMSG;
}

static int decode_comm(struct record *out, struct cursor *cursor)
{
	struct record_comm *comm = &out->comm;
	struct pair pair;

	if (cursor->at == cursor->end)
		return -EBADMSG;
	pair = pair_at(cursor->at++);
	comm->pid = pair.first;
	comm->tid = pair.second;
	comm->exec = out->misc & PERF_RECORD_MISC_COMM_EXEC;
	comm->comm = string_at(cursor);
	return comm->comm ? 0 : -EBADMSG;
}

static int decode_task(struct record *out, struct cursor *cursor)
{
	struct record_task *task = &out->task;
	const uint64_t *at = cursor->at;
	struct pair pair;

	if (!skip(cursor, 3))
		return -EBADMSG;
	pair = pair_at(at);
	task->pid = pair.first;
	task->ppid = pair.second;
	pair = pair_at(at + 1);
	task->tid = pair.first;
	task->ptid = pair.second;
	task->time_ns = at[2];
	return 0;
}

static int decode_lost(struct record *out, struct cursor *cursor)
{
	out->lost.id = out->id.id;
	if (out->type == PERF_RECORD_LOST && !take(cursor, &out->lost.id))
		return -EBADMSG;
	return take(cursor, &out->lost.lost) ? 0 : -EBADMSG;
}

static int decode_throttle(struct record *out, struct cursor *cursor)
{
	const uint64_t *at = cursor->at;

	if (!skip(cursor, 3))
		return -EBADMSG;
	out->throttle.time_ns = at[0];
	out->throttle.id = at[1];
	out->throttle.stream_id = at[2];
	return 0;
}

static int decode_aux(struct record *out, struct cursor *cursor)
{
	const uint64_t *at = cursor->at;

	if (!skip(cursor, 3))
		return -EBADMSG;
	out->aux.offset = at[0];
	out->aux.len = at[1];
	out->aux.flags = at[2];
	return 0;
}

static int decode_itrace(struct record *out, struct cursor *cursor)
{
	struct pair pair;

	if (cursor->at == cursor->end)
		return -EBADMSG;
	pair = pair_at(cursor->at);
	out->itrace.pid = pair.first;
	out->itrace.tid = pair.second;
	return 0;
}

static int decode_switch(struct record *out, struct cursor *cursor)
{
	struct record_switch *to = &out->switched;
	struct pair pair;

	memset(to, 0, sizeof(*to));
	to->out = out->misc & PERF_RECORD_MISC_SWITCH_OUT;
	to->preempted = to->out && (out->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	to->has_other = out->type == PERF_RECORD_SWITCH_CPU_WIDE;
	if (!to->has_other)
		return 0;
	if (cursor->at == cursor->end)
		return -EBADMSG;
	pair = pair_at(cursor->at);
	to->other_pid = pair.first;
	to->other_tid = pair.second;
	return 0;
}

static int decode_namespaces(struct record *out, struct cursor *cursor)
{
	struct record_namespaces *namespaces = &out->namespaces;
	const uint64_t *at = cursor->at;
	struct pair pair;

	if (!skip(cursor, 2) || at[1] > words_left(cursor) / 2)
		return -EBADMSG;
	pair = pair_at(at);
	namespaces->pid = pair.first;
	namespaces->tid = pair.second;
	namespaces->n = at[1];
	namespaces->pairs = at + 2;
	return 0;
}

static int decode_ksymbol(struct record *out, struct cursor *cursor)
{
	struct record_ksymbol *symbol = &out->ksymbol;
	const uint64_t *at = cursor->at;
	uint16_t halves[2];

	if (!skip(cursor, 2))
		return -EBADMSG;
	symbol->addr = at[0];
	symbol->len = pair_at(at + 1).first;
	memcpy(halves, (const uint8_t *)(at + 1) + 4, sizeof(halves));
	symbol->kind = halves[0];
	symbol->unregistered = halves[1] & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	symbol->name = string_at(cursor);
	return symbol->name ? 0 : -EBADMSG;
}

static int decode_bpf(struct record *out, struct cursor *cursor)
{
	const uint64_t *at = cursor->at;
	uint16_t halves[2];

	if (!skip(cursor, 2))
		return -EBADMSG;
	memcpy(halves, at, sizeof(halves));
	out->bpf.kind = halves[0];
	out->bpf.flags = halves[1];
	out->bpf.id = pair_at(at).second;
	memcpy(out->bpf.tag, at + 1, sizeof(out->bpf.tag));
	return 0;
}

static int decode_cgroup(struct record *out, struct cursor *cursor)
{
	if (!take(cursor, &out->cgroup.id))
		return -EBADMSG;
	out->cgroup.path = string_at(cursor);
	return out->cgroup.path ? 0 : -EBADMSG;
}

static int decode_text_poke(struct record *out, struct cursor *cursor)
{
	struct record_text_poke *poke = &out->text_poke;
	const uint64_t *at = cursor->at;
	uint16_t lens[2];

	if (!skip(cursor, 2))
		return -EBADMSG;
	memcpy(lens, at + 1, sizeof(lens));
	poke->addr = at[0];
	poke->old_len = lens[0];
	poke->new_len = lens[1];
	poke->bytes = (const uint8_t *)(at + 1) + sizeof(lens);
	/* Four of the bytes share a word with the lengths. */
	if ((uint64_t)lens[0] + lens[1] > words_left(cursor) * 8 + 4)
		return -EBADMSG;
	return 0;
}

static int decode_deferred(struct record *out, struct cursor *cursor)
{
	struct record_deferred *deferred = &out->deferred;

	if (!take(cursor, &deferred->cookie) || !take(cursor, &deferred->chain_len))
		return -EBADMSG;
	deferred->chain = cursor->at;
	return skip(cursor, deferred->chain_len) ? 0 : -EBADMSG;
}

static int decode_read_record(
	struct record *out, struct cursor *cursor, const struct record_format *format)
{
	struct pair pair;

	memset(&out->read, 0, sizeof(out->read));
	if (cursor->at == cursor->end)
		return -EBADMSG;
	pair = pair_at(cursor->at++);
	out->read.pid = pair.first;
	out->read.tid = pair.second;
	return record_take_read(&out->read.read, cursor, format->read_format) ? 0 : -EBADMSG;
}

int record_decode_side(
	struct record *out, struct cursor *cursor, const struct record_format *format)
{
	switch (out->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(out, cursor, format);
	case PERF_RECORD_COMM:
		return decode_comm(out, cursor);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(out, cursor);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(out, cursor);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return decode_throttle(out, cursor);
	case PERF_RECORD_READ:
		return decode_read_record(out, cursor, format);
	case PERF_RECORD_AUX:
		return decode_aux(out, cursor);
	case PERF_RECORD_ITRACE_START:
		return decode_itrace(out, cursor);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return decode_switch(out, cursor);
	case PERF_RECORD_NAMESPACES:
		return decode_namespaces(out, cursor);
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(out, cursor);
	case PERF_RECORD_BPF_EVENT:
		return decode_bpf(out, cursor);
	case PERF_RECORD_CGROUP:
		return decode_cgroup(out, cursor);
	case PERF_RECORD_TEXT_POKE:
		return decode_text_poke(out, cursor);
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		return take(cursor, &out->hw_id) ? 0 : -EBADMSG;
	case RECORD_CALLCHAIN_DEFERRED:
		return decode_deferred(out, cursor);
	}
	return -ENOTSUP;
}
