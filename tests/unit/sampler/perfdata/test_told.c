// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_told.c - simpleperf's sections, whole, truncated and damaged, and their effect on mappings.
 */
#include "sampler/perfdata/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "/lib/a.so", with code from 0x1000 of the file on, at address 0x3000: "f" and "g". */
static const uint8_t proto[] = "\x2a\0\0\0\x0a\x09/lib/a.so\x10\x02\x18\x80\x60"
			       "\x22\x09\x08\x80\x60\x10\x40\x1a\x02"
			       "f\n\x22\x08\x08\xc0\x60\x10\x20\x1a\x01g\x32\x03\x08\x80\x20";
/* A section of the old kind, which has no file offsets: "f" only. */
static const uint8_t fixed[] = "\x28\0\0\0/lib/a.so\0\2\0\0\0\0\x30\0\0\0\0\0\0\1\0\0\0"
			       "\0\x30\0\0\0\0\0\0\x40\0\0\0f";

static int take(struct features *features, unsigned int feature, const void *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct attrs attrs = {0};

	assert_non_null(copy);
	memcpy(copy, bytes, len); /* a sanitizer detects reads outside of the copy */
	const int ret = features_take(features, &attrs, feature, copy, len, false);
	free(copy);
	attrs_fini(&attrs);
	return ret;
}

static void test_files(void **state)
{
	static const char names[] = "1000 40 f?\n1040 20 g\n";
	struct features features = {0};
	struct record_mmap mmap = {.filename = "/lib/a.so", .pgoff = 0x1000, .start = 0x7000};
	char path[READER_TOLD_PATH];

	(void)state;
	assert_int_equal(take(&features, PERFDATA_SIMPLEPERF_FILE2, proto, sizeof(proto) - 1), 0);
	const struct reader_told *told = told_find(&features.info, "/lib/a.so (deleted)");
	assert_non_null(told);
	assert_int_equal(told->len, strlen(names));
	assert_memory_equal(told->names, names, told->len);
	assert_null(told_find(&features.info, "/lib/b.so"));
	told_map(&features.info, &mmap, path);
	assert_true(mmap.executable);
	assert_int_equal(mmap.pgoff, 0x1000);
	features_fini(&features);
}

static void test_old(void **state)
{
	struct features features = {0};
	struct record_mmap mmap = {.filename = "/lib/a.so", .pgoff = 0x1000, .start = 0x7000};
	char path[READER_TOLD_PATH];

	(void)state;
	assert_int_equal(take(&features, PERFDATA_SIMPLEPERF_FILE, fixed, sizeof(fixed)), 0);
	assert_int_equal(features.info.n_told, 1);
	assert_memory_equal(features.info.told[0].names, "3000 40 f\n", 10);
	told_map(&features.info, &mmap, path);
	assert_int_equal(mmap.pgoff, 0x3000);
	mmap.prot = 0x4005; /* code generated at run time */
	told_map(&features.info, &mmap, path);
	assert_int_equal(mmap.pgoff, 0x7000);
	features_fini(&features);
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t len = 1; len < sizeof(proto) - 1; len++) {
		struct features features = {0};

		assert_int_equal(take(&features, PERFDATA_SIMPLEPERF_FILE2, proto, len), -EBADMSG);
		if (len < sizeof(fixed))
			assert_int_equal(
				take(&features, PERFDATA_SIMPLEPERF_FILE, fixed, len), -EBADMSG);
		assert_int_equal(features.info.n_told, 0);
		features_fini(&features);
	}
}

static void test_meta(void **state)
{
	static const char meta[] = "event_type_info\0made,4,424\nbad\nworse,\n,1,2\0"
				   "simpleperf_version\0"
				   "1.2\0product_props\0Google:Made\0cut";
	uint8_t bytes[PERF_ATTR_SIZE_VER0] = {4};
	struct features features = {0};
	struct attrs attrs = {0};

	(void)state;
	bytes[8] = 424 & 255;
	bytes[9] = 424 >> 8;
	assert_int_equal(attrs_add(&attrs, bytes, sizeof(bytes), NULL, 0, false), 0);
	bytes[8]++;
	assert_int_equal(attrs_add(&attrs, bytes, sizeof(bytes), NULL, 0, false), 0);
	assert_int_equal(features_take(&features, &attrs, PERFDATA_SIMPLEPERF_META_INFO,
				 (const uint8_t *)meta, sizeof(meta) - 1, false),
		-EBADMSG);
	assert_string_equal(features.info.recorder, "simpleperf 1.2");
	assert_string_equal(features.info.device, "Google:Made");
	assert_string_equal(attrs.list[0].name, "made");
	assert_false(attrs.list[1].is_named);
	assert_int_equal(attrs_add_id(&attrs, 2, 7), -EBADMSG);
	features_fini(&features);
	attrs_fini(&attrs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_meta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
