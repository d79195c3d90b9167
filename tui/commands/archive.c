/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.c - packs a recording together with the files that its symbols were read from.
 *
 * The recording is loaded as for a report, which finds the files.  They are then packed through the
 * descriptors that the symbols were read from.  UI thread.
 */
#include "tui/commands/archive.h"
#include "tui/session/unpacked.h"

#include "sampler/base/whole.h"
#include "tui/base/explain_errno.h"
#include "tui/base/giveup.h"
#include "tui/base/intern.h"
#include "tui/export/outfile.h"
#include "tui/session/request.h"
#include "tui/session/taking.h"
#include "tui/session/tarlib.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".strobe.tar.zst"
#define BLOCK_BYTES 65536u
#define JITDUMP_MAGIC 0x4a695444u

struct packing {
	struct taking *taking;
	struct archive *archive;
	char *block;
	struct intern packed; /* names in the archive */
	uint64_t bytes;
	bool progress; /* standard error is a terminal */
};

static void tell_progress(struct packing *packing)
{
	if (packing->progress)
		fprintf(stderr, "\rstrobe: packing, %" PRIu32 " files, %" PRIu64 " MB ... ",
			packing->packed.n, packing->bytes / 1000000);
}

/* Returns libarchive's error as -errno; libarchive has codes that are no errno. */
static int error_of(struct archive *archive)
{
	int error = tarlib()->archive_errno(archive);

	return error > 0 ? -error : -EIO;
}

/* Adds a name to the packed ones.  Returns false if it is there already, or if memory runs out
 * (*error). */
static bool is_new(struct packing *packing, const char *name, int *error)
{
	const uint32_t known = packing->packed.n;
	uint32_t id;

	*error = intern_id(&packing->packed, name, strlen(name), &id);
	return !*error && id == known;
}

static int write_header(struct packing *packing, const char *name, int64_t size, int64_t mtime_s)
{
	struct archive_entry *entry = tarlib()->archive_entry_new();

	if (!entry)
		return -ENOMEM;
	tarlib()->archive_entry_set_pathname(entry, name);
	tarlib()->archive_entry_set_filetype(entry, AE_IFREG);
	tarlib()->archive_entry_set_perm(entry, 0600);
	tarlib()->archive_entry_set_size(entry, size);
	tarlib()->archive_entry_set_mtime(entry, mtime_s, 0);
	int ret = tarlib()->archive_write_header(packing->archive, entry);
	tarlib()->archive_entry_free(entry);
	return ret == ARCHIVE_OK || ret == ARCHIVE_WARN ? 0 : error_of(packing->archive);
}

static int write_text(struct packing *packing, const char *name, const char *text)
{
	int ret = write_header(packing, name, (int64_t)strlen(text), 0);

	if (ret == 0 && tarlib()->archive_write_data(packing->archive, text, strlen(text)) < 0)
		ret = error_of(packing->archive);
	return ret;
}

/* Packs a file in its present size.  Returns -ESTALE if it becomes shorter while it is read. */
static int write_file(struct packing *packing, const char *name, int fd)
{
	int64_t at = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	int ret = write_header(packing, name, st.st_size, st.st_mtim.tv_sec);
	while (ret == 0 && at < st.st_size) {
		int64_t rest = st.st_size - at;
		ssize_t n = pread(fd, packing->block,
			rest < (int64_t)BLOCK_BYTES ? (size_t)rest : BLOCK_BYTES, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		if (tarlib()->archive_write_data(packing->archive, packing->block, (size_t)n) < 0)
			return error_of(packing->archive);
		at += n;
		packing->bytes += (uint64_t)n;
		if ((at & ((1 << 22) - 1)) < n) {
			tell_progress(packing);
			if (taking_was_interrupted(packing->taking))
				return -ECANCELED;
		}
	}
	return ret;
}

/* Copies a file whose size is known only after reading, such as /proc/kallsyms, into a memfd. */
static int copy_to_memory(struct packing *packing, int fd)
{
	int memory = memfd_create("strobe-archive", MFD_CLOEXEC), ret = 0;
	off_t at = 0;

	if (memory < 0)
		return -errno;
	for (;;) {
		ssize_t n = pread(fd, packing->block, BLOCK_BYTES, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		ret = whole_write(memory, packing->block, (size_t)n, NULL);
		if (ret)
			break;
		at += n;
	}
	if (ret == 0)
		return memory;
	close(memory);
	return ret;
}

static int pack_once(struct packing *packing, const char *name, int fd)
{
	struct stat st;
	int ret, memory;

	if (!is_new(packing, name, &ret))
		return ret;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size)
		return write_file(packing, name, fd);
	memory = copy_to_memory(packing, fd);
	if (memory < 0)
		return memory;
	ret = write_file(packing, name, memory);
	close(memory);
	return ret;
}

/* Formats ".build-id/xx/yyyy" and the ending. */
static void id_name(char *out, size_t size, const uint8_t *build_id, size_t len, const char *ending)
{
	size_t used = (size_t)snprintf(out, size, ".build-id/%02x/", build_id[0]);

	for (size_t i = 1; i < len; i++)
		used += (size_t)snprintf(out + used, size - used, "%02x", build_id[i]);
	snprintf(out + used, size - used, "%s", ending);
}

static bool is_elf(int fd)
{
	char magic[4] = "";

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		!memcmp(magic, "\177ELF", sizeof(magic));
}

static const char *ending_of(const struct image *image, int fd)
{
	if (image->kind == IMAGE_KERNEL && !is_elf(fd))
		return "/kallsyms";
	return image->kind == IMAGE_VDSO ? "/vdso" : "/elf";
}

/* Returns true if the path can be stored as in a root file system. */
static bool is_plain_path(const char *path)
{
	if (*path != '/' || strstr(path, "//") || path[strlen(path) - 1] == '/')
		return false;
	for (const char *part = path; part; part = strchr(part + 1, '/'))
		if (!strncmp(part, "/../", 4) || !strcmp(part, "/..") || !strncmp(part, "/./", 3))
			return false;
	return strcmp(path, "/" ARCHIVE_MARK) != 0 && strcmp(path, "/" ARCHIVE_RECORDING) != 0;
}

static bool is_jitdump(int fd)
{
	uint32_t magic = 0;

	return pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		(magic == JITDUMP_MAGIC || magic == bswap_32(JITDUMP_MAGIC));
}

/* Packs the perf map or jitdump file of JIT code under the path that a report will read. */
static int pack_jit(struct packing *packing, const struct image *image)
{
	struct image_origin origin;
	char name[64];
	int files[2], ret = 0;

	images_origin(session_images(&packing->taking->session), image->id, &origin);
	symbols_files(packing->taking->session.symbols, image->id, &files[0], &files[1]);
	snprintf(name, sizeof(name), "tmp/perf-%" PRId32 ".map", origin.pid);
	for (size_t i = 0; i < 2 && ret == 0; i++) {
		if (files[i] < 0)
			continue;
		if (!is_jitdump(files[i]))
			ret = pack_once(packing, name, files[i]);
		else if (origin.jitdump && is_plain_path(origin.jitdump))
			ret = pack_once(packing, origin.jitdump + 1, files[i]);
	}
	return ret;
}

static int pack_image(struct packing *packing, const struct image *image)
{
	const struct symbols *symbols = packing->taking->session.symbols;
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX], recorded[IMAGE_BUILD_ID_MAX];
	const char *path = image->path ? image->path : "";
	char name[256];
	int file, debug, ret = 0;

	if (symbols_state(symbols, image->id) == SYMBOLS_UNASKED)
		return 0;
	if (image->kind == IMAGE_ANON)
		return pack_jit(packing, image);
	symbols_files(symbols, image->id, &file, &debug);
	if (symbols_mark(symbols, image->id) == SYMBOLS_MARK_OTHER) {
		taking_complainf("not packed: '%s' here is not the file that was recorded", path);
		return 0;
	}
	size_t len = symbols_build_id(symbols, image->id, build_id);
	if (file < 0 || (len < 2 && (image->kind != IMAGE_FILE || !is_plain_path(path)))) {
		taking_complainf("not packed: '%s' was not found here%s", path,
			symbols_state(symbols, image->id) == SYMBOLS_READY
				? "; its names are in the recording"
				: "");
		return 0;
	}
	/* A binary without a build-id in the recording is looked up by path, even if it has a
	 * build-id itself. */
	const bool by_path = image->kind == IMAGE_FILE && is_plain_path(path) &&
		!images_build_id(session_images(&packing->taking->session), image->id, recorded);
	if (by_path) {
		ret = pack_once(packing, path + 1, file);
	} else {
		id_name(name, sizeof(name), build_id, len, ending_of(image, file));
		ret = pack_once(packing, name, file);
	}
	if (ret == 0 && debug >= 0 && len >= 2) {
		id_name(name, sizeof(name), build_id, len, ".debug");
		ret = pack_once(packing, name, debug);
	}
	return ret;
}

/* Requests the symbols of all sampled images, and waits for them. */
static void find_files(struct taking *taking)
{
	const uint32_t n = stacks_frame_limit(session_stacks(&taking->session));

	for (uint32_t frame = 1; frame < n; frame++)
		names_symref(taking->session.names, frame);
	taking_wait_names(taking);
	taking_tell_pending(taking);
}

static int pack_all(struct packing *packing, int recording_fd)
{
	struct images *images = session_images(&packing->taking->session);
	const uint32_t n = images_count(images);

	int ret = write_text(packing, ARCHIVE_MARK, "1\n");
	if (ret == 0)
		ret = write_file(packing, ARCHIVE_RECORDING, recording_fd);
	for (uint32_t id = 0; id < n && ret == 0; id++) {
		const struct image *image = images_get(images, id);
		if (image)
			ret = pack_image(packing, image);
		if (ret == 0 && taking_was_interrupted(packing->taking))
			ret = -ECANCELED;
	}
	return ret;
}

static int pack_to(struct taking *taking, int recording_fd, int out_fd)
{
	struct packing packing = {
		.taking = taking,
		.archive = tarlib() ? tarlib()->archive_write_new() : NULL,
		.block = malloc(BLOCK_BYTES),
		.progress = isatty(STDERR_FILENO),
	};
	int ret = tarlib() ? -ENOMEM : tarlib_error();

	giveup_watch(out_fd);
	if (!packing.archive || !packing.block)
		goto out;
	if (tarlib()->archive_write_add_filter_zstd(packing.archive) != ARCHIVE_OK ||
		tarlib()->archive_write_set_format_pax_restricted(packing.archive) != ARCHIVE_OK ||
		/* On a pipe libarchive would pad the last block with zeros, which are not zstd. */
		tarlib()->archive_write_set_bytes_in_last_block(packing.archive, 1) != ARCHIVE_OK ||
		tarlib()->archive_write_open_fd(packing.archive, out_fd) != ARCHIVE_OK) {
		ret = error_of(packing.archive);
		goto out;
	}
	ret = pack_all(&packing, recording_fd);
	/* Closing would complete the current entry with zeros; a cancelled archive does not need
	 * that. */
	if (ret < 0)
		tarlib()->archive_write_fail(packing.archive);
	else if (tarlib()->archive_write_close(packing.archive) != ARCHIVE_OK)
		ret = error_of(packing.archive);
out:
	if (packing.progress)
		fputs("\r\033[K", stderr);
	if (packing.archive)
		tarlib()->archive_write_free(packing.archive);
	giveup_watch(-1);
	intern_fini(&packing.packed);
	free(packing.block);
	return ret;
}

static int pack_to_file(struct taking *taking, int recording_fd, const char *output)
{
	struct outfile out;
	int ret = outfile_open(&out, output, OUTFILE_PRIVATE);

	if (ret)
		return ret;
	ret = pack_to(taking, recording_fd, out.fd);
	return outfile_end(&out, ret);
}

static int pack(struct taking *taking)
{
	const struct request *request = taking->request;
	const char *path = request->files[0];
	char *output = NULL;
	int ret = -ENOMEM;

	int recording_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (recording_fd < 0) {
		taking_complainf("cannot read '%s': %s", path, explain_errno(errno));
		return 1;
	}
	find_files(taking);
	if (asprintf(&output, "%s%s", request->output ? request->output : path,
		    request->output ? "" : SUFFIX) < 0)
		output = NULL;
	if (taking->interrupted)
		ret = -ECANCELED;
	else if (output)
		ret = taking_begin_output(taking);
	if (ret == 0)
		ret = pack_to_file(taking, recording_fd, output);
	if (ret == -ECANCELED || (ret < 0 && giveup_came()))
		taking_complainf("interrupted: no archive was written");
	else if (ret == -ESTALE)
		taking_complainf(
			"a file became shorter while it was packed: no archive was written");
	else if (ret < 0 && output && !strcmp(output, "-")) {
		if (ret != -EPIPE) /* a reader such as head(1) left: no error */
			taking_complainf("cannot write to standard output: %s", explain_errno(ret));
	} else if (ret < 0)
		taking_complainf(
			"cannot write '%s': %s", output ? output : path, explain_errno(ret));
	giveup_end();
	free(output);
	close(recording_fd);
	return ret < 0 ? 1 : 0;
}

int archive_run(const struct request *request)
{
	struct taking *taking;
	int status = 1;

	if (request->output && !strcmp(request->output, "-") && isatty(STDOUT_FILENO)) {
		taking_complain("an archive is not written to a terminal: name a file with -o");
		return 2;
	}
	taking = malloc(sizeof(*taking));
	if (!taking) {
		taking_complain("out of memory");
		return 1;
	}
	if (!taking_open(taking, request) && !taking_run(taking, true))
		status = taking->interrupted ? 1 : pack(taking);
	taking_close(taking);
	free(taking);
	return status;
}
