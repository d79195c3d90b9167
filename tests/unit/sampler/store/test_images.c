/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_images.c - mappings of one image, and the lifetime of an image.
 */
#include "sampler/store/images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint32_t intern(struct images *images, struct image key, const char *path)
{
	char copy[64];
	uint32_t id;

	snprintf(copy, sizeof(copy), "%s", path);
	key.path = copy;
	assert_int_equal(images_intern(images, &key, &id), 0);
	memset(copy, 'x', sizeof(copy)); /* the table must have its own copy */
	return id;
}

static int setup(void **state)
{
	struct images *images;

	assert_int_equal(images_new(&images), 0);
	*state = images;
	return 0;
}

static int teardown(void **state)
{
	images_free(*state);
	return 0;
}

static void test_reserved(void **state)
{
	struct images *images = *state;

	assert_int_equal(images_get(images, IMAGE_ID_UNKNOWN)->kind, IMAGE_UNKNOWN);
	assert_int_equal(images_get(images, IMAGE_ID_KERNEL)->kind, IMAGE_KERNEL);
	assert_int_equal(
		intern(images, (struct image){.kind = IMAGE_KERNEL}, "[kernel]"), IMAGE_ID_KERNEL);
	assert_int_equal(
		intern(images, (struct image){.kind = IMAGE_UNKNOWN}, "?"), IMAGE_ID_UNKNOWN);
	assert_null(images_get(images, images_count(images)));
	assert_null(images_get(images, UINT32_MAX));
	images_free(NULL);
}

static void test_inode(void **state)
{
	struct images *images = *state;
	const struct image key = {.kind = IMAGE_FILE, .dev_major = 8, .dev_minor = 1, .inode = 77};
	struct image other = key;
	uint32_t id = intern(images, key, "/bin/a");

	assert_int_equal(images_get(images, id)->id, id);
	assert_string_equal(images_get(images, id)->path, "/bin/a");
	assert_int_equal(images_get(images, id)->inode, 77);
	/* Other files with this path. */
	other.inode = 78;
	assert_int_not_equal(intern(images, other, "/bin/a"), id);
	other = key;
	other.dev_minor = 2;
	assert_int_not_equal(intern(images, other, "/bin/a"), id);
}

/* 64-bit processes share one vdso, 32-bit processes another. */
static void test_vdso(void **state)
{
	struct images *images = *state;
	uint32_t wide = intern(images, (struct image){.kind = IMAGE_VDSO}, "[vdso]");
	uint32_t narrow = intern(images, (struct image){.kind = IMAGE_VDSO, .inode = 1}, "[vdso]");

	assert_int_not_equal(wide, narrow);
	assert_int_equal(intern(images, (struct image){.kind = IMAGE_VDSO}, "[vdso]"), wide);
	assert_int_equal(
		intern(images, (struct image){.kind = IMAGE_VDSO, .inode = 1}, "[vdso]"), narrow);
}

/* /proc/PID/maps has no inode generation, but MMAP2 has. One file must not become two images. */
static void test_generation(void **state)
{
	struct images *images = *state;
	struct image key = {.kind = IMAGE_FILE, .dev_major = 8, .dev_minor = 1, .inode = 77};
	uint32_t first = intern(images, key, "/bin/a"), second;

	key.inode_generation = 5;
	assert_int_equal(intern(images, key, "/bin/a"), first);
	key.inode_generation = 6;
	second = intern(images, key, "/bin/a");
	assert_int_not_equal(second, first);
	key.inode_generation = 5;
	assert_int_equal(intern(images, key, "/bin/a"), first);
	key.inode_generation = 0;
	assert_int_equal(intern(images, key, "/bin/a"), second);
}

/* A file that is overwritten keeps its inode but becomes another image, if its size and time are
 * known. */
static void test_written_over(void **state)
{
	struct image first = {.kind = IMAGE_FILE,
		.path = (char[]){"/a"},
		.dev_major = 8,
		.inode = 5,
		.inode_generation = 7};
	struct images *images = *state;
	uint64_t size, mtime_ns;
	uint32_t a, b, again;

	/* Seen before the file was examined. */
	assert_int_equal(images_intern(images, &first, &a), 0);
	images_file(images, a, &size, &mtime_ns);
	assert_true(!size && !mtime_ns);
	first.file_size = 100;
	first.file_mtime_ns = 1000;
	assert_int_equal(images_intern(images, &first, &again), 0);
	assert_int_equal(again, a);
	images_file(images, a, &size, &mtime_ns);
	assert_true(size == 100 && mtime_ns == 1000);

	struct image second = first;
	second.file_mtime_ns = 1001;
	assert_int_equal(images_intern(images, &second, &b), 0);
	assert_int_not_equal(b, a);
	second.file_size = 101;
	assert_int_equal(images_intern(images, &second, &again), 0);
	assert_true(again != a && again != b);
	/* Without size and time, the latest image counts. */
	second.file_size = second.file_mtime_ns = 0;
	assert_int_equal(images_intern(images, &second, &b), 0);
	assert_int_equal(b, again);
	assert_int_equal(images_intern(images, &first, &again), 0);
	assert_int_equal(again, a);
}

static void test_build_id_and_path(void **state)
{
	struct images *images = *state;
	struct image key = {.kind = IMAGE_FILE, .build_id = {1, 2, 3}, .build_id_len = 20};
	uint32_t id = intern(images, key, "/bin/a"), by_path;

	key.build_id[19] = 1;
	assert_int_not_equal(intern(images, key, "/bin/a"), id);
	by_path = intern(images, (struct image){.kind = IMAGE_FILE}, "/bin/a");
	assert_int_not_equal(by_path, id);
	assert_int_equal(intern(images, (struct image){.kind = IMAGE_FILE}, "/bin/a"), by_path);
	assert_int_not_equal(intern(images, (struct image){.kind = IMAGE_FILE}, "/bin/A"), by_path);
	assert_int_not_equal(intern(images, (struct image){.kind = IMAGE_VDSO}, "/bin/a"), by_path);
}

static void test_anonymous_by_space(void **state)
{
	struct images *images = *state;
	const struct image one = {.kind = IMAGE_ANON, .inode = 1},
			   two = {.kind = IMAGE_ANON, .inode = 2};
	uint32_t id = intern(images, one, "[anon]");

	assert_int_equal(intern(images, one, "[anon]"), id);
	assert_int_not_equal(intern(images, two, "[anon]"), id);
}

static void test_lifetime(void **state)
{
	struct images *images = *state;
	const struct image key = {.kind = IMAGE_FILE};
	uint32_t gone = intern(images, key, "/gone"), stays = intern(images, key, "/stays"), next;
	size_t memory = images_memory(images);

	images_ref(images, gone);
	images_ref(images, gone);
	images_ref(images, stays);
	images_pin(images, stays);
	images_unref(images, gone);
	assert_string_equal(images_get(images, gone)->path, "/gone");
	images_unref(images, gone);
	images_unref(images, stays);
	assert_null(images_get(images, gone));
	assert_string_equal(images_get(images, stays)->path, "/stays");
	assert_int_equal(intern(images, key, "/stays"), stays);

	/* The id is free for another image. Any number of images come and go in constant memory. */
	for (int i = 0; i < 10000; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/%05d", i % 10);
		next = intern(images, key, path);
		assert_int_equal(next, gone);
		images_ref(images, next);
		images_unref(images, next);
	}
	assert_true(images_memory(images) <= memory);
}

static void test_many(void **state)
{
	struct images *images = *state;
	const struct image *first = NULL;
	uint32_t ids[5000];

	for (unsigned int i = 0; i < 5000; i++) {
		ids[i] = intern(images,
			(struct image){.kind = IMAGE_FILE, .dev_major = 1, .inode = i}, "/f");
		if (!i)
			first = images_get(images, ids[0]);
	}
	assert_ptr_equal(images_get(images, ids[0]), first);
	for (unsigned int i = 0; i < 5000; i++) {
		assert_int_equal(images_get(images, ids[i])->inode, i);
		assert_int_equal(
			intern(images,
				(struct image){.kind = IMAGE_FILE, .dev_major = 1, .inode = i},
				"/f"),
			ids[i]);
	}
}

static void test_origin(void **state)
{
	struct images *images = *state;
	uint32_t id = intern(images, (struct image){.kind = IMAGE_FILE}, "/a");
	struct image_origin origin;

	images_origin(images, id, &origin);
	assert_int_equal(origin.pid, 0);
	images_set_origin(
		images, id, &(struct image_origin){.pid = 4, .map_start = 1, .map_end = 2});
	images_origin(images, id, &origin);
	assert_int_equal(origin.pid, 4);
	assert_int_equal(origin.map_end, 2);
}

static void test_late_build_id(void **state)
{
	struct images *images = *state;
	const struct image known = {.kind = IMAGE_FILE, .build_id = {7, 7, 7}, .build_id_len = 3};
	uint32_t id = intern(images, (struct image){.kind = IMAGE_FILE, .inode = 9}, "/bin/late");
	uint32_t other = intern(images, known, "/bin/known");
	uint8_t build_id[IMAGE_BUILD_ID_MAX];

	assert_int_equal(images_build_id(images, id, build_id), 0);
	images_set_build_id(images, id, (const uint8_t[]){1, 2, 3, 4}, 4);
	assert_int_equal(images_build_id(images, id, build_id), 4);
	assert_memory_equal(build_id, ((const uint8_t[]){1, 2, 3, 4, 0}), 5);
	/* The image stays the same. */
	assert_int_equal(
		intern(images, (struct image){.kind = IMAGE_FILE, .inode = 9}, "/bin/late"), id);
	images_set_build_id(images, other, (const uint8_t[]){1, 2, 3, 4}, 4);
	assert_int_equal(images_build_id(images, other, build_id), 3);
	assert_int_equal(build_id[0], 7);
}

static void test_paths_apart(void **state)
{
	struct images *images = *state;
	const struct image file = {.kind = IMAGE_FILE, .inode = 9};
	const struct image built = {.kind = IMAGE_FILE, .build_id = {7, 7, 7}, .build_id_len = 3};
	uint32_t id;

	id = intern(images, file, "/bin/a");
	assert_int_not_equal(intern(images, file, "/bin/b"), id);
	assert_int_equal(intern(images, file, "/bin/a"), id);
	id = intern(images, built, "/bin/a");
	assert_int_not_equal(intern(images, built, "/bin/b"), id);
	assert_int_equal(intern(images, built, "/bin/a"), id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reserved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_generation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_written_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_id_and_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_anonymous_by_space, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lifetime, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_origin, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_paths_apart, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
