// SPDX-License-Identifier: GPL-3.0-or-later
/* pfm.c - loads three functions of libpfm4 when first needed, because its tables take 2 MB. */
#include "sampler/machine/pfm.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define PFM_SONAME "libpfm.so.4"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock, held while the library works: it promises no thread safety. */
static bool tried;
static __typeof__(&pfm_initialize) initialize;
static __typeof__(&pfm_get_os_event_encoding) get_encoding;

static bool find(void *handle, const char *name, void *function)
{
	void *symbol = dlsym(handle, name);

	/* ISO C has no conversion from an object pointer to a function pointer. */
	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static void load(void)
{
	void *handle = dlopen(PFM_SONAME, RTLD_LAZY | RTLD_LOCAL);

	tried = true;
	if (!handle)
		return;
	if (!find(handle, "pfm_initialize", &initialize) ||
		!find(handle, "pfm_get_os_event_encoding", &get_encoding) ||
		initialize() != PFM_SUCCESS)
		get_encoding = NULL;
}

int pfm_encode(const char *name, struct perf_event_attr *attr)
{
	/* The library writes the attr of its own headers' size. */
	struct perf_event_attr answer = {.size = sizeof(answer)};
	pfm_perf_encode_arg_t arg = {.attr = &answer, .size = sizeof(arg)};
	int ret = PFM_ERR_NOTSUPP;

	pthread_mutex_lock(&lock);
	if (!tried)
		load();
	if (get_encoding)
		ret = get_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	else
		ret = PFM_ERR_NOINIT;
	pthread_mutex_unlock(&lock);
	switch (ret) {
	case PFM_SUCCESS:
		attr->type = answer.type;
		attr->config = answer.config;
		attr->config1 = answer.config1;
		attr->config2 = answer.config2;
		attr->exclude_user = answer.exclude_user;
		attr->exclude_kernel = answer.exclude_kernel;
		attr->exclude_hv = answer.exclude_hv;
		return 0;
	case PFM_ERR_NOINIT:
		return -ENOPKG;
	case PFM_ERR_NOMEM:
		return -ENOMEM;
	case PFM_ERR_NOTFOUND:
	case PFM_ERR_NOTSUPP:
		return -ENOENT;
	default:
		return -EINVAL;
	}
}
