/* The matcher: Pike's machine. A thread is a step that waits for a character, with the positions of its
 * groups. All threads advance together, in order of preference, so the time is linear in the text. */
#include <string.h>

#include "base/alloc.h"
#include "ops/strings/regex_internal.h"
#include "ops/strings/unicode.h"

/* The threads at one position; `marks` has the step's place, so that each step has one thread. */
typedef struct Threads {
  int32_t *steps, *places;
  int64_t *positions; /* `width` for each thread */
  int32_t count;
} Threads;

typedef struct Todo {
  int32_t step; /* or -1: restore the position in `slot` */
  int32_t slot;
  int64_t position;
} Todo;

struct RegexScratch {
  Threads now, next;
  Todo *todo;
  int64_t current[REGEX_MAX_POSITIONS];
  int width;
};

static bool allocate_threads(Threads *threads, int64_t count, int width) {
  threads->steps = mem_calloc(count, sizeof *threads->steps);
  threads->places = mem_calloc(count, sizeof *threads->places);
  threads->positions = mem_alloc(count * width * (int64_t)sizeof *threads->positions);
  return threads->steps && threads->places && threads->positions;
}

static void free_threads(Threads *threads) {
  mem_free(threads->steps);
  mem_free(threads->places);
  mem_free(threads->positions);
}

RegexScratch *regex_scratch_new(const Regex *regex, Status *status) {
  RegexScratch *scratch = mem_calloc(1, sizeof *scratch);
  bool ok = scratch;
  if (ok) {
    int groups = regex->num_groups + 1;
    scratch->width = 2 * (groups < REGEX_MAX_GROUPS ? groups : REGEX_MAX_GROUPS);
    scratch->todo = mem_alloc((3 * regex->count + 1) * (int64_t)sizeof *scratch->todo);
    ok = allocate_threads(&scratch->now, regex->count, scratch->width) &&
         allocate_threads(&scratch->next, regex->count, scratch->width) && scratch->todo;
  }
  if (ok) return scratch;
  status_oom(status, "a regular expression");
  regex_scratch_free(scratch);
  return NULL;
}

void regex_scratch_free(RegexScratch *scratch) {
  if (!scratch) return;
  free_threads(&scratch->now);
  free_threads(&scratch->next);
  mem_free(scratch->todo);
  mem_free(scratch);
}

/* --- assertions --- */

static bool is_word(Str text, int64_t at) {
  if (at < 0 || at >= (int64_t)text.length) return false;
  char c = text.data[at];
  return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool holds(RegexAssert what, Str text, int64_t at) {
  bool at_begin = at == 0, at_end = at == (int64_t)text.length;
  switch (what) {
    case REGEX_TEXT_BEGIN: return at_begin;
    case REGEX_TEXT_END: return at_end;
    case REGEX_LINE_BEGIN: return at_begin || text.data[at - 1] == '\n';
    case REGEX_LINE_END: return at_end || text.data[at] == '\n';
    case REGEX_WORD_EDGE: return is_word(text, at - 1) != is_word(text, at);
    default: return is_word(text, at - 1) == is_word(text, at);
  }
}

/* --- threads --- */

static bool has_thread(const Threads *threads, int32_t step) {
  int32_t place = threads->places[step];
  return place < threads->count && threads->steps[place] == step;
}

static void push(RegexScratch *scratch, int64_t *count, int32_t step, int32_t slot, int64_t position) {
  scratch->todo[(*count)++] = (Todo){step, slot, position};
}

/* Adds the threads that `step` leads to without a character; scratch->current has the positions of groups. */
static void add_threads(const Regex *regex, RegexScratch *scratch, Threads *threads, int32_t step, Str text,
                        int64_t at) {
  int64_t count = 0;
  push(scratch, &count, step, 0, 0);
  while (count > 0) {
    Todo todo = scratch->todo[--count];
    if (todo.step < 0) {
      scratch->current[todo.slot] = todo.position;
      continue;
    }
    if (has_thread(threads, todo.step)) continue;
    const RegexStep *s = &regex->steps[todo.step];
    int32_t place = threads->count++;
    threads->steps[place] = todo.step;
    threads->places[todo.step] = place;
    switch (s->code) {
      case REGEX_CODE_SPLIT:
        push(scratch, &count, s->other, 0, 0);
        push(scratch, &count, s->next, 0, 0);
        break;
      case REGEX_CODE_SAVE:
        push(scratch, &count, -1, s->value, scratch->current[s->value]);
        scratch->current[s->value] = at;
        push(scratch, &count, s->next, 0, 0);
        break;
      case REGEX_CODE_ASSERT:
        if (holds((RegexAssert)s->value, text, at)) push(scratch, &count, s->next, 0, 0);
        break;
      case REGEX_CODE_JUMP: push(scratch, &count, s->next, 0, 0); break;
      default:
        memcpy(threads->positions + (int64_t)place * scratch->width, scratch->current,
               (size_t)scratch->width * sizeof *scratch->current);
    }
  }
}

/* Lets every thread take the character `point` of `length` bytes. Returns whether a thread matched: the ones
 * after it count less and are dropped. */
static bool advance(const Regex *regex, RegexScratch *scratch, Str text, int64_t at, int32_t point,
                    int length, bool whole, int64_t *found) {
  Threads *now = &scratch->now;
  scratch->next.count = 0;
  for (int32_t i = 0; i < now->count; i++) {
    const RegexStep *s = &regex->steps[now->steps[i]];
    const int64_t *positions = now->positions + (int64_t)i * scratch->width;
    if (s->code == REGEX_CODE_MATCH && (!whole || at == (int64_t)text.length)) {
      if (found) memcpy(found, positions, (size_t)scratch->width * sizeof *found);
      return true;
    }
    if (s->code != REGEX_CODE_SET || length == 0 || !regex_class_has(s->ranges, s->num_ranges, point))
      continue;
    memcpy(scratch->current, positions, (size_t)scratch->width * sizeof *positions);
    add_threads(regex, scratch, &scratch->next, s->next, text, at + length);
  }
  return false;
}

static bool run(const Regex *regex, RegexScratch *scratch, Str text, int64_t at, bool whole, int64_t *found) {
  bool matched = false;
  int length = 0;
  scratch->now.count = 0;
  for (int64_t from = at;; at += length) {
    if (!matched && (!whole || at == from)) {
      for (int i = 0; i < scratch->width; i++) scratch->current[i] = -1;
      add_threads(regex, scratch, &scratch->now, 0, text, at);
    }
    if (scratch->now.count == 0) return matched;
    int32_t point = UNICODE_INVALID;
    length = 0;
    if (at < (int64_t)text.length)
      point = utf8_decode((Str){text.data + at, text.length - (size_t)at}, &length);
    if (point == UNICODE_INVALID && length > 1) length = 1;
    if (advance(regex, scratch, text, at, point, length, whole, found)) matched = true;
    Threads old = scratch->now;
    scratch->now = scratch->next;
    scratch->next = old;
    if (length == 0) return matched;
  }
}

bool regex_matches(const Regex *regex, RegexScratch *scratch, Str text) {
  return run(regex, scratch, text, 0, true, NULL);
}

bool regex_find(const Regex *regex, RegexScratch *scratch, Str text, int64_t from,
                int64_t found[REGEX_MAX_POSITIONS]) {
  for (int i = 0; i < REGEX_MAX_POSITIONS; i++) found[i] = -1;
  return run(regex, scratch, text, from, false, found);
}
