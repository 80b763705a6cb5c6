/* Sets of code points. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/strings/regex_internal.h"
#include "ops/strings/unicode.h"

void regex_class_add(RegexClass *set, int32_t first, int32_t last) {
  set->failed =
      set->failed || !mem_grow((void **)&set->ranges, &set->capacity, set->count + 1, sizeof *set->ranges);
  if (!set->failed && first <= last) set->ranges[set->count++] = (RegexRange){first, last};
}

void regex_class_add_all(RegexClass *set, const RegexClass *other) {
  set->failed = set->failed || other->failed;
  for (int64_t i = 0; i < other->count; i++)
    regex_class_add(set, other->ranges[i].first, other->ranges[i].last);
}

void regex_class_free(RegexClass *set) {
  mem_free(set->ranges);
  *set = (RegexClass){0};
}

static int by_first(const void *a, const void *b) {
  int32_t x = ((const RegexRange *)a)->first, y = ((const RegexRange *)b)->first;
  return (x > y) - (x < y);
}

static void merge(RegexClass *set) {
  int64_t count = 0;
  if (set->count > 1) qsort(set->ranges, (size_t)set->count, sizeof *set->ranges, by_first);
  for (int64_t i = 0; i < set->count; i++) {
    RegexRange range = set->ranges[i], *last = count > 0 ? &set->ranges[count - 1] : NULL;
    if (!last || range.first > last->last + 1) set->ranges[count++] = range;
    else if (range.last > last->last) last->last = range.last;
  }
  set->count = count;
}

void regex_class_finish(RegexClass *set, bool negate) {
  RegexClass others = {0};
  int32_t next = 0;
  merge(set);
  if (!negate) return;
  for (int64_t i = 0; i < set->count; i++) {
    regex_class_add(&others, next, set->ranges[i].first - 1);
    next = set->ranges[i].last + 1;
  }
  regex_class_add(&others, next, UNICODE_MAX);
  others.failed = others.failed || set->failed;
  mem_free(set->ranges);
  *set = others;
}

bool regex_class_has(const RegexRange *ranges, int64_t count, int32_t point) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (ranges[middle].last < point) low = middle + 1;
    else high = middle;
  }
  return low < count && ranges[low].first <= point;
}

/* --- case --- */

typedef struct Folding {
  RegexClass *set;
  int64_t count; /* the ranges of the set at the beginning, sorted */
} Folding;

/* For each pair of a letter and its other case: if one is in the set, the other one is too. The Turkish
 * letters have no other case without a language. */
static bool fold_run(void *arg, const UnicodeCaseRun *run) {
  enum { DOTLESS_I = 0x131 };
  Folding *folding = arg;
  for (int32_t point = run->first; point <= run->last; point += run->step) {
    int32_t other = point + run->offset;
    if (point == DOTLESS_I) continue;
    bool has = regex_class_has(folding->set->ranges, folding->count, point);
    if (has == regex_class_has(folding->set->ranges, folding->count, other)) continue;
    regex_class_add(folding->set, has ? other : point, has ? other : point);
  }
  return !folding->set->failed;
}

void regex_class_fold(RegexClass *set) {
  bool added = true;
  merge(set);
  /* A letter may have several others (k, K, the Kelvin sign), so this is repeated until nothing is added. */
  while (added && !set->failed) {
    Folding folding = {set, set->count};
    (void)unicode_each_case(true, fold_run, &folding);
    (void)unicode_each_case(false, fold_run, &folding);
    added = set->count > folding.count;
    merge(set);
  }
}

/* --- classes by name --- */

bool regex_class_add_perl(RegexClass *set, char letter) {
  switch (letter) {
    case 'd': regex_class_add(set, '0', '9'); return true;
    case 'w': return regex_class_add_posix(set, str_of("word"));
    case 's':
      regex_class_add(set, '\t', '\n');
      regex_class_add(set, '\f', '\r');
      regex_class_add(set, ' ', ' ');
      return true;
    default: return false;
  }
}

bool regex_class_add_posix(RegexClass *set, Str name) {
  /* Pairs of the first and the last character of a range. */
  static const struct {
    const char *name, *ranges;
  } kClasses[] = {{"alnum", "09AZaz"}, {"alpha", "AZaz"},    {"digit", "09"},       {"lower", "az"},
                  {"upper", "AZ"},     {"xdigit", "09AFaf"}, {"word", "09AZ__az"},  {"blank", "\t\t  "},
                  {"graph", "!~"},     {"print", " ~"},      {"punct", "!/:@[`{~"}, {"space", "\t\r  "}};
  if (str_equal_text(name, "ascii") || str_equal_text(name, "cntrl")) {
    regex_class_add(set, 0, name.data[0] == 'a' ? 0x7F : 0x1F);
    regex_class_add(set, 0x7F, 0x7F);
    return true;
  }
  for (size_t i = 0; i < sizeof kClasses / sizeof kClasses[0]; i++) {
    if (!str_equal_text(name, kClasses[i].name)) continue;
    for (const char *p = kClasses[i].ranges; *p != '\0'; p += 2) regex_class_add(set, p[0], p[1]);
    return true;
  }
  return false;
}

typedef struct Choice {
  RegexClass *set;
  uint32_t categories; /* a bit for each; or */
  int script;          /* the script, if not -1 */
} Choice;

static bool add_run(void *arg, int32_t first, int32_t last, int value) {
  const Choice *choice = arg;
  bool wanted = choice->script >= 0 ? value == choice->script : choice->categories >> value & 1;
  if (wanted) regex_class_add(choice->set, first, last);
  return true;
}

/* The bits of the categories with that name or, for one letter, with that first letter. "Cn" is none of
 * RE2's. */
static uint32_t category_bits(Str name) {
  static const char kNames[] = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCoCs";
  uint32_t bits = 0;
  for (int i = 1; i < UNICODE_NUM_CATEGORIES && name.length > 0 && name.length <= 2; i++) {
    if (memcmp(kNames + 2 * i, name.data, name.length) == 0) bits |= UINT32_C(1) << i;
  }
  return bits;
}

bool regex_class_add_unicode(RegexClass *set, Str name) {
  if (str_equal_text(name, "Any")) {
    regex_class_add(set, 0, UNICODE_MAX);
    return true;
  }
  Choice choice = {set, category_bits(name), unicode_script_number(name)};
  if (choice.categories == 0 && choice.script < 0) return false;
  if (choice.script >= 0) return unicode_each_script(add_run, &choice);
  return unicode_each_category(add_run, &choice);
}
