// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * cgroups.c - see cgroups.h.
 */
#include "tui/session/cgroups.h"

#include "sampler/control/status.h"
#include "sampler/events/event.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/explain/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cgroups_explain(
	const struct cgroup_mounts *mounts, const char *name, int error, char *out, size_t size)
{
	const char *root = cgroup_root(mounts);
	char near[PATH_MAX] = "";
	struct text text = {0};

	text_add(&text, "-G '%.200s': ", name);
	switch (error) {
	case ENODEV:
		text_add(&text,
			"no hierarchy of cgroups that events can use is mounted. Mount one with: "
			"sudo mount -t cgroup2 none /sys/fs/cgroup%s",
			mounts->other[0] ? "/unified, or: sudo mount -t cgroup -o perf_event none "
					   "/sys/fs/cgroup/perf_event"
					 : "");
		break;
	case ENOENT:
		cgroup_near(mounts, name, near, sizeof(near));
		text_add(&text, "there is no such cgroup below %s", root ? root : "?");
		if (near[0])
			text_add(&text, "; did you mean '%.300s'?", near);
		else
			text_add(&text,
				", nor a container whose id begins so. List them with: find %s "
				"-type d",
				root ? root : "/sys/fs/cgroup");
		break;
	case EXDEV:
		text_add(&text,
			"it is in a hierarchy that events do not use. Name the cgroup of the same "
			"tasks below %s (cat /proc/PID/cgroup)",
			root ? root : "?");
		break;
	case EEXIST:
		text_add(&text, "several containers have an id that begins so: give more digits");
		break;
	case EACCES:
	case EPERM:
		text_add(&text,
			"this user may not look into %s. Run strobe as root, or name the cgroup "
			"by its path",
			root ? root : "?");
		break;
	default:
		text_add(&text, "%s",
			strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error");
		break;
	}
	clean_string(out, size, text.bytes);
}

static bool is_taken(const struct event_cgroup *cgroups, size_t n, const char *label)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(cgroups[i].label, label))
			return true;
	return false;
}

/* Returns the last component of a path; if another cgroup has that label, the shortest end of the
 * path that differs. */
static const char *label_of(const struct cgroup_mounts *mounts, const char *path,
	const struct event_cgroup *others, size_t n)
{
	char label[CGROUP_LABEL_MAX];
	const char *begin = path + strlen(path);
	unsigned int number = 2;

	cgroup_label(mounts, path, label);
	while (is_taken(others, n, label) && begin > path) {
		for (begin--; begin > path && begin[-1] != '/';)
			begin--;
		snprintf(label, sizeof(label), "%s", begin);
	}
	while (is_taken(others, n, label))
		snprintf(label, sizeof(label), "cgroup %u", number++);
	return event_text(label, strlen(label));
}

static bool is_known(const struct event_cgroup *cgroups, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(cgroups[i].path, path))
			return true;
	return false;
}

int cgroups_find(const struct cgroup_mounts *mounts, char *const *names, size_t n,
	struct event_cgroup out[CGROUPS_MAX], size_t *n_out, char *message, size_t size)
{
	char path[PATH_MAX];

	*n_out = 0;
	for (size_t i = 0; i < n; i++) {
		struct event_cgroup *cgroup = &out[*n_out];
		int ret = cgroup_find(mounts, names[i], path, sizeof(path));

		if (!ret && *n_out == CGROUPS_MAX)
			ret = -E2BIG;
		if (ret) {
			cgroups_explain(mounts, names[i], -ret, message, size);
			return ret;
		}
		if (is_known(out, *n_out, path))
			continue;
		cgroup->path = event_text(path, strlen(path));
		cgroup->label = label_of(mounts, path, out, *n_out);
		if (!cgroup->path || !cgroup->label) {
			cgroups_explain(mounts, names[i], ENOMEM, message, size);
			return -ENOMEM;
		}
		++*n_out;
	}
	return 0;
}

void cgroups_empty(const struct event_cgroup *cgroups, size_t n, char *out, size_t size)
{
	struct text text = {0};
	size_t empty = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		int32_t *pids;
		size_t n_pids;

		if (cgroup_pids(cgroups[i].path, &pids, &n_pids) || n_pids) {
			free(pids);
			continue;
		}
		text_add(&text, "%s'%s'", empty++ ? ", " : "", cgroups[i].label);
	}
	if (!empty)
		return;
	text_add(&text, ": %s no task now; what one does there will be seen",
		empty == 1 ? "this cgroup has" : "these cgroups have");
	clean_string(out, size, text.bytes);
}

int cgroups_pids(const struct event_cgroup *cgroups, size_t n, int32_t **pids, size_t *n_pids)
{
	int32_t *all = NULL;
	size_t n_all = 0;

	*pids = NULL;
	*n_pids = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t *found;
		size_t more;
		int ret = cgroup_pids(cgroups[i].path, &found, &more);

		if (!ret && more) {
			ret = grow_exact(&all, n_all + more, sizeof(*all));
			for (size_t k = 0; k < more && !ret; k++)
				all[n_all++] = found[k];
		}
		free(found);
		if (ret) {
			free(all);
			return ret;
		}
	}
	*pids = all;
	*n_pids = n_all;
	return 0;
}

void cgroups_describe(const struct event_cgroup *cgroups, size_t n, char *out, size_t size)
{
	struct text text = {0};

	if (n == 1) {
		text_add(&text, "cgroup %s", cgroups[0].label);
	} else {
		text_add(&text, "%zu cgroups: ", n);
		for (size_t i = 0; i < n; i++)
			text_add(&text, "%s%s", i ? ", " : "", cgroups[i].label);
	}
	snprintf(out, size, "%s", text.bytes);
}

/* Returns true if two events differ only in their cgroup, which ends their names. */
static bool differs_by_cgroup(
	const struct engine_event_status *a, const struct engine_event_status *b)
{
	size_t a_len, b_len;

	if (!a->cgroup || !b->cgroup)
		return false;
	a_len = strlen(a->name) - strlen(a->cgroup);
	b_len = strlen(b->name) - strlen(b->cgroup);
	return a_len == b_len && !memcmp(a->name, b->name, a_len);
}

bool cgroups_stand_for(const struct engine_status *status, uint8_t stands_for[STORE_EVENTS_MAX])
{
	bool any = false;

	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		stands_for[i] = (uint8_t)i;
	for (size_t i = 0; i < status->n_events; i++)
		for (size_t j = 0; j < i; j++) {
			const struct engine_event_status *one = &status->events[i];
			const struct engine_event_status *first = &status->events[j];

			if (stands_for[one->id] == one->id && differs_by_cgroup(one, first))
				stands_for[one->id] = stands_for[first->id];
		}
	for (size_t i = 0; i < status->n_events; i++)
		any |= status->events[i].cgroup != NULL;
	return any;
}

void cgroups_label(const struct engine_status *status, struct cgroup_labels *labels)
{
	memset(labels->of, 0, sizeof(labels->of));
	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];

		if (event->cgroup)
			labels->of[event->id] = clean_string(
				labels->bytes[event->id], sizeof(labels->bytes[0]), event->cgroup);
	}
}
