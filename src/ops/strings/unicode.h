/* UTF-8, and properties of Unicode's code points: categories, scripts, case.
 *
 * The tables are compressed runs. Code that asks about many code points walks over the runs once.
 */
#ifndef TFCORE_OPS_STRINGS_UNICODE_H_
#define TFCORE_OPS_STRINGS_UNICODE_H_

#include "base/str.h"
#include "ops/strings/unicode_tables.h"

enum { UNICODE_MAX = 0x10FFFF, UNICODE_REPLACEMENT = 0xFFFD, UNICODE_INVALID = -1 };

/* General categories, in the order of the table's numbers. */
typedef enum UnicodeCategory {
  UNICODE_CN,
  UNICODE_LU,
  UNICODE_LL,
  UNICODE_LT,
  UNICODE_LM,
  UNICODE_LO,
  UNICODE_MN,
  UNICODE_MC,
  UNICODE_ME,
  UNICODE_ND,
  UNICODE_NL,
  UNICODE_NO,
  UNICODE_PC,
  UNICODE_PD,
  UNICODE_PS,
  UNICODE_PE,
  UNICODE_PI,
  UNICODE_PF,
  UNICODE_PO,
  UNICODE_SM,
  UNICODE_SC,
  UNICODE_SK,
  UNICODE_SO,
  UNICODE_ZS,
  UNICODE_ZL,
  UNICODE_ZP,
  UNICODE_CC,
  UNICODE_CF,
  UNICODE_CO,
  UNICODE_CS,
  UNICODE_NUM_CATEGORIES
} UnicodeCategory;

/* The code point at the beginning of `text`, which is not empty, and its number of bytes. UNICODE_INVALID for
 * bytes that are not UTF-8: *length is then the longest prefix of a valid sequence, at least 1. */
int32_t utf8_decode(Str text, int *length);
/* Appends a code point that is not a surrogate. */
void utf8_append(StrBuf *buffer, int32_t point);

/* Runs of code points with the same property; [first, last]. False ends the walk, which returns it. */
typedef bool (*UnicodeRunFn)(void *arg, int32_t first, int32_t last, int value);
bool unicode_each_category(UnicodeRunFn visit, void *arg);
bool unicode_each_script(UnicodeRunFn visit, void *arg);
UnicodeCategory unicode_category(int32_t point);
/* ICU's number of the script of that name ("Greek"), or -1. */
int unicode_script_number(Str name);

/* The single code points that the upper or lower case of a code point has: every `step`-th from `first` to
 * `last` becomes itself plus `offset`. */
typedef struct UnicodeCaseRun {
  int32_t first, last, step, offset;
} UnicodeCaseRun;
typedef bool (*UnicodeCaseFn)(void *arg, const UnicodeCaseRun *run);
bool unicode_each_case(bool upper, UnicodeCaseFn visit, void *arg);

/* Appends the lower or upper case of UTF-8, as ICU has it for no language. Bytes that are not UTF-8 become
 * U+FFFD. */
void unicode_lower(Str text, StrBuf *out);
void unicode_upper(Str text, StrBuf *out);

#endif
