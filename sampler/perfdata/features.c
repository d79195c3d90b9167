// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * features.c - reads the feature sections of a recording; see features.h.
 *
 * A string is a 32-bit length, including padding, and bytes that end with a NUL.
 */
#include "sampler/perfdata/features.h"

#include "sampler/base/grow.h"
#include "sampler/base/whole.h"
#include "sampler/perfdata/swap.h"
#include "sampler/perfdata/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL_MAX (1u << 20)
#define LARGE_MAX (64u << 20)
#define HELD_MAX (256u << 20)

struct reading {
	const uint8_t *at, *end;
	bool swapped;
};

static size_t left(const struct reading *in)
{
	return (size_t)(in->end - in->at);
}

static bool get_32(struct reading *in, uint32_t *out)
{
	if (left(in) < sizeof(*out))
		return false;
	*out = swap_get_32(in->at, in->swapped);
	in->at += sizeof(*out);
	return true;
}

static bool get_64(struct reading *in, uint64_t *out)
{
	if (left(in) < sizeof(*out))
		return false;
	*out = swap_get_64(in->at, in->swapped);
	in->at += sizeof(*out);
	return true;
}

/* Takes a string.  *text is borrowed, and not terminated within *len. */
static bool get_text(struct reading *in, const char **text, size_t *len)
{
	uint32_t size;

	if (!get_32(in, &size) || size > left(in))
		return false;
	*text = (const char *)in->at;
	*len = strnlen(*text, size);
	in->at += size;
	return true;
}

static int get_string(struct reading *in, char **out)
{
	const char *text;
	size_t len;
	char *copy;

	if (!get_text(in, &text, &len))
		return -EBADMSG;
	copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	free(*out);
	*out = copy;
	return 0;
}

static void free_strings(char **strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
}

static void free_pmus(struct reader_pmu *pmus, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(pmus[i].name);
	free(pmus);
}

void features_fini(struct features *features)
{
	struct reader_info *info = &features->info;

	free(info->hostname);
	free(info->release);
	free(info->perf_version);
	free(info->arch);
	free(info->cpu_desc);
	free(info->cpu_id);
	free_strings(info->cmdline, info->n_cmdline);
	free_pmus(info->pmus, info->n_pmus);
	for (size_t i = 0; i < info->n_build_ids; i++)
		free(info->build_ids[i].path);
	free(info->build_ids);
	free(info->tracing_data);
	if (info->kept_fd > 0)
		close(info->kept_fd);
	told_fini(info);
	*features = (struct features){0};
}

uint64_t features_limit(unsigned int feature)
{
	switch (feature) {
	case PERFDATA_TRACING_DATA:
	case PERFDATA_BUILD_ID:
	case PERFDATA_EVENT_DESC:
	case PERFDATA_SIMPLEPERF_FILE:
	case PERFDATA_SIMPLEPERF_FILE2:
		return LARGE_MAX;
	case PERFDATA_HOSTNAME:
	case PERFDATA_OSRELEASE:
	case PERFDATA_VERSION:
	case PERFDATA_ARCH:
	case PERFDATA_NRCPUS:
	case PERFDATA_CPUDESC:
	case PERFDATA_CPUID:
	case PERFDATA_TOTAL_MEM:
	case PERFDATA_CMDLINE:
	case PERFDATA_PMU_MAPPINGS:
	case PERFDATA_GROUP_DESC:
	case PERFDATA_SAMPLE_TIME:
	case PERFDATA_CLOCKID:
	case PERFDATA_DIR_FORMAT:
	case PERFDATA_COMPRESSED:
	case PERFDATA_SIMPLEPERF_META_INFO:
		return SMALL_MAX;
	}
	return 0;
}

static int take_cmdline(struct reader_info *info, struct reading *in)
{
	uint32_t n;
	size_t done = 0;
	char **words;
	int ret = 0;

	if (!get_32(in, &n) || n > left(in) / sizeof(uint32_t))
		return -EBADMSG;
	words = calloc(n ? n : 1, sizeof(*words));
	if (!words)
		return -ENOMEM;
	while (done < n && !ret) {
		ret = get_string(in, &words[done]);
		done += !ret;
	}
	free_strings(info->cmdline, info->n_cmdline);
	info->cmdline = words;
	info->n_cmdline = done;
	return ret;
}

static int take_pmus(struct reader_info *info, struct reading *in)
{
	struct reader_pmu *pmus;
	size_t done = 0;
	uint32_t n;
	int ret = 0;

	if (!get_32(in, &n) || n > left(in) / (2 * sizeof(uint32_t)))
		return -EBADMSG;
	pmus = calloc(n ? n : 1, sizeof(*pmus));
	if (!pmus)
		return -ENOMEM;
	while (done < n && !ret) {
		if (get_32(in, &pmus[done].type))
			ret = get_string(in, &pmus[done].name);
		else
			ret = -EBADMSG;
		done += !ret;
	}
	free_pmus(info->pmus, info->n_pmus);
	info->pmus = pmus;
	info->n_pmus = done;
	return ret;
}

static int take_groups(struct attrs *attrs, struct reading *in)
{
	uint32_t n;

	if (!get_32(in, &n))
		return -EBADMSG;
	for (uint32_t i = 0; i < n && i < UINT16_MAX; i++) {
		uint32_t leader, members;
		const char *name;
		size_t len;

		if (!get_text(in, &name, &len) || !get_32(in, &leader) || !get_32(in, &members))
			return -EBADMSG;
		if (leader >= attrs->n || members > attrs->n - leader)
			return -EBADMSG;
		for (size_t k = leader; k < leader + members; k++)
			attrs->list[k].group = (uint16_t)(i + 1);
	}
	return 0;
}

static int take_event_desc(struct attrs *attrs, struct reading *in)
{
	uint32_t n, attr_size;

	if (!get_32(in, &n) || !get_32(in, &attr_size))
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		const char *text;
		uint64_t id;
		uint32_t n_ids;
		size_t len;

		if (attr_size > left(in))
			return -EBADMSG;
		in->at += attr_size;
		if (!get_32(in, &n_ids) || !get_text(in, &text, &len) || n_ids > left(in) / 8)
			return -EBADMSG;
		if (n_ids)
			id = swap_get_64(in->at, in->swapped);
		attrs_name(attrs, n_ids ? &id : NULL, i, text, len);
		in->at += (size_t)n_ids * 8;
	}
	return 0;
}

int features_hold(struct features *features, uint64_t bytes)
{
	if (bytes > HELD_MAX - features->held_bytes)
		return -EBADMSG;
	features->held_bytes += bytes;
	return 0;
}

int features_build_id(
	struct features *features, const uint8_t *bytes, size_t len, uint16_t misc, bool swapped)
{
	struct reader_info *info = &features->info;
	struct reader_build_id *entry;
	struct perfdata_build_id raw;

	if (len < sizeof(raw))
		return -EBADMSG;
	memcpy(&raw, bytes, sizeof(raw));
	if (features_hold(features, len + sizeof(*entry)))
		return -EBADMSG;
	if (grow_items(&info->build_ids, &features->build_ids_capacity, info->n_build_ids + 1,
		    sizeof(*entry)))
		return -ENOMEM;
	entry = &info->build_ids[info->n_build_ids];
	*entry = (struct reader_build_id){
		.pid = (int32_t)swap_32((uint32_t)raw.pid, swapped),
		.cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.build_id_len = sizeof(raw.build_id),
	};
	if ((misc & PERFDATA_BUILD_ID_HAS_SIZE) && raw.size <= sizeof(raw.build_id))
		entry->build_id_len = raw.size;
	memcpy(entry->build_id, raw.build_id, entry->build_id_len);
	entry->path = strndup((const char *)bytes + sizeof(raw), len - sizeof(raw));
	if (!entry->path)
		return -ENOMEM;
	info->n_build_ids++;
	return 0;
}

static int take_build_ids(struct features *features, struct reading *in)
{
	while (left(in)) {
		struct perf_event_header header;
		int ret;

		if (left(in) < sizeof(header))
			return -EBADMSG;
		memcpy(&header, in->at, sizeof(header));
		header.size = swap_16(header.size, in->swapped);
		if (header.size < sizeof(header) || header.size > left(in))
			return -EBADMSG;
		ret = features_build_id(features, in->at, header.size,
			swap_16(header.misc, in->swapped), in->swapped);
		if (ret)
			return ret;
		in->at += header.size;
	}
	return 0;
}

int features_tracing_data(struct features *features, struct attrs *attrs, void *bytes, size_t len)
{
	struct reader_info *info = &features->info;
	struct tracing *tracing;
	int ret;

	if (features_hold(features, len)) {
		free(bytes);
		return -EBADMSG;
	}
	free(info->tracing_data);
	info->tracing_data = bytes;
	info->tracing_data_len = len;
	ret = tracing_new(&tracing, bytes, len);
	if (ret)
		return ret;
	attrs_name_tracepoints(attrs, tracing);
	tracing_free(tracing);
	return 0;
}

int features_kept(struct features *features, const uint8_t *bytes, size_t len)
{
	struct reader_info *info = &features->info;
	int ret;

	if (len > READER_KEPT_MAX - features->kept_len)
		return -EBADMSG;
	if (!info->kept_fd) {
		const int fd = memfd_create("strobe-kept", MFD_CLOEXEC);

		if (fd < 0)
			return errno == ENOMEM ? -ENOMEM : -EBADMSG;
		info->kept_fd = fd;
	}
	ret = whole_write(info->kept_fd, bytes, len, NULL);
	if (ret)
		return ret == -EFBIG ? ret : -ENOMEM;
	features->kept_len += len;
	return 0;
}

static int take_numbers(struct features *features, unsigned int feature, struct reading *in)
{
	struct reader_info *info = &features->info;
	uint64_t version;

	switch (feature) {
	case PERFDATA_NRCPUS:
		/* perf writes this order; its document has the other one. */
		if (!get_32(in, &info->cpus_available) || !get_32(in, &info->cpus_online))
			return -EBADMSG;
		return 0;
	case PERFDATA_TOTAL_MEM:
		return get_64(in, &info->total_mem_kb) ? 0 : -EBADMSG;
	case PERFDATA_SAMPLE_TIME:
		if (!get_64(in, &info->first_sample_ns) || !get_64(in, &info->last_sample_ns))
			return -EBADMSG;
		return 0;
	case PERFDATA_CLOCKID:
		info->has_clockid = get_64(in, &info->clockid);
		return info->has_clockid ? 0 : -EBADMSG;
	case PERFDATA_DIR_FORMAT:
		/* Version 0 (perf record --kcore) keeps all records in the file of the header. */
		if (!get_64(in, &version))
			return -EBADMSG;
		features->is_directory = version > 0;
		return 0;
	case PERFDATA_COMPRESSED:
		info->compressed = true;
		return 0;
	}
	return 0;
}

int features_take(struct features *features, struct attrs *attrs, unsigned int feature,
	const uint8_t *bytes, size_t len, bool swapped)
{
	struct reader_info *info = &features->info;
	struct reading in = {bytes, bytes + len, swapped};
	void *copy;
	int ret;

	switch (feature) {
	case PERFDATA_HOSTNAME:
		return get_string(&in, &info->hostname);
	case PERFDATA_OSRELEASE:
		return get_string(&in, &info->release);
	case PERFDATA_VERSION:
		return get_string(&in, &info->perf_version);
	case PERFDATA_ARCH:
		return get_string(&in, &info->arch);
	case PERFDATA_CPUDESC:
		return get_string(&in, &info->cpu_desc);
	case PERFDATA_CPUID:
		return get_string(&in, &info->cpu_id);
	case PERFDATA_CMDLINE:
		return take_cmdline(info, &in);
	case PERFDATA_PMU_MAPPINGS:
		return take_pmus(info, &in);
	case PERFDATA_GROUP_DESC:
		return take_groups(attrs, &in);
	case PERFDATA_EVENT_DESC:
		ret = take_event_desc(attrs, &in);
		attrs_name_cgroups(attrs, info->cmdline, info->n_cmdline);
		return ret;
	case PERFDATA_BUILD_ID:
		return take_build_ids(features, &in);
	case PERFDATA_TRACING_DATA:
		copy = malloc(len ? len : 1);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, bytes, len);
		return features_tracing_data(features, attrs, copy, len);
	case PERFDATA_SIMPLEPERF_META_INFO:
		return told_meta(features, attrs, bytes, len);
	case PERFDATA_SIMPLEPERF_FILE:
	case PERFDATA_SIMPLEPERF_FILE2:
		return told_files(features, feature, bytes, len, swapped);
	}
	return take_numbers(features, feature, &in);
}
