/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_export_forms.c - each export format, read back: sums, valid references, clean names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/export_world.h"
#include "tui/export/jsontext.h"
#include "tui/export/profile.pb-c.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <zlib.h>

#define CLOCK_SUM 1063ull /* weight of the first event from fill() */
#define CLOCK_COUNT 7ull
#define FIRST_SLICE_COUNT 5ull
#define FAULTS_SUM 7ull

static void fill(struct world *world)
{
	uint32_t node = STACK_ROOT;

	world->profile.n_events = 2;
	for (int i = 0; i < 3; i++)
		world_add(world, STACK(world, MAIN, WORK, LEAF), world->worker, 0, 1);
	world_add(world, STACK(world, MAIN, WORK, WORK, LEAF, WORK), world->worker, 0, 10);
	world_add(world, STACK(world, MAIN, EVIL), world->other, 0, 20);
	world_next_slice(world);
	world_add(world, STACK(world, MAIN, WORK, LEAF), world->worker, 0, 30);
	world_add(world, STACK(world, MAIN, NOTHING), world->other, 1, 7);
	for (int i = 0; i < 1000; i++)
		node = world_push(world, node, world->program, i % 2 ? WORK : MAIN);
	world_add(world, world_push(world, node, world->kernel, UINT64_MAX - 9), world->worker, 0,
		1000);
}

/* --- JSON --- */

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *found = NULL;

	assert_true(json_object_object_get_ex(object, key, &found));
	return found;
}

static struct json_object *read_json(
	struct world *world, int (*write)(FILE *, const struct profile *))
{
	char *text = world_write(world, write, NULL);
	struct json_object *object = json_tokener_parse(text);

	assert_non_null(object);
	free(text);
	return object;
}

static void test_speedscope(void **state)
{
	struct world world;
	struct json_object *file, *profiles, *frames;
	uint64_t sums[2] = {0};
	bool evil = false;

	(void)state;
	world_make(&world);
	fill(&world);
	file = read_json(&world, export_speedscope);
	frames = get(get(file, "shared"), "frames");
	profiles = get(file, "profiles");
	for (size_t i = 0; i < json_object_array_length(frames); i++)
		evil |= !strcmp(
			json_object_get_string(get(json_object_array_get_idx(frames, i), "name")),
			"</script>\"&'<x>;?[2J?");
	assert_true(evil);
	assert_int_equal(json_object_array_length(profiles), 3);
	for (size_t p = 0; p < 3; p++) {
		struct json_object *profile = json_object_array_get_idx(profiles, p);
		struct json_object *samples = get(profile, "samples");
		struct json_object *weights = get(profile, "weights");
		bool ns = !strcmp(json_object_get_string(get(profile, "unit")), "nanoseconds");
		uint64_t sum = 0;

		assert_int_equal(
			json_object_array_length(samples), json_object_array_length(weights));
		for (size_t i = 0; i < json_object_array_length(samples); i++) {
			struct json_object *stack = json_object_array_get_idx(samples, i);

			sum += json_object_get_uint64(json_object_array_get_idx(weights, i));
			assert_true(json_object_array_length(stack) > 0);
			for (size_t f = 0; f < json_object_array_length(stack); f++)
				assert_true(json_object_get_uint64(json_object_array_get_idx(
						    stack, f)) < json_object_array_length(frames));
		}
		assert_int_equal(json_object_get_uint64(get(profile, "endValue")), sum);
		sums[ns ? 0 : 1] += sum;
	}
	assert_int_equal(sums[0], CLOCK_SUM);
	assert_int_equal(sums[1], FAULTS_SUM);
	json_object_put(file);
	world_free(&world);
}

static uint64_t check_gecko_thread(struct json_object *thread, uint64_t *in_first)
{
	struct json_object *samples = get(get(thread, "samples"), "data");
	struct json_object *stacks = get(get(thread, "stackTable"), "data");
	struct json_object *frames = get(get(thread, "frameTable"), "data");
	struct json_object *strings = get(thread, "stringTable");
	double last = 0;

	for (size_t i = 0; i < json_object_array_length(samples); i++) {
		struct json_object *row = json_object_array_get_idx(samples, i);
		double time = json_object_get_double(json_object_array_get_idx(row, 1));

		assert_true(json_object_get_uint64(json_object_array_get_idx(row, 0)) <
			json_object_array_length(stacks));
		assert_true(time >= last);
		last = time;
		*in_first += time < (double)STORE_SLICE_NS / 1e6;
	}
	for (size_t i = 0; i < json_object_array_length(stacks); i++) {
		struct json_object *row = json_object_array_get_idx(stacks, i);
		struct json_object *prefix = json_object_array_get_idx(row, 0);

		/* Parents come first. */
		assert_true(!prefix || json_object_get_uint64(prefix) < i);
		assert_true(json_object_get_uint64(json_object_array_get_idx(row, 1)) <
			json_object_array_length(frames));
	}
	for (size_t i = 0; i < json_object_array_length(frames); i++)
		assert_true(json_object_get_uint64(json_object_array_get_idx(
				    json_object_array_get_idx(frames, i), 0)) <
			json_object_array_length(strings));
	return json_object_array_length(samples);
}

static void test_gecko(void **state)
{
	struct world world;
	struct json_object *file, *threads;
	uint64_t count = 0, in_first = 0;

	(void)state;
	world_make(&world);
	fill(&world);
	file = read_json(&world, export_gecko);
	threads = get(file, "threads");
	assert_int_equal(json_object_array_length(threads), 2);
	for (size_t i = 0; i < 2; i++)
		count += check_gecko_thread(json_object_array_get_idx(threads, i), &in_first);
	assert_int_equal(count, CLOCK_COUNT);
	/* Samples stay within the time of their slice. */
	assert_int_equal(in_first, FIRST_SLICE_COUNT);
	assert_int_equal(json_object_get_int(get(get(file, "meta"), "version")), 24);
	json_object_put(file);
	world_free(&world);
}

/* --- pprof --- */

static Pprof__Profile *read_pprof(struct world *world)
{
	size_t len, size = 16 << 20;
	char *packed = world_write(world, export_pprof, &len);
	uint8_t *bytes = malloc(size);
	z_stream stream = {.next_in = (uint8_t *)packed, .avail_in = (unsigned int)len};
	Pprof__Profile *profile;

	assert_non_null(bytes);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_out = bytes;
	stream.avail_out = (unsigned int)size;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	profile = pprof__profile__unpack(NULL, stream.total_out, bytes);
	assert_non_null(profile);
	inflateEnd(&stream);
	free(bytes);
	free(packed);
	return profile;
}

static const char *string_of(const Pprof__Profile *profile, int64_t number)
{
	assert_true(number >= 0 && (size_t)number < profile->n_string_table);
	return (const char *)profile->string_table[number].data;
}

static void check_samples(const Pprof__Profile *profile)
{
	uint64_t sums[3] = {0};

	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Sample *sample = profile->sample[i];

		assert_int_equal(sample->n_value, 3);
		for (int v = 0; v < 3; v++)
			sums[v] += (uint64_t)sample->value[v];
		for (size_t l = 0; l < sample->n_location_id; l++)
			assert_in_range(sample->location_id[l], 1, profile->n_location);
		assert_int_equal(sample->n_label, 3);
	}
	assert_int_equal(sums[0], CLOCK_COUNT + 1);
	assert_int_equal(sums[1], CLOCK_SUM);
	assert_int_equal(sums[2], FAULTS_SUM);
}

static void test_pprof(void **state)
{
	static const uint8_t build_id[] = {0xab, 0xcd};
	struct world world;
	Pprof__Profile *profile;

	(void)state;
	world_make(&world);
	fill(&world);
	images_set_build_id(world.images, world.program, build_id, sizeof(build_id));
	profile = read_pprof(&world);
	assert_int_equal(profile->string_table[0].len, 0);
	assert_int_equal(profile->n_sample_type, 3);
	assert_memory_equal(string_of(profile, profile->sample_type[1]->unit), "nanoseconds", 11);
	check_samples(profile);
	assert_int_equal(profile->n_mapping, 2);
	assert_memory_equal(string_of(profile, profile->mapping[0]->filename), "/bin/program", 12);
	assert_memory_equal(string_of(profile, profile->mapping[0]->build_id), "abcd", 4);
	for (size_t i = 0; i < profile->n_location; i++) {
		const Pprof__Location *location = profile->location[i];
		const Pprof__Mapping *mapping = profile->mapping[location->mapping_id - 1];

		assert_int_equal(location->id, i + 1);
		assert_true(location->address >= mapping->memory_start);
		assert_true(location->address < mapping->memory_limit);
		assert_in_range(location->line[0]->function_id, 1, profile->n_function);
	}
	for (size_t i = 0; i < profile->n_function; i++)
		string_of(profile, profile->function[i]->name);
	pprof__profile__free_unpacked(profile, NULL);
	world_free(&world);
}

/* A program is first even if all samples of its processes are in libraries. */
static void test_pprof_program(void **state)
{
	struct record exec = {.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.pid = 100, .tid = 100, .time_ns = START_NS},
		.mmap = {.pid = 100,
			.tid = 100,
			.start = 0x1000,
			.len = 0x3000,
			.pgoff = 0x2000,
			.executable = true,
			.filename = "/bin/caller",
			.build_id = {'a', 'b'},
			.build_id_len = 2}};
	struct world world;
	const Pprof__Mapping *first;
	Pprof__Profile *profile;

	(void)state;
	world_make(&world);
	assert_int_equal(tasks_apply(world.tasks, &exec), 0);
	world_add(&world, world_push(&world, STACK_ROOT, world.library, 0x123), world.worker, 0, 5);
	world_add(&world, STACK(&world, MAIN), world.worker, 0, 5);
	profile = read_pprof(&world);
	assert_int_equal(profile->n_mapping, 3);
	first = profile->mapping[0];
	assert_memory_equal(string_of(profile, first->filename), "/bin/caller", 11);
	assert_memory_equal(string_of(profile, first->build_id), "6162", 4);
	assert_int_equal(first->file_offset, 0x2000);
	assert_int_equal(first->memory_limit - first->memory_start, 0x3000);
	for (size_t i = 0; i < profile->n_location; i++)
		assert_int_not_equal(profile->location[i]->mapping_id, first->id);
	pprof__profile__free_unpacked(profile, NULL);
	world_free(&world);
}

/* The main program is first, at its own addresses, with a mapping for each segment. Other images
 * follow at other addresses, with file offsets. */
static void test_pprof_segments(void **state)
{
	static const struct symbols_segment program[] = {
		{0x0, 0x18, 0x401000}, {0x18, 0x2000, 0x602018}};
	static const struct symbols_segment library[] = {{0x5000, 0x1800, 0x6000}};
	const Pprof__Mapping *first, *second, *third;
	struct world world;
	Pprof__Profile *profile;
	uint32_t node = STACK_ROOT;

	(void)state;
	world_make(&world);
	world.symbols.images[world.program].segments = program;
	world.symbols.images[world.program].n_segments = 2;
	world.symbols.images[world.library].segments = library;
	world.symbols.images[world.library].n_segments = 1;
	/* The library is met first and has as many samples. */
	node = world_push(&world, STACK_ROOT, world.program, MAIN + 4);
	node = world_push(&world, node, world.program, LEAF);
	node = world_push(&world, node, world.library, 0x6123);
	world_add(&world, node, world.worker, 0, 5);
	profile = read_pprof(&world);
	assert_int_equal(profile->n_mapping, 3);
	first = profile->mapping[0];
	second = profile->mapping[1];
	third = profile->mapping[2];
	assert_memory_equal(string_of(profile, first->filename), "/bin/program", 12);
	/* Segments keep the order in which the stacks use them. */
	assert_int_equal(first->memory_start, 0x602000);
	assert_int_equal(first->memory_limit, 0x605000);
	assert_int_equal(first->file_offset, 0);
	assert_memory_equal(string_of(profile, second->filename), "/lib/libx.so", 12);
	assert_int_equal(second->file_offset, 0x5000);
	assert_int_equal(second->memory_limit - second->memory_start, 0x2000);
	assert_true(second->memory_start > 0x605000);
	assert_int_equal(third->memory_start, 0x401000);
	assert_int_equal(third->memory_limit, 0x402000);
	assert_int_equal(third->file_offset, 0);
	assert_int_equal(profile->location[0]->address, second->memory_start + 0x1123);
	assert_int_equal(profile->location[1]->address, 0x602020);
	assert_int_equal(profile->location[2]->address, 0x401004);
	pprof__profile__free_unpacked(profile, NULL);
	world_free(&world);
}

/* go tool pprof demangles a name again unless it is the system name, and removes all its
 * brackets. */
static void test_pprof_system_names(void **state)
{
	static const struct symbol functions[] = {{0x00, 16, "_Z4workv", NULL, 0, false},
		{0x10, 16, "void run<&fa>()", NULL, 1, false},
		{0x20, 16, "main.f[go.shape.func()]", NULL, 2, false}};
	static const char shown[] = "work()";
	struct world world;
	Pprof__Profile *profile;

	(void)state;
	world_make(&world);
	world.symbols.pretty = true;
	world.symbols.images[world.program].symbols = functions;
	world.symbols.images[world.program].n_symbols = 3;
	world_add(&world, STACK(&world, 0x0, 0x10, 0x20, NOTHING), world.worker, 0, 1);
	profile = read_pprof(&world);
	assert_int_equal(profile->n_function, 4);
	for (size_t i = 0; i < 4; i++) {
		const Pprof__Function *function = profile->function[i];
		const ProtobufCBinaryData *name = &profile->string_table[function->name];
		const ProtobufCBinaryData *system = &profile->string_table[function->system_name];
		bool is_mangled =
			name->len == strlen(shown) && !memcmp(name->data, shown, name->len);

		assert_int_equal(system->len, is_mangled ? strlen("_Z4workv") : 0);
		if (is_mangled)
			assert_memory_equal(system->data, "_Z4workv", system->len);
	}
	pprof__profile__free_unpacked(profile, NULL);
	world_free(&world);
}

/* A location has a line for each inlined function, innermost first. Functions have files. */
static void test_pprof_inlined(void **state)
{
	static const struct symbols_frame in_work[] = {
		{.function = "step", .file = "/src/step.h", .line = 7, .inlined = true},
		{.function = "work", .file = "/src/work\033.c", .line = 42}};
	struct fake_lines lines = {.offset = WORK, .frames = in_work, .n_frames = 2};
	struct world world;
	Pprof__Profile *profile;
	size_t wide = 0;

	(void)state;
	world_make(&world);
	fill(&world);
	lines.key = world.program;
	world.symbols.lines = &lines;
	world.symbols.n_lines = 1;
	world.symbols.lines_known = true;
	world.profile.inlines = true;
	profile = read_pprof(&world);
	for (size_t i = 0; i < profile->n_location; i++) {
		const Pprof__Location *location = profile->location[i];
		const Pprof__Function *inner, *outer;

		if (location->n_line == 1)
			continue;
		wide++;
		assert_int_equal(location->n_line, 2);
		inner = profile->function[location->line[0]->function_id - 1];
		outer = profile->function[location->line[1]->function_id - 1];
		assert_memory_equal(string_of(profile, inner->name), "step (inlined)", 14);
		assert_memory_equal(string_of(profile, inner->filename), "/src/step.h", 11);
		assert_memory_equal(string_of(profile, outer->name), "work", 4);
		assert_memory_equal(string_of(profile, outer->filename), "/src/work?.c", 12);
		assert_int_equal(location->line[0]->line, 7);
		assert_int_equal(location->line[1]->line, 42);
	}
	assert_int_equal(wide, 1);
	pprof__profile__free_unpacked(profile, NULL);
	world_free(&world);
}

/* --- callgrind --- */

static void test_callgrind(void **state)
{
	struct world world;
	uint64_t first = 0, second = 0, sums[2] = {0};
	bool call = false;
	char *text, *rest, *line;

	(void)state;
	world_make(&world);
	fill(&world);
	text = world_write(&world, export_callgrind, NULL);
	assert_non_null(strstr(text, "events: cpu_clock page_faults_u\n"));
	assert_non_null(strstr(text, "summary: 1063 7\n"));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		/* The line after a call is its inclusive cost. */
		if (sscanf(line, "0 %" SCNu64 " %" SCNu64, &first, &second) == 2) {
			if (!call) {
				sums[0] += first;
				sums[1] += second;
			}
			/* No call costs more than the total. */
			assert_true(first <= CLOCK_SUM && second <= FAULTS_SUM);
		}
		call = !strncmp(line, "calls=", 6);
	}
	assert_int_equal(sums[0], CLOCK_SUM);
	assert_int_equal(sums[1], FAULTS_SUM);
	free(text);
	world_free(&world);
}

/* Costs are at their lines: inlined ones after fi=, then fe= returns. Functions are named as in
 * reports. */
static void test_callgrind_lines(void **state)
{
	static const struct symbols_frame in_work[] = {
		{.function = "step", .file = "/src/step.h", .line = 7, .inlined = true},
		{.function = "work", .file = "/src/work\033.c", .line = 42}};
	static const struct symbols_frame at_call[] = {
		{.function = "main", .file = "/src/main.c", .line = 90}};
	static const struct symbols_frame later[] = {
		{.function = "work", .file = "/src/work\033.c", .line = 40}};
	const struct fake_lines lines[] = {
		{.key = 0, .offset = WORK, .frames = in_work, .n_frames = 2},
		{.key = 0, .offset = MAIN, .frames = at_call, .n_frames = 1},
		{.key = 0, .offset = WORK + 4, .frames = later, .n_frames = 1}};
	struct fake_lines known[3];
	struct world world;
	char *text;

	(void)state;
	world_make(&world);
	for (int i = 0; i < 3; i++) {
		known[i] = lines[i];
		known[i].key = world.program;
	}
	world.symbols.lines = known;
	world.symbols.n_lines = 3;
	world.symbols.lines_known = true;
	world.profile.inlines = true;
	world_add(&world, STACK(&world, MAIN, WORK), world.worker, 0, 5);
	world_add(&world, STACK(&world, MAIN, WORK), world.other, 0, 6);
	world_add(&world, STACK(&world, MAIN, WORK + 4), world.worker, 0, 30);
	world_add(&world, STACK(&world, MAIN, WORK, LEAF), world.worker, 0, 100);
	world_add(&world, STACK(&world, MAIN, WORK + 4, LEAF), world.worker, 0, 200);
	text = world_write(&world, export_callgrind, NULL);
	assert_non_null(strstr(text, "summary: 341\n"));
	assert_null(strstr(text, "(inlined)"));
	assert_non_null(strstr(text,
		"ob=(1) /bin/program\nfl=(2) /src/work?.c\nfn=(1) work\n40 30\n"
		"fi=(3) /src/step.h\n7 11\n"
		"fe=(2)\ncob=(1)\ncfi=(1) ???\ncfn=(3) leaf\ncalls=1 0\n40 200\n"
		"fi=(3)\ncob=(1)\ncfi=(1)\ncfn=(3)\ncalls=1 0\n7 100\n"));
	/* A call leads to the callee's file, at its first line. */
	assert_non_null(strstr(text,
		"fl=(4) /src/main.c\nfn=(2) main\ncob=(1)\ncfi=(2)\ncfn=(1)\ncalls=5 40\n"
		"90 341\n"));
	free(text);
	/* Without inlined functions, their costs are at the line of the enclosing function. */
	world.profile.inlines = false;
	text = world_write(&world, export_callgrind, NULL);
	assert_null(strstr(text, "step.h"));
	assert_non_null(strstr(text, "fn=(1) work\n40 30\n42 11\n"));
	free(text);
	world_free(&world);
}

/* Event names with equal words become distinct, also from existing names. */
static void test_callgrind_words(void **state)
{
	struct profile_event events[] = {
		{.id = 0, .name = "a:b"}, {.id = 1, .name = "a/b"}, {.id = 2, .name = "a b_2"}};
	struct world world;
	char *text;

	(void)state;
	world_make(&world);
	world.profile.events = events;
	world.profile.n_events = 3;
	text = world_write(&world, export_callgrind, NULL);
	assert_non_null(strstr(text, "event: a_b_1 : a:b\nevent: a_b__2 : a/b\n"));
	assert_non_null(strstr(text, "events: a_b_1 a_b__2 a_b_2\n"));
	free(text);
	world_free(&world);
}

/* --- SVG --- */

static void test_svg(void **state)
{
	struct world world;
	char *text, *script;
	size_t scripts = 0;

	(void)state;
	world_make(&world);
	fill(&world);
	text = world_write(&world, export_svg, NULL);
	for (script = text; (script = strstr(script, "</script>")); script++)
		scripts++;
	assert_int_equal(scripts, 1);
	assert_non_null(strstr(text, "&lt;/script&gt;&quot;&amp;&#39;&lt;x&gt;;?[2J?"));
	assert_non_null(strstr(text, "a &lt;title&gt; &amp; &quot;more&quot;"));
	assert_non_null(strstr(text, "data-total=\"1063\""));
	/* The commands add up to the total. */
	assert_non_null(strstr(text, "data-s=\"0\" data-w=\"20\" data-d=\"1\"><title>java"));
	assert_non_null(
		strstr(text, "data-s=\"20\" data-w=\"1043\" data-d=\"1\"><title>worker one"));
	assert_non_null(strstr(text, "data-d=\"1002\""));
	free(text);
	world_free(&world);
}

/* A frame that is too narrow to see is left out. */
static void test_svg_narrow(void **state)
{
	struct world world;
	char *text;

	(void)state;
	world_make(&world);
	world_add(&world, STACK(&world, MAIN, WORK), world.worker, 0, 1000000);
	world_add(&world, STACK(&world, MAIN, LEAF), world.worker, 0, 1);
	text = world_write(&world, export_svg, NULL);
	assert_non_null(strstr(text, "<title>work\n"));
	assert_null(strstr(text, "<title>leaf\n"));
	assert_non_null(strstr(text, "data-total=\"1000001\""));
	free(text);
	world_free(&world);
}

static void test_empty(void **state)
{
	int (*const forms[])(FILE *, const struct profile *) = {
		export_speedscope, export_pprof, export_callgrind, export_svg, export_gecko};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct world world;
		size_t len;
		char *text;

		world_make(&world);
		text = world_write(&world, forms[i], &len);
		assert_true(len > 0);
		free(text);
		world_free(&world);
	}
}

static bool yes(void *ctx)
{
	(void)ctx;
	return true;
}

static void test_interrupted(void **state)
{
	int (*const forms[])(FILE *, const struct profile *) = {export_folded, export_speedscope,
		export_pprof, export_callgrind, export_svg, export_gecko};
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(out);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct world world;

		world_make(&world);
		fill(&world);
		free(world_write(&world, forms[i], NULL));
		world.profile.interrupted = yes;
		assert_int_equal(forms[i](out, &world.profile), -EINTR);
		world_free(&world);
	}
	fclose(out);
}

/* A full disk is reported, for each format. */
static void test_full(void **state)
{
	int (*const forms[])(FILE *, const struct profile *) = {export_folded, export_speedscope,
		export_pprof, export_callgrind, export_svg, export_gecko};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		FILE *out = fopen("/dev/full", "w");
		struct world world;

		if (!out) {
			print_message("skipped: there is no /dev/full\n");
			skip();
		}
		setvbuf(out, NULL, _IONBF, 0);
		world_make(&world);
		fill(&world);
		free(world_write(&world, forms[i], NULL));
		assert_int_equal(forms[i](out, &world.profile), -EIO);
		fclose(out);
		world_free(&world);
	}
}

static void test_json_strings(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	jsontext_string(out, "map<int, a&>\x7f \303\244 \"b\" c\\d \n\x1f");
	fclose(out);
	assert_string_equal(text, "\"map<int, a&>\x7f \303\244 \\\"b\\\" c\\\\d \\u000a\\u001f\"");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_speedscope),
		cmocka_unit_test(test_gecko),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_pprof_program),
		cmocka_unit_test(test_pprof_segments),
		cmocka_unit_test(test_pprof_system_names),
		cmocka_unit_test(test_pprof_inlined),
		cmocka_unit_test(test_callgrind),
		cmocka_unit_test(test_callgrind_lines),
		cmocka_unit_test(test_callgrind_words),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_svg_narrow),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
