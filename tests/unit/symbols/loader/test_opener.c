/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_opener.c - opens the right file, after any change of its path, and only regular files.
 */
#include "symbols/loader/opener.h"
#include "symbols/loader/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[128];
static void *page;

static void write_file(const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-opener-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	write_file("mapped");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return page == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(page, 1);
	unlink(path);
	return rmdir(dir);
}

static struct symbols_source source_of(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct symbols_source){
		.kind = SYMBOLS_FILE,
		.path = path,
		.pid = getpid(),
		.map_start = (uintptr_t)page,
		.map_end = (uintptr_t)page + (uintptr_t)sysconf(_SC_PAGESIZE),
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.inode = st.st_ino,
	};
}

static void expect(
	const struct symbols_source *source, enum opener_way way, const char *text, bool same)
{
	struct opener_file file;
	char buffer[16] = "";

	assert_int_equal(opener_open(source, way, &file), 0);
	assert_true(pread(file.fd, buffer, sizeof(buffer) - 1, 0) > 0);
	assert_string_equal(buffer, text);
	assert_int_equal(file.same, same);
	assert_int_equal(file.owner, geteuid());
	assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(file.fd);
}

static bool may_use_map_files(const struct symbols_source *source)
{
	struct opener_file file;

	if (opener_open(source, OPENER_MAP_FILES, &file) < 0) {
		print_message("map_files not tested: not permitted here\n");
		return false;
	}
	close(file.fd);
	return true;
}

static void test_ways(void **state)
{
	struct symbols_source source = source_of();

	(void)state;
	if (may_use_map_files(&source))
		expect(&source, OPENER_MAP_FILES, "mapped", true);
	expect(&source, OPENER_ROOT, "mapped", true);
	expect(&source, OPENER_PATH, "mapped", true);
}

/* This needs no privileges, although the program is deleted. */
static void test_program(void **state)
{
	struct symbols_source source = source_of();
	struct opener_file file;

	(void)state;
	assert_int_equal(opener_open(&source, OPENER_EXE, &file), -EINVAL); /* not a program */
	/* The headers are at the start of the first mapping. */
	const uintptr_t start = getauxval(AT_PHDR) & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	struct stat st;
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	source.dev_major = major(st.st_dev);
	source.dev_minor = minor(st.st_dev);
	source.inode = st.st_ino;
	source.map_start = start;
	assert_int_equal(opener_open(&source, OPENER_EXE, &file), 0);
	assert_true(file.same);
	close(file.fd);
	/* The process has executed another program since. */
	source.inode++;
	assert_int_equal(opener_open(&source, OPENER_EXE, &file), -EINVAL);
}

static void test_replaced(void **state)
{
	struct symbols_source source = source_of();

	(void)state;
	unlink(path);
	write_file("replaced");
	if (may_use_map_files(&source))
		expect(&source, OPENER_MAP_FILES, "mapped", true);
	expect(&source, OPENER_ROOT, "replaced", false);
	expect(&source, OPENER_PATH, "replaced", false);
	/* Without an inode the path decides. A build-id overrides it. */
	source.inode = 0;
	expect(&source, OPENER_PATH, "replaced", true);
	source.build_id_len = 20;
	expect(&source, OPENER_PATH, "replaced", false);
}

static void test_refused(void **state)
{
	struct symbols_source source = source_of();
	struct opener_file file;

	(void)state;
	source.path = "/dev/zero";
	assert_int_equal(opener_open(&source, OPENER_PATH, &file), -ENOEXEC);
	assert_int_equal(file.fd, -1);
	source.path = dir;
	assert_int_equal(opener_open(&source, OPENER_ROOT, &file), -ENOEXEC);
	source.path = "/nonexistent/file";
	assert_int_equal(opener_open(&source, OPENER_ROOT, &file), -ENOENT);
	/* Not absolute paths. */
	source.path = "relative";
	assert_int_equal(opener_open(&source, OPENER_PATH, &file), -EINVAL);
	source.path = NULL;
	assert_int_equal(opener_open(&source, OPENER_ROOT, &file), -EINVAL);
	source.path = "//anon";
	assert_int_equal(opener_open(&source, OPENER_PATH, &file), -ENOENT);
	source.pid = 0;
	assert_int_equal(opener_open(&source, OPENER_MAP_FILES, &file), -EINVAL);
	assert_int_equal(opener_open(&source, OPENER_ROOT, &file), -EINVAL);

	/* Opening a pipe would wait for a writer, and an open pipe would keep the writer alive. */
	char pipe_path[128];
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", dir);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	source.path = pipe_path;
	assert_int_equal(opener_open(&source, OPENER_PATH, &file), -ENOEXEC);
	unlink(pipe_path);
}

/* A link in a container is resolved within the container. */
static void test_root(void **state)
{
	char link[128];

	(void)state;
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("/file", link), 0);
	int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = opener_regular(root, "link", RESOLVE_IN_ROOT);
	if (fd == -ENOSYS) {
		print_message("skipped: no openat2(2) here\n");
	} else {
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(
			opener_regular(root, "../../etc/passwd", RESOLVE_IN_ROOT), -ENOENT);
	}
	close(root);
	unlink(link);
}

static void test_vdso(void **state)
{
	char magic[4];
	const struct symbols_source source = {.kind = SYMBOLS_VDSO, .path = "[vdso]"};
	int fd = opener_vdso(&source);

	(void)state;
	if (fd == -ENOENT) {
		print_message("skipped: no vdso here\n");
		skip();
	}
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);

	/* A failure is not the absence of a vdso. */
	struct rlimit before, few = {0};
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const int without = opener_vdso(&source);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(without, -EMFILE);
	close(fd);
}

/* A process with changed users may have memory written by another user. */
static void test_user(void **state)
{
	char proc[64];
	int status;

	(void)state;
	int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(proc_fd >= 0);
	assert_int_equal(opener_user(proc_fd, geteuid()), geteuid());
	assert_int_equal(opener_user(proc_fd, geteuid() + 1), RIGHTS_NOBODY);
	close(proc_fd);
	if (geteuid() != 0) {
		print_message("skipped: needs root\n");
		skip();
	}
	for (uid_t effective = 0; effective <= 1000; effective += 1000) {
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			if (setresuid(1000, effective, effective) < 0)
				_exit(1);
			raise(SIGSTOP);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		assert_true(WIFSTOPPED(status));
		snprintf(proc, sizeof(proc), "/proc/%d", pid);
		proc_fd = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(proc_fd >= 0);
		/* The change of user made it undumpable. */
		assert_int_equal(opener_user(proc_fd, 0), RIGHTS_NOBODY);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(opener_user(proc_fd, 0), RIGHTS_NOBODY);
		close(proc_fd);
	}
}

/* A thread without root or read capabilities keeps its own rights. */
static void test_rights(void **state)
{
	struct rights_before before;
	int status;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: needs root\n");
		skip();
	}
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (setresuid(1000, 1000, 1000) < 0)
			_exit(1);
		_exit(rights_become(1001, &before) == 0 && !before.changed ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#if defined(__x86_64__)
/* Starts a 32-bit program from a memory file: write(1, %esp, 1); 1: pause(); jmp 1b. For another
 * user it is undumpable, so root owns its files in /proc. */
static pid_t start_narrow(uid_t user)
{
	static const uint8_t code[] = {0xb8, 4, 0, 0, 0, 0xbb, 1, 0, 0, 0, 0x89, 0xe1, 0xba, 1, 0,
		0, 0, 0xcd, 0x80, 0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7};
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr segment;
		uint8_t code[sizeof(code)];
	} program = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_386,
			.e_version = EV_CURRENT,
			.e_entry = 0x8048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			.e_phoff = sizeof(Elf32_Ehdr),
			.e_ehsize = sizeof(Elf32_Ehdr),
			.e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
			.p_vaddr = 0x8048000,
			.p_filesz = sizeof(program),
			.p_memsz = sizeof(program),
			.p_flags = PF_R | PF_X,
			.p_align = 4096},
	};
	char *const argv[] = {(char[]){"narrow"}, NULL};
	int ends[2];
	char byte;

	memcpy(program.code, code, sizeof(code));
	int fd = memfd_create("narrow", MFD_CLOEXEC);
	assert_int_equal(write(fd, &program, sizeof(program)), sizeof(program));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], 1);
		if (user != geteuid() && (fchmod(fd, 0111) < 0 || setresuid(user, user, user) < 0))
			_exit(1);
		/* A change of user clears this setting. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fexecve(fd, argv, argv + 1);
		_exit(1);
	}
	close(fd);
	close(ends[1]);
	bool runs = read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	if (runs)
		return pid;
	waitpid(pid, NULL, 0);
	return -1;
}

static void find_vdso(struct symbols_source *source)
{
	char maps_path[64], line[4608];

	snprintf(maps_path, sizeof(maps_path), "/proc/%d/maps", source->pid);
	FILE *maps = fopen(maps_path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]"))
			assert_int_equal(sscanf(line, "%" SCNx64 "-%" SCNx64, &source->map_start,
						 &source->map_end),
				2);
	fclose(maps);
}

/* The user may have written to the memory, although root owns the files in /proc. The vdso's owner
 * is the user. */
static void test_narrow_vdso_of_another(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_VDSO, .path = "[vdso]"};
	struct stat st;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: needs root\n");
		skip();
	}
	source.pid = start_narrow(1000);
	if (source.pid < 0) {
		print_message("skipped: this kernel runs no 32-bit programs\n");
		skip();
	}
	find_vdso(&source);
	const int fd = opener_vdso(&source);
	kill(source.pid, SIGKILL);
	waitpid(source.pid, NULL, 0);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_uid, 1000);
	close(fd);
}

static void test_narrow_vdso(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_VDSO, .path = "[vdso]"};
	unsigned char ident[EI_NIDENT];

	(void)state;
	pid_t pid = start_narrow(geteuid());
	if (pid < 0) {
		print_message("skipped: this kernel runs no 32-bit programs\n");
		skip();
	}
	source.pid = pid;
	find_vdso(&source);
	assert_true(source.map_end > source.map_start && source.map_end < UINT32_MAX);

	int fd = opener_vdso(&source);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, ident, sizeof(ident), 0), sizeof(ident));
	assert_memory_equal(ident, ELFMAG, SELFMAG);
	assert_int_equal(ident[EI_CLASS], ELFCLASS32);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, source.map_end - source.map_start);
	assert_int_equal(st.st_uid, geteuid());
	assert_true(opener_vdso_is_copy(&source));
	close(fd);

	/* No other memory of a process is read, and the vdso of this program does not replace
	 * it. */
	source.map_start = 0x8048000;
	source.map_end = 0x8049000;
	assert_int_equal(opener_vdso(&source), -ENOENT);
	source.pid = 0;
	assert_int_equal(opener_vdso(&source), -ENOENT);
	/* A vdso above 4 GiB is this program's own. */
	source.map_start = 0x7ffff7fc0000;
	source.map_end = 0x7ffff7fc2000;
	fd = opener_vdso(&source);
	assert_int_equal(pread(fd, ident, sizeof(ident), 0), sizeof(ident));
	assert_int_equal(ident[EI_CLASS], ELFCLASS64);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
#else
static void test_narrow_vdso(void **state)
{
	(void)state;
	print_message("skipped: for x86-64\n");
	skip();
}

static void test_narrow_vdso_of_another(void **state)
{
	test_narrow_vdso(state);
}
#endif

/* Only the options of the file system give the user, not the words in other fields. */
static void test_fuse_owner(void **state)
{
	static const struct {
		const char *line;
		int user; /* -1 if there is no such mount */
	} lines[] = {
		{"36 35 0:50 / /mnt rw - fuse.sshfs host:/ rw,user_id=1000,group_id=5\n", 1000},
		{"36 35 0:50 / /mnt rw shared:4 - fuse host:/ user_id=7", 7},
		{"36 35 0:50 / /mnt rw - fuseblk /dev/sda1 rw,user_id=0,allow_other\n", 0},
		{"36 35 0:50 / /mnt rw - fuse user_id=3 rw,user_id=1000\n", 1000},
		{"36 35 0:50 / /mnt rw - fuse user_id=3 rw\n", -1},
		{"36 35 0:50 / /mnt,user_id=3 rw - fuse a,user_id=4 rw,user_id=1000\n", 1000},
		{"36 35 0:50 / /mnt rw - fuse.user_id=3 a rw,user_id=1000\n", 1000},
		{"36 35 0:50 / /mnt rw - fuse  rw,user_id=1000\n", 1000},
		{"36 35 0:50 / /mnt rw - fuse a rw,max_user_id=3,user_id=1000\n", 1000},
		{"36 35 0:50 / /mnt rw - fuse a rw,max_user_id=3\n", -1},
		{"36 35 0:50 / /mnt rw - fusectl a rw,user_id=1000\n", -1},
		{"36 35 0:50 / /mnt rw - ext4 a rw,user_id=1000\n", -1},
		{"36 35 0:51 / /mnt rw - fuse a rw,user_id=1000\n", -1},
		{"36 35 0:50 / /mnt rw\n", -1},
		{"36 35 0:50 / /mnt rw - fuse\n", -1},
		{"", -1},
	};
	const struct symbols_source source = {.dev_major = 0, .dev_minor = 50};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uid_t user = 4711;

		assert_int_equal(
			opener_fuse_owner(lines[i].line, &source, &user), lines[i].user >= 0);
		assert_int_equal(user, lines[i].user >= 0 ? lines[i].user : 4711);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(test_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test(test_fuse_owner),
		cmocka_unit_test_setup_teardown(test_root, setup, teardown),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_narrow_vdso),
		cmocka_unit_test(test_narrow_vdso_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
