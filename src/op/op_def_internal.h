/* Declarations shared by the parsers of op specs: a cursor over spec text and the collected errors of
 * an op. */
#ifndef TFCORE_OP_OP_DEF_INTERNAL_H_
#define TFCORE_OP_OP_DEF_INTERNAL_H_

#include <string.h>

#include "op/op_def_builder.h"

/* The state while one op is parsed. After an error, parsing continues with the next spec, and all errors are
 * reported together. */
typedef struct SpecParser {
  OpDef *op_def;
  Arena *arena;
  bool allow_attr_type_any;
  StrBuf errors;      /* one per line */
  bool out_of_memory; /* `errors` and op_def are incomplete */
  const char *call;   /* the spec being parsed: Attr("T: type") */
  const char *spec;
} SpecParser;

/* Each parses one spec and appends the result to op_def. */
void spec_parse_attr(SpecParser *parser, const char *spec);
void spec_parse_arg(SpecParser *parser, const char *spec, bool is_output);
void spec_parse_control_output(SpecParser *parser, const char *spec);
void spec_parse_doc(SpecParser *parser, const char *text);

/* Adds "<message> from Attr("<spec>") for Op <name>". */
void spec_error(SpecParser *parser, const char *format, ...) PRINTF_LIKE(2, 3);
/* Adds "<message> for Op <name>". */
void spec_error_of_op(SpecParser *parser, const char *format, ...) PRINTF_LIKE(2, 3);
/* Turns the collected errors into a status, and frees them. */
MUST_CHECK bool spec_finish(SpecParser *parser, Status *status);

/* A copy in the parser's arena; "" when out of memory, which the parser records. */
char *spec_copy(SpecParser *parser, Str text);

/* Replaces the escapes in the inside of a quoted string; the result is in the parser's arena. False: an error
 * was added, or memory ran out. */
bool spec_unescape(SpecParser *parser, Str text, Str *out);

/* --- the cursor: a `const char **at` into NUL-terminated text. Each function consumes a token and advances,
 * or returns false and does not advance. ---
 */

static inline bool spec_is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline bool spec_is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool spec_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool spec_is_letter(char c) { return spec_is_lower(c) || (c >= 'A' && c <= 'Z'); }

static inline void spec_skip_blanks(const char **at) {
  while (spec_is_blank(**at)) ++*at;
}

static inline bool spec_take(const char **at, const char *literal) {
  if (!text_starts_with(*at, literal)) return false;
  *at += strlen(literal);
  return true;
}

/* A letter (with `lower` a lower-case one), then letters of the same kind, digits and underscores. */
bool spec_take_identifier(const char **at, bool lower, Str *name);
/* An identifier, then a colon, which may have blanks around it. */
bool spec_take_name_and_colon(const char **at, bool lower, Str *name);

#endif
