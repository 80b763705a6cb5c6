/* The parts of a regular expression: its tree, its sets of characters, its program. */
#ifndef TFCORE_OPS_STRINGS_REGEX_INTERNAL_H_
#define TFCORE_OPS_STRINGS_REGEX_INTERNAL_H_

#include "base/arena.h"
#include "ops/strings/regex.h"

/* --- sets of code points (regex_class.c) --- */

typedef struct RegexRange {
  int32_t first, last;
} RegexRange;

/* While it is built, ranges in any order; after regex_class_finish sorted, and not adjacent. */
typedef struct RegexClass {
  RegexRange *ranges;
  int64_t count, capacity;
  bool failed; /* out of memory */
} RegexClass;

void regex_class_add(RegexClass *set, int32_t first, int32_t last);
void regex_class_add_all(RegexClass *set, const RegexClass *other);
/* Sorts and merges; all code points that are not in it become the set when `negate`. */
void regex_class_finish(RegexClass *set, bool negate);
/* Adds the other cases of all its letters. */
void regex_class_fold(RegexClass *set);
bool regex_class_has(const RegexRange *ranges, int64_t count, int32_t point);
/* Adds the characters of "\d", "\w", "\s" (lower case letter); of a POSIX class ("alpha"); of a Unicode class
 * ("L", "Lu", "Greek", "Any"). False if there is no such class. */
bool regex_class_add_perl(RegexClass *set, char letter);
bool regex_class_add_posix(RegexClass *set, Str name);
bool regex_class_add_unicode(RegexClass *set, Str name);
void regex_class_free(RegexClass *set);

/* --- the tree (regex_parse.c) --- */

typedef enum RegexKind {
  REGEX_EMPTY,
  REGEX_SET,    /* one character of `ranges` */
  REGEX_ASSERT, /* `value` is a RegexAssert */
  REGEX_GROUP,  /* group `value` around the child */
  REGEX_CONCAT, /* the children one after the other */
  REGEX_OR,     /* the first child that leads to a match */
  REGEX_REPEAT  /* the child, `least` to `most` times (-1: any number) */
} RegexKind;

typedef enum RegexAssert {
  REGEX_TEXT_BEGIN,
  REGEX_TEXT_END,
  REGEX_LINE_BEGIN,
  REGEX_LINE_END,
  REGEX_WORD_EDGE,
  REGEX_NO_WORD_EDGE
} RegexAssert;

typedef struct RegexNode {
  RegexKind kind;
  int value, least, most;
  bool lazy;
  const RegexRange *ranges;
  int64_t num_ranges;
  struct RegexNode *child, *sibling; /* the first child; the next child of the parent */
} RegexNode;

/* The nesting of groups and the number of repetitions, as of RE2. */
enum { REGEX_MAX_DEPTH = 1000, REGEX_MAX_REPEAT = 1000, REGEX_MAX_PROGRAM = 50000 };

/* The tree of a pattern, in `arena`. */
MUST_CHECK bool regex_parse(Str pattern, Arena *arena, RegexNode **tree, int *num_groups, Status *status);

/* --- the program (regex.c) --- */

typedef enum RegexCode {
  REGEX_CODE_SET,    /* consumes a character of `ranges`, goes to `next` */
  REGEX_CODE_SPLIT,  /* tries `next`, else `other` */
  REGEX_CODE_SAVE,   /* stores the position in slot `value` */
  REGEX_CODE_ASSERT, /* `value` is a RegexAssert */
  REGEX_CODE_JUMP,
  REGEX_CODE_MATCH
} RegexCode;

typedef struct RegexStep {
  RegexCode code;
  int32_t next, other, value;
  const RegexRange *ranges;
  int64_t num_ranges;
} RegexStep;

struct Regex {
  Arena *arena;
  RegexStep *steps;
  int64_t count, capacity;
  int num_groups;
};

#endif
