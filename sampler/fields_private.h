/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields_private.h - a schema's insides, for fields*.c alone.
 *
 * fields.c holds a schema together and reads samples, fields_tracepoint.c makes one of a
 * tracepoint's format, fields_print.c takes names and kinds of its fields from the print format,
 * fields_sample.c does what sample_type tells.  A line is made by fields_line.c (conversions) and
 * fields_pointer.c (those of %p) of what fields_expr.c, fields_call.c and fields_names.c find the
 * arguments to be.
 */
#ifndef SAMPLER_FIELDS_PRIVATE_H
#define SAMPLER_FIELDS_PRIVATE_H

#include "sampler/fields.h"
#include "sampler/kinds.h"

/* Texts that an argument of a print format is made of. */
#define FIELDS_ROOM_MAX 16384

enum field_place { FIELD_FIXED, FIELD_DATA_LOC, FIELD_REL_LOC };

enum sample_part {
	PART_NONE, /* of the raw data */
	PART_KIND, /* of the kind's decoder */
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
	const char *call; /* in the print format: behind the bracket that opens the call */
	const char *end; /* behind the one that closes it */
	bool flags; /* or'ed bits, else one of several */
	char *between; /* of flags */
	struct field_name *at;
	size_t n;
};

struct field_how {
	enum sample_part part;
	enum field_place place;
	uint32_t offset, len; /* in the raw data; len of the element, where there are many */
	uint32_t element; /* bytes of an array's element */
	bool is_signed; /* as the format tells */
	bool shows_sign; /* false: its number is shown without one */
	bool is_array, is_pointer;
	bool is_text_pointer; /* char * */
	/* Of the print format, where it names the field's values. */
	const struct field_names *names;
	uint64_t mask; /* of the number, before it is looked for */
	char *zero; /* what 0 is called, or NULL */
	uint64_t more_mask; /* a bit that adds a text: the "+" of prev_state; 0: none */
	char *more;
	const char
		*argument; /* the name depends on other fields, too: it is this argument's text */
};

struct fields {
	struct field at[FIELDS_MAX];
	struct field_how how[FIELDS_MAX];
	size_t n;
	uint64_t sample_type;
	const struct sample_kind *kind;
	size_t kind_first; /* the first of its fields */
	bool is_tracepoint;
	char *print; /* a tracepoint's print format; NULL: none */
	struct field_names *lists; /* of the print format, in its order */
	size_t n_lists;
	bool swapped; /* the raw data has the other byte order */
	unsigned int long_bytes; /* of the machine that wrote it */
	unsigned int ticks_per_s; /* of its kernel ("jiffies"); 0: not known */
	struct fields_texts *texts; /* NULL: none; owned */
	uint64_t outcomes[KIND_OUTCOMES_MAX]; /* atomic, relaxed */
};

/* One more field, or NULL where there are FIELDS_MAX. */
struct field *fields_add(struct fields *fields, const char *name, size_t len, enum field_kind kind,
	const struct field_how *how);

struct bytes {
	const uint8_t *at;
	size_t len;
};

/* The bytes of a field, as many as there are. */
struct bytes fields_bytes(
	const struct fields *fields, const struct field_how *how, struct bytes raw);
/* A number of 1, 2, 4 or 8 bytes; of other sizes what fits into 8. */
uint64_t fields_load(const struct fields *fields, const uint8_t *at, size_t size, bool is_signed);

/* The value of a field of the raw data; its text is the raw data's or in room, which has size
 * bytes. */
void fields_read_raw(const struct fields *fields, size_t i, struct bytes raw, char *room,
	size_t size, struct value *out);

/* 0, -ENOMEM, -EBADMSG. */
int fields_parse_tracepoint(struct fields *fields, const char *format);

/* Names and kinds of fields out of what follows "print fmt:".  What cannot be understood changes nothing.  0 or -ENOMEM. */
int fields_parse_print(struct fields *fields);
/* A number by its names. */
void fields_format_named(const struct fields *fields, const struct field_how *how, uint64_t number,
	char *out, size_t size);
/* The name of a field that other fields have a say in; its length in room. */
size_t fields_name_by_others(
	const struct fields *fields, size_t i, struct bytes raw, char *room, size_t size);

/* --- lists of names (fields_names.c) --- */

/* All lists of the print format.  0 or -ENOMEM. */
int fields_find_lists(struct fields *fields);
void fields_free_lists(struct fields *fields);
/* The list of the call whose arguments begin here, or NULL. */
const struct field_names *fields_list_at(const struct fields *fields, const char *call);
/* What is printed for a number, as the kernel prints it. */
void field_names_format(const struct field_names *names, uint64_t number, char *out, size_t size);

/* --- texts that a sample has the address of (fields_texts.c) --- */

struct fields_texts;
/* Of the text of printk_formats.  0 or -ENOMEM. */
int fields_texts_new(struct fields_texts **out, const char *text, size_t len);
void fields_texts_free(struct fields_texts *texts); /* NULL is a no-op */
/* NULL: there is none; of NULL, too. */
const char *fields_texts_find(const struct fields_texts *texts, uint64_t address);

/* --- expressions of a print format over one sample's raw data (fields_expr.c) --- */

enum term_kind {
	TERM_NUMBER,
	TERM_TEXT, /* bytes, without an end */
	TERM_BYTES, /* an array */
	TERM_UNKNOWN, /* what cannot be known here: the expression as text */
};

struct term {
	enum term_kind kind;
	uint64_t number; /* extended to 64 bits by its sign */
	unsigned int bits; /* 32 or 64, as C has it */
	bool is_unsigned;
	bool is_pointer;
	bool is_composed; /* unknown, and more than one word */
	struct bytes bytes; /* of a number: where it lies, and what follows it; or at is NULL */
	uint32_t element; /* bytes of an array's element, or of a number that lies somewhere */
};

#define EXPR_LOCALS_MAX 8

#define EXPR_MADE_MAX (256u << 10)

struct expr {
	const struct fields *fields;
	struct bytes raw;
	const char *at; /* the next character of the print format */
	bool bad; /* it is not understood from here on */
	unsigned int depth;
	char *room; /* for texts that are made; borrowed */
	size_t room_len;
	size_t made; /* bytes of such texts, of all arguments: above EXPR_MADE_MAX it is bad */
	struct {
		const char *name;
		size_t len;
		struct term value;
	} locals[EXPR_LOCALS_MAX];
	size_t n_locals;
	struct expr_named {
		const struct field_names *list; /* that was used last; NULL: none */
		uint64_t number; /* and what for */
	} named;
};

void expr_eval(struct expr *expr, struct term *out);
/* A text of so many bytes was made in the room. */
void expr_take_room(struct expr *expr, size_t len);
void expr_skip_blanks(struct expr *expr);
bool expr_take(struct expr *expr, const char *token);
void expr_want(struct expr *expr, const char *token);
bool expr_take_word(struct expr *expr, const char **word, size_t *len);
/* Up to the comma or the bracket that ends an argument. */
void expr_skip(struct expr *expr);
/* The function whose opening bracket was taken (fields_call.c). */
void expr_call(struct expr *expr, const char *name, size_t len, struct term *out);
/* "(type)", or nothing is taken (fields_type.c); the size is in bytes, 0 if it is not known. */
struct expr_type {
	unsigned int size;
	bool is_signed, is_pointer, is_known;
};
bool expr_take_type(struct expr *expr, struct expr_type *type);
/* Skip the brackets behind the word, if it is "typeof". */
void expr_skip_typeof(struct expr *expr, const char *word, size_t len);
void expr_cast(const struct expr *expr, struct term *term, const struct expr_type *type);
bool expr_is_word(const char *word, size_t len, const char *name);
/* A number as a register of so many bits has it. */
uint64_t expr_extend(uint64_t number, unsigned int bits, bool is_signed);
void expr_set_number(struct term *out, uint64_t number, unsigned int bits, bool is_unsigned);
bool expr_is_array(const struct term *term);
/* A text of the room; cut if there is none left. */
void expr_set_text(
	struct expr *expr, struct term *out, enum term_kind kind, const char *text, size_t len);
void expr_set_unknown(struct expr *expr, struct term *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A term as it stands in an unknown expression. */
void expr_show(const struct term *term, char *out, size_t size);

/* --- the text of a line (fields_line.c, fields_pointer.c) --- */

struct line_text {
	char *out;
	size_t size, len;
	bool cut;
};

void line_put(struct line_text *text, const char *what, size_t len);
void line_print(struct line_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What was cut ends in an ellipsis. */
void line_mark_cut(struct line_text *text);
/* Put the value that a pointer points to.  The letters behind %p, at *format, say how, and are taken;
 * width -1: none.
 * False: it is not known, and nothing was put. */
bool line_put_pointee(struct line_text *text, const struct fields *fields, const char **format,
	const struct term *term, int width, const struct fields_line_names *names);
/* Bits as "0-3,5", or as words of 32 in hexadecimal digits; words of the raw data have word
 * bytes. */
void line_put_bits(struct line_text *text, const struct fields *fields, struct bytes bits, size_t n,
	bool is_list);

/* --- what sample_type tells --- */

void fields_add_sample(struct fields *fields, const struct perf_event_attr *attr);
uint64_t sample_part_read(enum sample_part part, const struct record_sample *sample);
void sample_part_format(enum sample_part part, uint64_t number, char *out, size_t size);

#endif
