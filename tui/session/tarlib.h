/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tarlib.h - libarchive, loaded only when an archive is packed or opened.
 *
 * It needs a dozen more libraries, which would double the memory of each of strobe's processes.
 * Most of these never use an archive.  UI thread.
 */
#ifndef TUI_SESSION_TARLIB_H
#define TUI_SESSION_TARLIB_H

#include <archive.h>
#include <archive_entry.h>

#define TARLIB_FUNCTIONS(X)                      \
	X(archive_entry_filetype)                \
	X(archive_entry_free)                    \
	X(archive_entry_hardlink)                \
	X(archive_entry_mtime)                   \
	X(archive_entry_new)                     \
	X(archive_entry_pathname)                \
	X(archive_entry_set_filetype)            \
	X(archive_entry_set_mtime)               \
	X(archive_entry_set_pathname)            \
	X(archive_entry_set_perm)                \
	X(archive_entry_set_size)                \
	X(archive_entry_symlink)                 \
	X(archive_errno)                         \
	X(archive_read_data)                     \
	X(archive_read_close)                    \
	X(archive_read_free)                     \
	X(archive_read_new)                      \
	X(archive_read_next_header)              \
	X(archive_read_open_fd)                  \
	X(archive_read_support_filter_gzip)      \
	X(archive_read_support_filter_zstd)      \
	X(archive_read_support_format_tar)       \
	X(archive_write_add_filter_zstd)         \
	X(archive_write_close)                   \
	X(archive_write_data)                    \
	X(archive_write_fail)                    \
	X(archive_write_free)                    \
	X(archive_write_header)                  \
	X(archive_write_new)                     \
	X(archive_write_open_fd)                 \
	X(archive_write_set_bytes_in_last_block) \
	X(archive_write_set_format_pax_restricted)

struct tarlib {
#define TARLIB_FIELD(name) __typeof__(name) *name;
	TARLIB_FUNCTIONS(TARLIB_FIELD)
#undef TARLIB_FIELD
};

/* Returns the functions, loaded by the first call; NULL if the library cannot be loaded. */
const struct tarlib *tarlib(void);
/* Returns why loading failed: -EMFILE or -ENFILE if no descriptor is left, else -ELIBACC. */
int tarlib_error(void);

#endif
