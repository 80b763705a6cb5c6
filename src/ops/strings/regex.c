/* The compiler of regular expressions: a tree becomes the program of a machine. */
#include "ops/strings/regex_internal.h"

#include "base/alloc.h"

static bool emit(Regex *regex, const RegexNode *node, Status *status);

/* Appends a step that goes on with the one after it; -1 with status. */
static int32_t add_step(Regex *regex, RegexCode code, int32_t value, Status *status) {
  if (regex->count >= REGEX_MAX_PROGRAM) {
    status_invalid(status, "pattern too large - compile failed");
    return -1;
  }
  if (!mem_grow((void **)&regex->steps, &regex->capacity, regex->count + 1, sizeof *regex->steps)) {
    status_oom(status, "a regular expression");
    return -1;
  }
  int32_t at = (int32_t)regex->count++;
  regex->steps[at] = (RegexStep){.code = code, .next = at + 1, .other = at + 1, .value = value};
  return at;
}

static int32_t here(const Regex *regex) { return (int32_t)regex->count; }

static bool emit_set(Regex *regex, const RegexNode *node, Status *status) {
  int32_t at = add_step(regex, REGEX_CODE_SET, 0, status);
  if (at < 0) return false;
  regex->steps[at].ranges = node->ranges;
  regex->steps[at].num_ranges = node->num_ranges;
  return true;
}

/* Alternatives: each but the last begins with a split and ends with a jump to the end. The jumps are chained
 * through `next` until the end is known. */
static bool emit_or(Regex *regex, const RegexNode *node, Status *status) {
  int32_t jumps = -1;
  for (const RegexNode *child = node->child; child; child = child->sibling) {
    int32_t split = child->sibling ? add_step(regex, REGEX_CODE_SPLIT, 0, status) : 0;
    if (split < 0 || !emit(regex, child, status)) return false;
    if (!child->sibling) break;
    int32_t jump = add_step(regex, REGEX_CODE_JUMP, 0, status);
    if (jump < 0) return false;
    regex->steps[jump].next = jumps;
    jumps = jump;
    regex->steps[split].other = here(regex);
  }
  while (jumps >= 0) {
    int32_t next = regex->steps[jumps].next;
    regex->steps[jumps].next = here(regex);
    jumps = next;
  }
  return true;
}

/* The order of the two ways of a split: into the repeated part, or out of it. */
static void set_split(Regex *regex, int32_t split, int32_t in, int32_t out, bool lazy) {
  regex->steps[split].next = lazy ? out : in;
  regex->steps[split].other = lazy ? in : out;
}

/* x* as (x+)?, so that a part that can be empty leaves the loop as it does in a backtracking search. */
static bool emit_star(Regex *regex, const RegexNode *node, Status *status) {
  int32_t first = add_step(regex, REGEX_CODE_SPLIT, 0, status);
  if (first < 0 || !emit(regex, node->child, status)) return false;
  int32_t again = add_step(regex, REGEX_CODE_SPLIT, 0, status);
  if (again < 0) return false;
  set_split(regex, first, first + 1, here(regex), node->lazy);
  set_split(regex, again, first + 1, here(regex), node->lazy);
  return true;
}

static bool emit_repeat(Regex *regex, const RegexNode *node, Status *status) {
  if (node->most < 0 && node->least == 0) return emit_star(regex, node, status);
  int32_t begin = here(regex), splits = -1;
  for (int i = 0; i < node->least; i++) {
    begin = here(regex);
    TRY(emit(regex, node->child, status));
  }
  if (node->most < 0) {
    int32_t again = add_step(regex, REGEX_CODE_SPLIT, 0, status);
    if (again < 0) return false;
    set_split(regex, again, begin, here(regex), node->lazy);
    return true;
  }
  for (int i = node->least; i < node->most; i++) { /* (x(x(x)?)?)? */
    int32_t split = add_step(regex, REGEX_CODE_SPLIT, splits, status);
    if (split < 0 || !emit(regex, node->child, status)) return false;
    splits = split;
  }
  for (; splits >= 0; splits = regex->steps[splits].value)
    set_split(regex, splits, splits + 1, here(regex), node->lazy);
  return true;
}

static bool emit_group(Regex *regex, const RegexNode *node, Status *status) {
  bool stored = node->value < REGEX_MAX_GROUPS;
  if (stored && add_step(regex, REGEX_CODE_SAVE, 2 * node->value, status) < 0) return false;
  TRY(emit(regex, node->child, status));
  return !stored || add_step(regex, REGEX_CODE_SAVE, 2 * node->value + 1, status) >= 0;
}

/* The recursion is as deep as the tree, whose groups are limited. */
static bool emit(Regex *regex, const RegexNode *node, Status *status) {
  switch (node->kind) {
    case REGEX_EMPTY: return true;
    case REGEX_SET: return emit_set(regex, node, status);
    case REGEX_ASSERT: return add_step(regex, REGEX_CODE_ASSERT, node->value, status) >= 0;
    case REGEX_GROUP: return emit_group(regex, node, status);
    case REGEX_OR: return emit_or(regex, node, status);
    case REGEX_REPEAT: return emit_repeat(regex, node, status);
    case REGEX_CONCAT: break;
  }
  for (const RegexNode *child = node->child; child; child = child->sibling) TRY(emit(regex, child, status));
  return true;
}

static bool compile(Regex *regex, Str pattern, Status *status) {
  RegexNode *tree;
  TRY(regex_parse(pattern, regex->arena, &tree, &regex->num_groups, status));
  TRY(add_step(regex, REGEX_CODE_SAVE, 0, status) >= 0);
  TRY(emit(regex, tree, status));
  return add_step(regex, REGEX_CODE_SAVE, 1, status) >= 0 &&
         add_step(regex, REGEX_CODE_MATCH, 0, status) >= 0;
}

Regex *regex_new(Str pattern, Status *status) {
  Regex *regex = mem_calloc(1, sizeof *regex);
  if (regex) regex->arena = arena_new();
  bool ok = regex && regex->arena;
  if (!ok) status_oom(status, "a regular expression");
  if (ok && compile(regex, pattern, status)) return regex;
  regex_free(regex);
  return NULL;
}

void regex_free(Regex *regex) {
  if (!regex) return;
  mem_free(regex->steps);
  arena_free(regex->arena);
  mem_free(regex);
}

int regex_num_groups(const Regex *regex) { return regex->num_groups; }
