/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_loader.c - files that kill or stop the worker, wrong files, the cache; and their notes.
 *
 * The worker is forked from this program, so it runs the hook that is set here. The hook acts by
 * the first bytes of a file.
 */
#include "symbols/client/symbols.h"
#include "symbols/loader/loader.h"

#include "symbols/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "name_bomb.h"
#include "no_process.h"
#include "small_elf.h"

static char dir[64], cache_dir[96];
static struct loader *loader;
/* seen by all workers; [0]: files given to them, [1]: reads of ONCE and HALF files, [2]: ends
 * WAIT */
static volatile sig_atomic_t *shared;

static void hook(int fd, const char *name)
{
	char text[8] = "", half[40];

	(void)name;
	if (fd < 0)
		return;
	shared[0]++;
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		return;
	if (strncmp(text, "KILL", 4) == 0)
		raise(SIGKILL);
	if (strncmp(text, "ONCE", 4) == 0 && shared[1]++ == 0)
		abort();
	/* After reading a part of it. */
	if (strncmp(text, "HALF", 4) == 0 && shared[1]++ == 0 && read(fd, half, sizeof(half)) > 0)
		abort();
	while (strncmp(text, "WAIT", 4) == 0 && shared[2] == 0)
		;
	/* In the padding of an ELF header. */
	if (pread(fd, text, 4, EI_PAD) == 4 && strncmp(text, "WAIT", 4) == 0)
		while (shared[2] == 0)
			;
	if (strncmp(text, "SPIN", 4) == 0)
		for (volatile int i = 0;; i++)
			;
}

static void start(const char *cache, const char *kallsyms)
{
	const struct symbols_config config = {.cache_dir = cache, .kallsyms_path = kallsyms};

	worker_test_hook = hook;
	assert_int_equal(loader_new(&loader, &config), 0);
}

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-loader-XXXXXX");
	if (shared == MAP_FAILED || !mkdtemp(dir))
		return -1;
	snprintf(cache_dir, sizeof(cache_dir), "%s/cache", dir);
	return 0;
}

static void empty(const char *path)
{
	struct dirent *entry;
	DIR *d = opendir(path);

	while (d && (entry = readdir(d)))
		if (entry->d_type == DT_REG)
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

static int teardown(void **state)
{
	(void)state;
	loader_free(loader);
	loader = NULL;
	munmap((void *)(uintptr_t)shared, 4096);
	empty(cache_dir);
	empty(dir);
	return 0;
}

static const char *make_file(const char *name, const void *bytes, size_t len)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	return path;
}

static const char *make_elf(const char *name)
{
	static const struct small_symbol symbols[] = {
		{"function", SMALL_TEXT_ADDR, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
		{"function.c", 0, 0, ELF64_ST_INFO(STB_LOCAL, STT_FILE), SHN_ABS},
	};
	struct small_elf small;

	small_elf_make(&small, true, false, symbols, 2);
	return make_file(name, small.bytes, small.len);
}

/* Loads one image. Returns the answer, for loader_image_free(). */
static struct loader_image *load(const struct symbols_source *source)
{
	struct loader_image *image = calloc(1, sizeof(*image)), *images = NULL;
	struct pollfd pfd = {.fd = loader_fd(loader), .events = POLLIN};
	struct loader_name *names;

	assert_non_null(image);
	image->source = *source;
	image->source.path = strdup(source->path);
	loader_post_image(loader, image);
	while (!images) {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		loader_collect(loader, &images, &names);
		assert_null(names);
	}
	assert_ptr_equal(images, image);
	return image;
}

static enum symbols_state load_path(const char *path)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path};
	struct loader_image *image = load(&source);
	enum symbols_state state = image->state;

	loader_image_free(image);
	return state;
}

static void expect_note(enum symbols_note_kind kind, const char *path, int error)
{
	struct symbols_note note;

	assert_true(loader_take_note(loader, &note));
	assert_int_equal(note.kind, kind);
	assert_string_equal(note.path, path);
	assert_int_equal(note.error, error);
	if (kind == SYMBOLS_NOTE_WORKER_DIED)
		assert_true(note.value != 0);
}

static void expect_no_note(void)
{
	struct symbols_note note;

	assert_false(loader_take_note(loader, &note));
}

static void test_killer(void **state)
{
	(void)state;
	start("", NULL);
	const char *path = make_file("killer", "KILL", 4);
	assert_int_equal(load_path(path), SYMBOLS_UNREADABLE);
	expect_note(SYMBOLS_NOTE_WORKER_DIED, path, 0);
	expect_note(SYMBOLS_NOTE_WORKER_DIED, path, 0);
	expect_note(SYMBOLS_NOTE_FILE_BANNED, path, 0);
	assert_int_equal(shared[0], 2);
	/* The next file gets a new worker. */
	assert_int_equal(load_path(make_elf("good")), SYMBOLS_READY);
	expect_no_note();
}

/* Worker and spawner are killed while they read a file: new ones read it and later files. */
static void test_killed_spawner(void **state)
{
	struct loader_image *image = calloc(1, sizeof(*image)), *images = NULL;
	struct loader_name *names;
	char path[128];

	(void)state;
	start("", NULL);
	assert_non_null(image);
	strcpy(path, make_elf("file"));
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "WAIT", 4, EI_PAD), 4);
	close(fd);
	image->source.path = strdup(path);
	loader_post_image(loader, image);
	while (shared[0] == 0)
		poll(NULL, 0, 1);
	int spawner = loader_spawner_pid(loader);
	assert_true(spawner > 0 && loader_worker_pid(loader) > 0);
	assert_int_equal(kill(spawner, SIGKILL), 0);
	kill(loader_worker_pid(loader), SIGKILL); /* it may have died with the spawner */
	struct pollfd pfd = {.fd = loader_fd(loader), .events = POLLIN};
	while (!images) {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		loader_collect(loader, &images, &names);
	}
	assert_int_equal(image->state, SYMBOLS_READY);
	assert_string_equal(image->table.pool + image->table.entries[0].name, "function");
	loader_image_free(image);
	expect_note(SYMBOLS_NOTE_WORKER_DIED, path, 0);
	expect_no_note();
	assert_int_not_equal(loader_spawner_pid(loader), spawner);
	assert_int_equal(load_path(make_elf("good")), SYMBOLS_READY);
	expect_no_note();
}

/* If no process can be made, one note gives that reason. */
static void test_no_process(void **state)
{
	struct rlimit old;

	(void)state;
	no_process_before(&old);
	start("", NULL);
	no_process_after(&old, loader_spawner_pid(loader));
	assert_int_equal(load_path(make_elf("first")), SYMBOLS_UNREADABLE);
	expect_note(SYMBOLS_NOTE_NO_WORKER, "", EAGAIN);
	assert_int_equal(load_path(make_elf("second")), SYMBOLS_UNREADABLE);
	expect_no_note();
}

static void test_second_try(void **state)
{
	(void)state;
	start("", NULL);
	const char *path = make_file("once", "ONCE", 4);
	assert_int_equal(load_path(path), SYMBOLS_UNREADABLE);
	expect_note(SYMBOLS_NOTE_WORKER_DIED, path, 0);
	/* The second worker read the file, which is not an ELF file. */
	expect_note(SYMBOLS_NOTE_UNREADABLE, path, ENOEXEC);
	expect_no_note();
}

static void test_endless(void **state)
{
	unsigned int cpu_ms = loader_file_cpu_ms;

	(void)state;
	loader_file_cpu_ms = 50;
	start("", NULL);
	const char *path = make_file("endless", "SPIN", 4);
	assert_int_equal(load_path(path), SYMBOLS_UNREADABLE);
	/* A second attempt would take equally long, so there is none. */
	expect_note(SYMBOLS_NOTE_FILE_BANNED, path, ETIME);
	expect_no_note();
	loader_file_cpu_ms = cpu_ms;
}

/* loader_free() does not wait for a busy worker, which ends. */
static void test_free_busy(void **state)
{
	struct loader_image *image = calloc(1, sizeof(*image));

	(void)state;
	start("", NULL);
	assert_non_null(image);
	image->source = (struct symbols_source){.kind = SYMBOLS_FILE};
	image->source.path = strdup(make_file("endless", "SPIN", 4));
	loader_post_image(loader, image);
	while (shared[0] == 0)
		poll(NULL, 0, 1);
	int pid = loader_worker_pid(loader);
	assert_true(pid > 0);
	int pidfd = pidfd_open(pid, 0);
	assert_true(pidfd >= 0);
	loader_free(loader);
	loader = NULL;
	/* Killed with its parent. */
	struct pollfd pfd = {.fd = pidfd, .events = POLLIN};
	assert_int_equal(poll(&pfd, 1, 60000), 1);
	close(pidfd);
}

static void test_unreadable(void **state)
{
	(void)state;
	start("", NULL);
	assert_int_equal(load_path("/nonexistent"), SYMBOLS_UNREADABLE);
	expect_note(SYMBOLS_NOTE_UNREADABLE, "/nonexistent", ENOENT);
	assert_int_equal(load_path("/dev/null"), SYMBOLS_UNREADABLE);
	expect_note(SYMBOLS_NOTE_UNREADABLE, "/dev/null", ENOEXEC);
	const char *path =
		make_file("text", "no ELF file, but longer than the header of one would be", 55);
	assert_int_equal(load_path(path), SYMBOLS_UNREADABLE);
	expect_note(SYMBOLS_NOTE_UNREADABLE, path, ENOEXEC);
}

/* Files are compared by device and inode; if these differ, by build-id. */
static void test_wrong_file(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_FILE, .inode = 12345678, .dev_major = 9};
	struct loader_image *image;
	struct stat st;

	(void)state;
	start("", NULL);
	source.path = make_elf("file");
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_UNREADABLE);
	loader_image_free(image);
	expect_note(SYMBOLS_NOTE_WRONG_FILE, source.path, 0);

	for (uint8_t i = 0; i < 20; i++)
		source.build_id[i] = (uint8_t)(i + 1);
	source.build_id_len = 20;
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_READY);
	loader_image_free(image);
	expect_no_note();

	source.build_id[7] ^= 1;
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_UNREADABLE);
	loader_image_free(image);
	expect_note(SYMBOLS_NOTE_WRONG_FILE, source.path, 0);

	assert_int_equal(stat(source.path, &st), 0);
	source.inode = st.st_ino;
	source.dev_major = major(st.st_dev);
	source.dev_minor = minor(st.st_dev);
	source.build_id_len = 0;
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_READY);
	loader_image_free(image);
	expect_no_note();
}

static void test_cache(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_FILE};
	struct loader_image *image;

	(void)state;
	start(cache_dir, NULL);
	source.path = make_elf("file");
	assert_int_equal(load_path(source.path), SYMBOLS_READY);
	assert_int_equal(shared[0], 2); /* its build-id, then its table */
	assert_int_equal(load_path(source.path), SYMBOLS_READY);
	assert_int_equal(shared[0], 3); /* its build-id */

	/* A build-id from the kernel is enough, even if the file is gone. */
	for (uint8_t i = 0; i < 20; i++)
		source.build_id[i] = (uint8_t)(i + 1);
	source.build_id_len = 20;
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_READY);
	loader_image_free(image);
	assert_int_equal(shared[0], 5);
	unlink(source.path);
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_READY);
	assert_string_equal(image->table.pool + image->table.entries[0].name, "function");
	loader_image_free(image);
	assert_int_equal(shared[0], 5);
	expect_no_note();
}

/* A stripped file has the build-id of the whole one: neither gets the table of the other. */
static void test_cache_same_build_id(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_FILE};
	struct small_elf small;

	(void)state;
	start(cache_dir, NULL);
	small_elf_make(&small, true, false, NULL, 0);
	source.path = make_file("stripped", small.bytes, small.len);
	assert_int_equal(load_path(source.path), SYMBOLS_NONE);
	source.path = make_elf("whole");
	assert_int_equal(load_path(source.path), SYMBOLS_READY);
	assert_int_equal(load_path(source.path), SYMBOLS_READY);
	assert_int_equal(shared[0], 5);
}

/* A user who can choose a build-id must not name functions of other users. */
static void test_cache_trust(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can give files away\n");
		skip();
	}
	start(cache_dir, NULL);
	const char *path = make_elf("file");
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(load_path(path), SYMBOLS_READY);
	assert_int_equal(load_path(path), SYMBOLS_READY);
	assert_int_equal(shared[0], 4);
}

/* A file of another user may have taken over its worker, which then only reads files of that
 * user. */
static void test_fresh_worker(void **state)
{
	char ours[2][128], theirs[2][128], others[128];

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can give files away\n");
		skip();
	}
	start("", NULL);
	for (int i = 0; i < 2; i++) {
		strcpy(ours[i], make_elf(i ? "our_a" : "our_b"));
		strcpy(theirs[i], make_elf(i ? "their_a" : "their_b"));
		assert_int_equal(chown(theirs[i], 65534, 65534), 0);
	}
	strcpy(others, make_elf("other"));
	assert_int_equal(chown(others, 65533, 65533), 0);

	assert_int_equal(load_path(ours[0]), SYMBOLS_READY);
	int first = loader_worker_pid(loader);
	assert_int_equal(load_path(ours[1]), SYMBOLS_READY);
	assert_int_equal(load_path(theirs[0]), SYMBOLS_READY);
	assert_int_equal(load_path(theirs[1]), SYMBOLS_READY);
	assert_int_equal(loader_worker_pid(loader), first);
	assert_int_equal(load_path(others), SYMBOLS_READY);
	int second = loader_worker_pid(loader);
	assert_int_not_equal(second, first);
	assert_int_equal(load_path(ours[0]), SYMBOLS_READY);
	int third = loader_worker_pid(loader);
	assert_int_not_equal(third, second);
	assert_int_equal(load_path(ours[1]), SYMBOLS_READY);
	assert_int_equal(loader_worker_pid(loader), third);
	expect_no_note();
}

static void test_kernel(void **state)
{
	static const char shown[] = "ffffffff81000000 T _stext\nffffffffc0001000 t f\t[mod]\n";
	static const char hidden[] = "0000000000000000 T _stext\n";
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	struct loader_image *image;

	(void)state;
	start(cache_dir, make_file("kallsyms", shown, sizeof(shown) - 1));
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_READY);
	assert_int_equal(image->table.n_entries, 2);
	loader_image_free(image);
	expect_no_note();
	loader_free(loader);

	const char *path = make_file("kallsyms", hidden, sizeof(hidden) - 1);
	start(cache_dir, path);
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_NONE);
	loader_image_free(image);
	expect_note(SYMBOLS_NOTE_KERNEL_HIDDEN, path, 0);
	loader_free(loader);

	start(cache_dir, "/nonexistent");
	image = load(&source);
	assert_int_equal(image->state, SYMBOLS_UNREADABLE);
	loader_image_free(image);
	expect_note(SYMBOLS_NOTE_UNREADABLE, "[kernel]", ENOENT);
}

/* A worker that died while reading has moved the shared file position. */
static void test_kernel_second_try(void **state)
{
	static const char text[] = "HALF\nffffffff81000000 T _stext\nffffffffc0001000 t f\t[mod]\n";
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};

	(void)state;
	start("", make_file("kallsyms", text, sizeof(text) - 1));
	struct loader_image *image = load(&source);
	assert_int_equal(image->state, SYMBOLS_READY);
	assert_int_equal(image->table.n_entries, 2);
	loader_image_free(image);
	expect_note(SYMBOLS_NOTE_WORKER_DIED, "[kernel]", 0);
	expect_no_note();
}

/* Files requested after the kernel are read before it. */
static void test_order(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\n";
	struct pollfd pfd;
	struct loader_image *images, *list;
	struct loader_name *names;
	char order[8] = "";
	size_t n = 0;

	(void)state;
	start("", make_file("kallsyms", text, sizeof(text) - 1));
	pfd = (struct pollfd){.fd = loader_fd(loader), .events = POLLIN};
	char *elf = strdup(make_elf("file")), *slow = strdup(make_file("slow", "WAIT", 4));
	for (uint32_t i = 0; i < 4; i++) {
		struct loader_image *image = calloc(1, sizeof(*image));
		assert_non_null(image);
		image->key = i;
		image->source.kind = i == 1 ? SYMBOLS_KERNEL : SYMBOLS_FILE;
		/* The first file keeps the thread busy until all are posted. */
		image->source.path = strdup(i == 0 ? slow : elf);
		loader_post_image(loader, image);
	}
	shared[2] = 1;
	while (n < 4) {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		loader_collect(loader, &images, &names);
		while ((list = images)) {
			order[n++] = (char)('0' + list->key);
			images = list->next;
			loader_image_free(list);
		}
	}
	assert_string_equal(order, "0231");
	free(elf);
	free(slow);
}

/* A name that takes too long is not demangled. Names before and after it are. */
static void test_bomb(void **state)
{
	struct pollfd pfd;
	char text[4][NAME_BOMB_BYTES] = {"_Z1fv", "", "_Z1gv", "main"};
	struct loader_name *names[4], *done;
	size_t n = 0;

	(void)state;
	name_bomb(text[1], NAME_BOMB_LEVELS);
	start("", NULL);
	for (int i = 0; i < 4; i++) {
		names[i] = calloc(1, sizeof(*names[i]) + sizeof(text[i]));
		assert_non_null(names[i]);
		memcpy(names[i]->name, text[i], sizeof(text[i]));
		loader_post_name(loader, names[i]);
	}
	pfd = (struct pollfd){.fd = loader_fd(loader), .events = POLLIN};
	while (n < 4) {
		struct loader_image *images;
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		loader_collect(loader, &images, &done);
		for (; done; done = done->next)
			n++;
	}
	assert_string_equal(names[0]->pretty, "f()");
	assert_null(names[1]->pretty);
	assert_string_equal(names[2]->pretty, "g()");
	assert_null(names[3]->pretty);
	for (int i = 0; i < 4; i++) {
		free(names[i]->pretty);
		free(names[i]);
	}
}

int main(int argc, char **argv)
{
	symbols_main(argc, argv);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_killer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_spawner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second_try, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endless, setup, teardown),
		cmocka_unit_test_setup_teardown(test_free_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cache_same_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cache_trust, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fresh_worker, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_second_try, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bomb, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
