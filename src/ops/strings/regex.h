/* Regular expressions in the syntax of RE2, matched in time linear in the text.
 *
 *   Regex *regex = regex_new(pattern, status);
 *   int64_t found[REGEX_MAX_POSITIONS];
 *   if (regex_find(regex, scratch, text, 0, REGEX_SEARCH, found)) ...
 *   regex_free(regex);
 *
 * A pattern is parsed (regex_parse.c), compiled into a program (regex.c), and simulated on all alternatives
 * at once (Pike's machine, regex_match.c). Of several matches the one is taken that a backtracking search
 * would find first. Text is UTF-8; a byte that is not UTF-8 matches nothing. Matches begin and end between
 * characters. `\C` (one byte) is not supported.
 */
#ifndef TFCORE_OPS_STRINGS_REGEX_H_
#define TFCORE_OPS_STRINGS_REGEX_H_

#include "base/str.h"

/* Groups 0 to 9, each with a begin and an end. */
enum { REGEX_MAX_GROUPS = 10, REGEX_MAX_POSITIONS = 2 * REGEX_MAX_GROUPS };

typedef struct Regex Regex;
/* Memory of the matcher; one per thread. */
typedef struct RegexScratch RegexScratch;

/* NULL with status when the pattern is invalid: INVALID_ARGUMENT with RE2's words, such as "missing ): (a".
 */
Regex *regex_new(Str pattern, Status *status);
void regex_free(Regex *regex); /* NULL is fine */
/* The number of groups of the pattern, without group 0. */
int regex_num_groups(const Regex *regex);
RegexScratch *regex_scratch_new(const Regex *regex, Status *status);
void regex_scratch_free(RegexScratch *scratch); /* NULL is fine */
/* Whether the whole text matches. */
bool regex_matches(const Regex *regex, RegexScratch *scratch, Str text);
/* Finds the first match at or after byte `from`. Writes where its groups begin and end, -1 for a group
 * without part in the match. */
bool regex_find(const Regex *regex, RegexScratch *scratch, Str text, int64_t from,
                int64_t found[REGEX_MAX_POSITIONS]);

#endif
