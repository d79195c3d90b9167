/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jit.c - a small JIT runtime: two functions in memory without a file.  "hot" takes three quarters
 * of the time.
 *
 * usage: jit HOW SECONDS
 *
 * HOW:
 *   map     names in /tmp/perf-PID.map from the beginning
 *   late    like map, but at SIGUSR1
 *   grow    hot from the beginning, cold at SIGUSR1
 *   memfd   code that is mapped twice
 *   fork    a child runs code that its parent has compiled
 *   dump    names in jit-PID.dump in this directory
 *   again   with a dump: gen_two replaces gen_one after half of the time
 *   mapped  like again, with a map
 *   anew    like mapped, but the map is rewritten
 *   other   like mapped, but another map replaces it
 *   split   in a child that begins with its parent's map, and then has its own
 *   part    like again, but gen_two replaces only gen_one's second page, half of its time
 *
 * Names are those that python 3.12 writes.  Prints "ready" first, except from "again" on.
 */
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define HOT "py::hot:/home/me/a program.py"
#define COLD "py::cold:/home/me/a program.py"
#define TURNS 60000u

static volatile sig_atomic_t asked;

static void ask(int number)
{
	(void)number;
	asked = 1;
}

/* Writes a loop of `turns` turns.  Returns its size in bytes. */
static size_t compile(uint8_t *at, uint32_t turns)
{
#if defined(__x86_64__)
	const uint8_t code[] = {0xb9, (uint8_t)turns, (uint8_t)(turns >> 8), (uint8_t)(turns >> 16),
		(uint8_t)(turns >> 24), 0xff, 0xc9, 0x75, 0xfc, 0xc3};
#elif defined(__aarch64__)
	const uint32_t code[] = {0x52800000 | (turns & 0xffff) << 5, 0x72a00000 | turns >> 16 << 5,
		0x71000400, 0x54ffffe1, 0xd65f03c0};
#else
#error "no code for this machine"
#endif
	memcpy(at, code, sizeof(code));
	return sizeof(code);
}

static void name(const char *function, const uint8_t *at, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "ae");
	if (!map || fprintf(map, "%lx %zx %s\n", (unsigned long)at, size, function) < 0 ||
		fclose(map))
		exit(1);
}

/* Rewrites the map, which loses all entries and gets longer. other: another file replaces it. */
static void name_anew(const char *function, const uint8_t *at, size_t size, int other)
{
	char path[64], new[80];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(new, sizeof(new), "%s%s", path, other ? ".new" : "");
	FILE *map = fopen(new, "we");
	if (!map || fprintf(map, "%lx 10 something else\n", (unsigned long)at + 2 * PAGE) < 0 ||
		fprintf(map, "%lx %zx %s\n", (unsigned long)at, size, function) < 0 ||
		fclose(map) || (other && rename(new, path)))
		exit(1);
}

static void put(FILE *file, const void *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, file) != len)
		exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put_load(FILE *file, const char *function, const uint8_t *at, size_t size)
{
	const uint32_t kind[2] = {0, (uint32_t)(56 + strlen(function) + 1 + size)};
	const uint64_t time_ns = now_ns();
	const uint32_t ids[2] = {(uint32_t)getpid(), (uint32_t)getpid()};
	const uint64_t address = (uintptr_t)at, body[4] = {address, address, size, address};
	put(file, kind, sizeof(kind));
	put(file, &time_ns, sizeof(time_ns));
	put(file, ids, sizeof(ids));
	put(file, body, sizeof(body));
	put(file, function, strlen(function) + 1);
	put(file, at, size);
}

/* Writes one line for the first instruction, and one for the rest. */
static void put_lines(FILE *file, const uint8_t *code)
{
	static const char name[] = "/src/hot.py";
	const uint64_t addresses[2] = {(uintptr_t)code, (uintptr_t)code + 4};
	const uint32_t lines[2][2] = {{41, 0}, {42, 0}};
	const uint32_t head[2] = {2, (uint32_t)(16 + 16 + 16 + sizeof(name) + 16 + 2)};
	const uint64_t time_ns = now_ns(), body[2] = {(uintptr_t)code, 2};

	put(file, head, sizeof(head));
	put(file, &time_ns, sizeof(time_ns));
	put(file, body, sizeof(body));
	put(file, &addresses[0], sizeof(addresses[0]));
	put(file, lines[0], sizeof(lines[0]));
	put(file, name, sizeof(name));
	put(file, &addresses[1], sizeof(addresses[1]));
	put(file, lines[1], sizeof(lines[1]));
	put(file, "\xff", 2);
}

/* Opens the dump and maps it: profilers find the file by its mapping. */
static FILE *open_dump(void)
{
	const uint32_t header[10] = {
		0x4a695444,
		1,
		40,
#if defined(__x86_64__)
		EM_X86_64,
#else
		EM_AARCH64,
#endif
		0,
		(uint32_t)getpid()
	};
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	FILE *file = fopen(path, "w+e");
	if (!file)
		exit(1);
	put(file, header, sizeof(header));
	if (fflush(file) ||
		mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
		exit(1);
	return file;
}

static void dump(const uint8_t *code, size_t hot, size_t cold)
{
	FILE *file = open_dump();

	put_lines(file, code);
	put_load(file, HOT, code, hot);
	put_load(file, COLD, code + PAGE, cold);
	if (fclose(file))
		exit(1);
}

/* Makes two pages, one for each function. */
static uint8_t *get_code(int twice, size_t *hot, size_t *cold)
{
	const int fd = twice ? memfd_create("doublemapper", MFD_CLOEXEC) : -1;
	const int flags = twice ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

	if (twice && (fd < 0 || ftruncate(fd, 2 * PAGE)))
		exit(1);
	uint8_t *written = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (written == MAP_FAILED)
		exit(1);
	*hot = compile(written, 3 * TURNS);
	*cold = compile(written + PAGE, TURNS);
	if (!twice)
		return mprotect(written, 2 * PAGE, PROT_READ | PROT_EXEC) ? exit(1), NULL : written;
	uint8_t *code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, flags, fd, 0);
	if (code == MAP_FAILED)
		exit(1);
	return code;
}

static void spend(const uint8_t *code, size_t pages, double seconds)
{
	void (*functions[2])(void);

	for (size_t i = 0; i < 2; i++) {
		const uint8_t *at = code + i * PAGE;
		memcpy(&functions[i], &at, sizeof(at));
	}
	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		for (size_t i = 0; i < pages; i++)
			functions[i]();
}

/* Runs code that other code replaces after half of the time. */
static void replace(uint8_t *code, const char *how, double seconds)
{
	const size_t pages = strcmp(how, "part") == 0 ? 2 : 1;
	uint8_t *last = code + (pages - 1) * PAGE;
	const int dumps = strcmp(how, "again") == 0 || strcmp(how, "part") == 0;
	const int other = strcmp(how, "other") == 0, anew = other || strcmp(how, "anew") == 0;
	FILE *file = dumps ? open_dump() : NULL;

	for (uint32_t i = 0; i < 2; i++) {
		const char *function = i ? "gen_two" : "gen_one";

		if (mprotect(code, 2 * PAGE, PROT_READ | PROT_WRITE))
			exit(1);
		compile(code, TURNS);
		compile(last, TURNS + i);
		if (mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC))
			exit(1);
		__builtin___clear_cache((char *)code, (char *)code + 2 * PAGE);
		if (!file && i && anew)
			name_anew(function, code, PAGE, other);
		else if (!file)
			name(function, code, PAGE);
		else
			put_load(file, function, i ? last : code, i ? PAGE : pages * PAGE);
		if (file && fflush(file))
			exit(1);
		if (!i && strcmp(how, "split") == 0 && fork() > 0) {
			wait(NULL);
			return;
		}
		spend(code, pages, seconds / 2 * (i + 1));
	}
	if (file)
		fclose(file);
}

static void run(const uint8_t *code, double seconds, const char *how, size_t hot, size_t cold)
{
	void (*functions[2])(void);

	for (size_t i = 0; i < 2; i++) {
		const uint8_t *at = code + i * PAGE;
		memcpy(&functions[i], &at, sizeof(at));
	}
	puts("ready");
	fflush(stdout);
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
		functions[0]();
		functions[1]();
		if (!asked)
			continue;
		asked = 0;
		if (strcmp(how, "late") == 0)
			name(HOT, code, hot);
		name(COLD, code + PAGE, cold);
	}
}

int main(int argc, char **argv)
{
	static const char *const places[] = {"again", "mapped", "anew", "other", "split", "part"};
	size_t hot, cold;

	if (argc < 3)
		return 2;
	signal(SIGUSR1, ask);
	const char *how = argv[1];
	uint8_t *code = get_code(strcmp(how, "memfd") == 0, &hot, &cold);
	__builtin___clear_cache((char *)code, (char *)code + 2 * PAGE);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (strcmp(how, places[i]) == 0) {
			replace(code, how, atof(argv[2]));
			return 0;
		}
	}
	if (strcmp(how, "dump") == 0) {
		dump(code, hot, cold);
	} else if (strcmp(how, "late") != 0) {
		name(HOT, code, hot);
		if (strcmp(how, "grow") != 0)
			name(COLD, code + PAGE, cold);
	}
	if (strcmp(how, "fork") == 0 && fork() > 0)
		return wait(NULL) < 0;
	run(code, atof(argv[2]), how, hot, cold);
	return 0;
}
