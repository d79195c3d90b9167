/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - the internals of a schema; private to fields*.c.
 *
 * fields.c assembles a schema and reads samples.  tracepoint.c adds the fields of a
 * tracepoint's format, print.c their names and kinds from the print format, and
 * sample.c the fields of sample_type.  line.c (conversions) and pointer.c
 * (those of %p) format a line.  expr.c, call.c and names.c evaluate its
 * arguments.
 */
#ifndef SAMPLER_FIELDS_PRIVATE_H
#define SAMPLER_FIELDS_PRIVATE_H

#include "sampler/fields/fields.h"
#include "sampler/fields/kinds.h"

/* bytes for the texts that an argument of a print format builds */
#define FIELDS_ROOM_MAX 16384

enum field_place { FIELD_FIXED, FIELD_DATA_LOC, FIELD_REL_LOC };

enum sample_part {
	PART_NONE, /* from the raw data */
	PART_KIND, /* from the kind's decoder */
	PART_ADDR,
	PART_OP,
	PART_LEVEL,
	PART_SNOOP,
	PART_TLB,
	PART_LOCK,
	PART_BLK,
	PART_HOPS,
	PART_WEIGHT,
	PART_WEIGHT_2,
	PART_WEIGHT_3,
	PART_TRANSACTION,
	PART_PHYS_ADDR,
	PART_CGROUP,
	PART_DATA_PAGE,
	PART_CODE_PAGE,
	PART_BRANCH_FROM,
	PART_BRANCH_TO,
	PART_BRANCH_PREDICTION,
	PART_BRANCH_IN_TX,
	PART_BRANCH_ABORT,
	PART_BRANCH_CYCLES,
	PART_BRANCH_TYPE,
	PART_BRANCH_SPEC,
	PART_BRANCH_PRIVILEGE,
};

struct field_name {
	uint64_t value;
	char *text;
};

/* A list of names in a print format. */
struct field_names {
	const char *call; /* in the print format: after the call's opening bracket */
	const char *end; /* after the call's closing bracket; NULL: the list is unusable */
	bool flags; /* or'ed bits; else one of several values */
	char *between; /* separator of flags */
	struct field_name *at;
	size_t n;
};

struct field_how {
	enum sample_part part;
	enum field_place place;
	uint32_t offset, len; /* bytes in the raw data */
	uint32_t element; /* bytes per element of an array */
	bool is_signed; /* signedness in the format */
	bool shows_sign; /* false: the number is shown as unsigned */
	bool is_array, is_pointer;
	bool is_text_pointer; /* char * */
	/* From the print format, if it names the field's values. */
	const struct field_names *names;
	uint64_t mask; /* applied to the number before the lookup */
	char *zero; /* name of 0; NULL if none */
	uint64_t more_mask; /* bit that adds the text `more`: the "+" of prev_state; 0 if none */
	char *more;
	/* text of this argument, if the name depends on other fields too; else NULL */
	const char *argument;
};

struct fields {
	struct field at[FIELDS_MAX];
	struct field_how how[FIELDS_MAX];
	size_t n;
	uint64_t sample_type;
	const struct sample_kind *kind;
	size_t kind_first; /* index of its first field */
	bool is_tracepoint;
	char *print; /* print format of a tracepoint; NULL if none */
	struct field_names *lists; /* lists of the print format, in its order */
	size_t n_lists;
	bool swapped; /* the raw data has the other byte order */
	unsigned int long_bytes; /* bytes of a long on the machine that wrote it */
	unsigned int ticks_per_s; /* ticks ("jiffies") of its kernel; 0 if unknown */
	struct fields_texts *texts; /* owned; NULL if none */
	uint64_t outcomes[KIND_OUTCOMES_MAX]; /* atomic, relaxed */
};

/* Adds a field; NULL if there are already FIELDS_MAX. */
struct field *fields_add(struct fields *fields, const char *name, size_t len, enum field_kind kind,
	const struct field_how *how);

struct bytes {
	const uint8_t *at;
	size_t len;
};

/* Returns the bytes of a field that the raw data has. */
struct bytes fields_bytes(
	const struct fields *fields, const struct field_how *how, struct bytes raw);
/* Returns a number of 1, 2, 4 or 8 bytes; for other sizes, the first 8 bytes. */
uint64_t fields_load(const struct fields *fields, const uint8_t *at, size_t size, bool is_signed);

/* Reads the value of a field of the raw data.  Its text is in the raw data or in room, which has
 * size bytes. */
void fields_read_raw(const struct fields *fields, size_t i, struct bytes raw, char *room,
	size_t size, struct value *out);

/* Adds the fields of a format file.  Returns 0, -ENOMEM or -EBADMSG. */
int fields_parse_tracepoint(struct fields *fields, const char *format);

/* Sets names and kinds of fields from the text after "print fmt:".  Parts that are not understood
 * change nothing.  Returns 0 or -ENOMEM. */
int fields_parse_print(struct fields *fields);
/* Formats a number by its names. */
void fields_format_named(const struct fields *fields, const struct field_how *how, uint64_t number,
	char *out, size_t size);
/* Writes the name of a field if it depends on other fields; returns its length in room. */
size_t fields_name_by_others(
	const struct fields *fields, size_t i, struct bytes raw, char *room, size_t size);

/* --- lists of names (names.c) --- */

/* Reads all lists of the print format.  Returns 0 or -ENOMEM. */
int fields_find_lists(struct fields *fields);
void fields_free_lists(struct fields *fields);
/* Returns the list of the call with arguments at `call`; NULL if none. */
const struct field_names *fields_list_at(const struct fields *fields, const char *call);
/* Formats a number like the kernel. */
void field_names_format(const struct field_names *names, uint64_t number, char *out, size_t size);

/* --- texts for addresses in a sample (texts.c) --- */

struct fields_texts;
/* Parses the text of printk_formats.  Returns 0 or -ENOMEM. */
int fields_texts_new(struct fields_texts **out, const char *text, size_t len);
void fields_texts_free(struct fields_texts *texts); /* NULL is a no-op */
/* Returns the text at an address; NULL if none, or if texts is NULL. */
const char *fields_texts_find(const struct fields_texts *texts, uint64_t address);

/* --- expressions of a print format over one sample's raw data (expr.c) --- */

enum term_kind {
	TERM_NUMBER,
	TERM_TEXT, /* bytes, not NUL-terminated */
	TERM_BYTES, /* an array */
	TERM_UNKNOWN, /* unknown here: the expression as text */
};

struct term {
	enum term_kind kind;
	uint64_t number; /* sign- or zero-extended to 64 bits */
	unsigned int bits; /* 32 or 64, by the rules of C */
	bool is_unsigned;
	bool is_pointer;
	bool is_composed; /* unknown, and more than one word */
	/* number: its place in the raw data and the bytes after it; else at is NULL */
	struct bytes bytes;
	uint32_t element; /* bytes per element of an array, or of a number with a place */
};

#define EXPR_LOCALS_MAX 8

#define EXPR_MADE_MAX (256u << 10)

struct expr {
	const struct fields *fields;
	struct bytes raw;
	const char *at; /* next character of the print format */
	bool bad; /* not understood from here on */
	unsigned int depth;
	char *room; /* room for texts; borrowed */
	size_t room_len;
	size_t made; /* bytes of texts built for all arguments; above EXPR_MADE_MAX it is bad */
	struct {
		const char *name;
		size_t len;
		struct term value;
	} locals[EXPR_LOCALS_MAX];
	size_t n_locals;
	struct expr_named {
		const struct field_names *list; /* list used last; NULL if none */
		uint64_t number; /* number looked up in it */
	} named;
};

void expr_eval(struct expr *expr, struct term *out);
/* Marks len bytes of the room as used. */
void expr_take_room(struct expr *expr, size_t len);
void expr_skip_blanks(struct expr *expr);
bool expr_take(struct expr *expr, const char *token);
void expr_want(struct expr *expr, const char *token);
bool expr_take_word(struct expr *expr, const char **word, size_t *len);
/* Skips to the comma or bracket that ends an argument. */
void expr_skip(struct expr *expr);
/* Evaluates a function after its opening bracket (call.c). */
void expr_call(struct expr *expr, const char *name, size_t len, struct term *out);
/* A cast "(type)" (type.c); size in bytes, 0 if unknown.  If expr_take_type() finds none, it
 * takes nothing. */
struct expr_type {
	unsigned int size;
	bool is_signed, is_pointer, is_known;
};
bool expr_take_type(struct expr *expr, struct expr_type *type);
/* Skips the brackets after the word if it is "typeof". */
void expr_skip_typeof(struct expr *expr, const char *word, size_t len);
void expr_cast(const struct expr *expr, struct term *term, const struct expr_type *type);
bool expr_is_word(const char *word, size_t len, const char *name);
/* Returns the number as a register of `bits` bits holds it, extended to 64 bits. */
uint64_t expr_extend(uint64_t number, unsigned int bits, bool is_signed);
void expr_set_number(struct term *out, uint64_t number, unsigned int bits, bool is_unsigned);
bool expr_is_array(const struct term *term);
/* Copies a text into the room, cut to the space left. */
void expr_set_text(
	struct expr *expr, struct term *out, enum term_kind kind, const char *text, size_t len);
void expr_set_unknown(struct expr *expr, struct term *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes a term as part of an unknown expression. */
void expr_show(const struct term *term, char *out, size_t size);

/* --- the text of a line (line.c, pointer.c) --- */

struct line_text {
	char *out;
	size_t size, len;
	bool cut;
};

void line_put(struct line_text *text, const char *what, size_t len);
void line_print(struct line_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Ends a cut text in an ellipsis. */
void line_mark_cut(struct line_text *text);
/* Writes the pointee.  The letters after %p, at *format, select its form and are consumed.  width
 * -1: none.  Returns false, with nothing written, if it cannot. */
bool line_put_pointee(struct line_text *text, const struct fields *fields, const char **format,
	const struct term *term, int width, const struct fields_line_names *names);
/* Writes bits as a list, "0-3,5", or as 32-bit words in hexadecimal. */
void line_put_bits(struct line_text *text, const struct fields *fields, struct bytes bits, size_t n,
	bool is_list);

/* --- fields of sample_type --- */

void fields_add_sample(struct fields *fields, const struct perf_event_attr *attr);
uint64_t sample_part_read(enum sample_part part, const struct record_sample *sample);
void sample_part_format(enum sample_part part, uint64_t number, char *out, size_t size);

#endif
