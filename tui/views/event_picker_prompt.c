/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker_prompt.c - the prompt for any text of the event grammar: completion, history,
 * errors.
 */
#include "sampler/events/catalogue.h"
#include "sampler/events/parse.h"
#include "tui/explain/explain.h"
#include "tui/model/commands.h"
#include "tui/views/event_picker.h"

#include <stdio.h>
#include <string.h>

#define WORD_ENDS ",{} "

/* --- completion --- */

/* Copies the word before the cursor; returns its offset. */
static size_t word_at(const struct prompt *prompt, char word[PROMPT_MAX])
{
	size_t at = prompt->cursor;

	while (at > 0 && !strchr(WORD_ENDS, prompt->text[at - 1]))
		at--;
	memcpy(word, prompt->text + at, prompt->cursor - at);
	word[prompt->cursor - at] = '\0';
	return at;
}

static void find_completions(struct picker *picker, const struct screen *screen)
{
	char word[PROMPT_MAX];

	picker->word = word_at(&screen->prompt, word);
	catalogue_complete(picker->offers.entries, picker->offers.n, word, &picker->completion);
}

/* Replaces the word by the first len bytes of a name. */
static void put_in(struct picker *picker, struct screen *screen, const char *name, size_t len)
{
	const struct prompt *prompt = &screen->prompt;
	char text[2 * PROMPT_MAX];

	snprintf(text, sizeof(text), "%.*s%.*s%s", (int)picker->word, prompt->text, (int)len, name,
		prompt->text + prompt->cursor);
	if (strlen(text) < PROMPT_MAX)
		screen_prompt_set(screen, text, picker->word + len);
}

/* Replaces the wrong name by the suggested one. */
static void correct(struct picker *picker, struct screen *screen)
{
	const struct event_error *error = &picker->error;
	const char *text = screen->prompt.text;
	const char *ends = error->kind == EVENT_ERROR_UNKNOWN ? WORD_ENDS ":/" : WORD_ENDS "=/";
	size_t end = error->offset + strcspn(text + error->offset, ends);

	/* "sched:sched_swich:u": modifiers follow only the second colon. */
	if (strchr(error->near, ':') && text[end] == ':')
		end += 1 + strcspn(text + end + 1, ends);
	picker->word = error->offset;
	screen->prompt.cursor = end;
	put_in(picker, screen, error->near, strlen(error->near));
	picker->error.kind = EVENT_ERROR_NONE;
	find_completions(picker, screen);
}

/* Completes the common part of all names, then each name in turn. */
static void complete(struct picker *picker, struct screen *screen)
{
	const struct catalogue_completion *completion = &picker->completion;
	const struct catalogue_entry *entry;
	char word[PROMPT_MAX];
	size_t common;

	if (!picker->cycle)
		find_completions(picker, screen);
	if (!completion->n)
		return;
	if (!picker->cycle && !completion->near && completion->prefixed) {
		word_at(&screen->prompt, word);
		common = catalogue_common(picker->offers.entries, picker->offers.n, word);
		for (size_t i = 0; common > strlen(word) && i < completion->n; i++) {
			entry = &picker->offers.entries[completion->at[i]];
			if (strncasecmp(entry->name, word, strlen(word)) != 0)
				continue;
			put_in(picker, screen, entry->name, common);
			find_completions(picker, screen);
			return;
		}
	}
	picker->error.kind = EVENT_ERROR_NONE;
	picker->cycle = picker->cycle % completion->n + 1;
	entry = &picker->offers.entries[completion->at[picker->cycle - 1]];
	put_in(picker, screen, entry->name, catalogue_literal(entry));
}

/* --- history --- */

static void go_back(struct picker *picker, struct screen *screen, int step)
{
	size_t back = picker->back + (size_t)(step > 0) - (size_t)(step < 0);
	const char *text = picker->draft;

	if (step < 0 && !picker->back)
		return;
	if (!picker->back)
		snprintf(picker->draft, sizeof(picker->draft), "%s", screen->prompt.text);
	if (back)
		text = history_get(&screen->typed_events, back);
	if (!text)
		return;
	picker->back = back;
	screen_prompt_set(screen, text, strlen(text));
	picker->cycle = 0;
	picker->error.kind = EVENT_ERROR_NONE;
	find_completions(picker, screen);
}

/* --- the prompt --- */

void picker_ask(struct picker *picker, struct screen *screen, const char *text)
{
	screen_prompt(screen, ACT_TYPE, "Events: ", text);
	picker->cycle = picker->back = 0;
	picker->error.kind = EVENT_ERROR_NONE;
	find_completions(picker, screen);
}

bool picker_prompt_key(struct view *view, struct screen *screen, enum action purpose, uint32_t key)
{
	struct picker *picker = view->state;

	if (purpose != ACT_TYPE)
		return false;
	switch (key) {
	case INPUT_TAB:
		if (picker->error.kind != EVENT_ERROR_NONE && picker->error.near[0])
			correct(picker, screen);
		else
			complete(picker, screen);
		return true;
	case INPUT_UP:
	case INPUT_DOWN:
		go_back(picker, screen, key == INPUT_UP ? 1 : -1);
		return true;
	default:
		/* Reset even if the key only moves the cursor: another word may be completed
		 * next. */
		picker->cycle = 0;
		return false;
	}
}

void picker_prompt_changed(struct picker *picker, struct screen *screen)
{
	picker->cycle = 0;
	picker->error.kind = EVENT_ERROR_NONE;
	find_completions(picker, screen);
}

void picker_explain(const char *text, const struct event_error *error, char *out, size_t size)
{
	char sentence[1024];
	/* the length of "-e 'TEXT': " */
	size_t head = 4 + strlen(text) + 3;

	explain_event_error(text, error, sentence, sizeof(sentence));
	if (strlen(sentence) <= head || strncmp(sentence + head - 3, "': ", 3) != 0)
		head = 0;
	snprintf(out, size, "%s", sentence + head);
	if (out[0] >= 'a' && out[0] <= 'z')
		out[0] = (char)(out[0] - 'a' + 'A');
}

void picker_prompt_done(struct picker *picker, struct screen *screen, const char *text)
{
	struct model *model = screen->model;
	struct event_error error = {.kind = EVENT_ERROR_NONE};
	char copy[PROMPT_MAX];
	int ret;

	snprintf(copy, sizeof(copy), "%s", text);
	if (!copy[strspn(copy, " ")])
		return;
	history_add(&screen->typed_events, copy);
	picker_asked(picker, model);
	ret = model->commands->event_add(model, copy, &error);
	if (error.kind == EVENT_ERROR_NONE) {
		screen_result(screen, ret, "The events cannot be added");
		return;
	}
	/* Opens the prompt again, with the cursor at the error. */
	picker_ask(picker, screen, copy);
	picker->error = error;
	if (picker->error.offset > strlen(copy))
		picker->error.offset = strlen(copy);
	picker_explain(copy, &picker->error, picker->sentence, sizeof(picker->sentence));
	screen_prompt_set(screen, copy, picker->error.offset);
}
