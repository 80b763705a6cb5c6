/* The parser of regular expressions: recursive descent, with RE2's rules and words. */
#include <string.h>

#include "ops/strings/regex_internal.h"
#include "ops/strings/unicode.h"

/* Flags of (?imsU). */
typedef struct Flags {
  bool fold, multi_line, dot_newline, ungreedy;
} Flags;

typedef struct Parser {
  Str pattern;
  size_t at;
  Flags flags;
  Arena *arena;
  int depth, num_groups;
  Status *status;
} Parser;

static RegexNode *parse_alternatives(Parser *p);

/* --- errors and characters --- */

/* INVALID_ARGUMENT "words: part". Returns NULL. */
static void *refuse(Parser *p, const char *words, size_t begin, size_t end) {
  if (end > p->pattern.length) end = p->pattern.length;
  status_invalid(p->status, "%s%s%.*s", words, end > begin ? ": " : "", (int)(end - begin),
                 p->pattern.data + begin);
  return NULL;
}

static void *out_of_memory(Parser *p) {
  status_oom(p->status, "a regular expression");
  return NULL;
}

static bool at_end(const Parser *p) { return p->at >= p->pattern.length; }
static bool looking_at(const Parser *p, const char *text) {
  size_t length = strlen(text);
  return p->pattern.length - p->at >= length && memcmp(p->pattern.data + p->at, text, length) == 0;
}
static bool take(Parser *p, const char *text) {
  bool found = looking_at(p, text);
  if (found) p->at += strlen(text);
  return found;
}
static char peek(const Parser *p) { return at_end(p) ? '\0' : p->pattern.data[p->at]; }

/* The next character; the whole pattern is UTF-8. */
static int32_t take_point(Parser *p) {
  int length;
  int32_t point = utf8_decode((Str){p->pattern.data + p->at, p->pattern.length - p->at}, &length);
  p->at += (size_t)length;
  return point;
}

static bool check_utf8(Parser *p) {
  while (!at_end(p)) {
    if (take_point(p) == UNICODE_INVALID) return refuse(p, "invalid UTF-8", 0, 0), false;
  }
  p->at = 0;
  return true;
}

/* --- nodes --- */

static RegexNode *new_node(Parser *p, RegexKind kind) {
  RegexNode *node = arena_calloc(p->arena, 1, sizeof *node);
  if (!node) return out_of_memory(p);
  node->kind = kind;
  return node;
}

static RegexNode *new_assert(Parser *p, RegexAssert what) {
  RegexNode *node = new_node(p, REGEX_ASSERT);
  if (node) node->value = what;
  return node;
}

/* Copies the set, which is finished and freed. */
static RegexNode *new_set(Parser *p, RegexClass *set) {
  RegexNode *node = set->failed ? out_of_memory(p) : new_node(p, REGEX_SET);
  RegexRange *ranges = node ? arena_calloc(p->arena, set->count, sizeof *ranges) : NULL;
  if (node && !ranges) node = out_of_memory(p);
  if (node) {
    if (set->count > 0) memcpy(ranges, set->ranges, (size_t)set->count * sizeof *ranges);
    node->ranges = ranges;
    node->num_ranges = set->count;
  }
  regex_class_free(set);
  return node;
}

static RegexNode *new_literal(Parser *p, int32_t point) {
  RegexClass set = {0};
  regex_class_add(&set, point, point);
  if (p->flags.fold) regex_class_fold(&set);
  return new_set(p, &set);
}

static RegexNode *new_dot(Parser *p) {
  RegexClass set = {0};
  if (!p->flags.dot_newline) regex_class_add(&set, '\n', '\n');
  regex_class_finish(&set, true);
  return new_set(p, &set);
}

/* --- escapes --- */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* After "\x": two digits, or any number of them in braces. False when malformed, behind the wrong character.
 */
static bool take_hex(Parser *p, int32_t *point) {
  bool braces = take(p, "{");
  int digits = 0;
  for (*point = 0; (braces || digits < 2) && hex_digit(peek(p)) >= 0; digits++) {
    *point = *point * 16 + hex_digit(p->pattern.data[p->at++]);
    if (*point > UNICODE_MAX) return false;
  }
  if (braces ? digits > 0 && take(p, "}") : digits == 2) return true;
  if (!at_end(p)) (void)take_point(p);
  return false;
}

static int32_t take_octal(Parser *p, int32_t first) {
  for (int i = 0; i < 2 && peek(p) >= '0' && peek(p) <= '7'; i++)
    first = first * 8 + (p->pattern.data[p->at++] - '0');
  return first;
}

/* An escaped character, from the backslash on. False with status. */
static bool take_escape(Parser *p, int32_t *point) {
  static const char kLetters[] = "afnrtv", kValues[] = "\a\f\n\r\t\v";
  size_t begin = p->at++;
  if (at_end(p)) return refuse(p, "trailing \\", 0, 0), false;
  int32_t c = take_point(p);
  const char *letter = c > 0 && c < 0x80 ? strchr(kLetters, (char)c) : NULL;
  bool octal = c == '0' || (c >= '1' && c <= '7' && peek(p) >= '0' && peek(p) <= '7');
  bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 0x80;
  if (letter) *point = kValues[letter - kLetters];
  else if (octal) *point = take_octal(p, c - '0');
  else if (!is_word) *point = c;
  else if (c != 'x' || !take_hex(p, point)) return refuse(p, "invalid escape sequence", begin, p->at), false;
  return true;
}

/* --- classes --- */

/* Adds a class of its own (\d, \pL, [:alpha:]), folded and perhaps negated. */
static void add_item(Parser *p, RegexClass *set, RegexClass *item, bool negate) {
  if (p->flags.fold) regex_class_fold(item);
  regex_class_finish(item, negate);
  regex_class_add_all(set, item);
  regex_class_free(item);
}

typedef enum Found { FOUND_NOTHING, FOUND, FOUND_ERROR } Found;

/* \d \D \w \W \s \S */
static Found take_perl_class(Parser *p, RegexClass *set) {
  RegexClass item = {0};
  if (peek(p) != '\\' || p->at + 1 >= p->pattern.length) return FOUND_NOTHING;
  char letter = p->pattern.data[p->at + 1], lower = (char)(letter | 0x20);
  if (!strchr("dwsDWS", letter) || letter == '\0' || !regex_class_add_perl(&item, lower))
    return FOUND_NOTHING;
  p->at += 2;
  add_item(p, set, &item, letter != lower);
  return FOUND;
}

/* \pL \PL \p{Greek} \p{^Greek} */
static Found take_unicode_class(Parser *p, RegexClass *set) {
  RegexClass item = {0};
  size_t begin = p->at;
  if (!take(p, "\\p") && !take(p, "\\P")) return FOUND_NOTHING;
  bool negate = p->pattern.data[begin + 1] == 'P';
  if (at_end(p)) return refuse(p, "invalid character class range", begin, p->at), FOUND_ERROR;
  size_t from = p->at;
  Str name;
  if (take(p, "{")) {
    const char *end = memchr(p->pattern.data + p->at, '}', p->pattern.length - p->at);
    if (!end) return refuse(p, "invalid character class range", begin, p->pattern.length), FOUND_ERROR;
    name = (Str){p->pattern.data + p->at, (size_t)(end - p->pattern.data) - p->at};
    p->at += name.length + 1;
  } else {
    (void)take_point(p);
    name = (Str){p->pattern.data + from, p->at - from};
  }
  if (name.length > 0 && name.data[0] == '^') negate = !negate, name.data++, name.length--;
  if (!regex_class_add_unicode(&item, name)) {
    regex_class_free(&item);
    return refuse(p, "invalid character class range", begin, p->at), FOUND_ERROR;
  }
  add_item(p, set, &item, negate);
  return FOUND;
}

/* [:alpha:] [:^alpha:] */
static Found take_posix_class(Parser *p, RegexClass *set) {
  RegexClass item = {0};
  size_t begin = p->at, end = begin + 2;
  if (!looking_at(p, "[:")) return FOUND_NOTHING;
  while (end + 1 < p->pattern.length && memcmp(p->pattern.data + end, ":]", 2) != 0) end++;
  if (end + 1 >= p->pattern.length) return FOUND_NOTHING;
  Str name = {p->pattern.data + begin + 2, end - begin - 2};
  bool negate = name.length > 0 && name.data[0] == '^';
  if (negate) name.data++, name.length--;
  p->at = end + 2;
  if (!regex_class_add_posix(&item, name))
    return refuse(p, "invalid character class range", begin, p->at), FOUND_ERROR;
  add_item(p, set, &item, negate);
  return FOUND;
}

static Found take_class(Parser *p, RegexClass *set) {
  Found found = take_perl_class(p, set);
  return found == FOUND_NOTHING ? take_unicode_class(p, set) : found;
}

/* One character of a bracket expression. */
static bool take_class_point(Parser *p, size_t open, int32_t *point) {
  if (at_end(p)) return refuse(p, "missing ]", open, p->pattern.length), false;
  if (peek(p) == '\\') return take_escape(p, point);
  *point = take_point(p);
  return true;
}

static bool take_range(Parser *p, size_t open, RegexClass *set) {
  RegexClass item = {0};
  int32_t first, last;
  size_t begin = p->at;
  if (!take_class_point(p, open, &first)) return false;
  last = first;
  if (peek(p) == '-' && p->at + 1 < p->pattern.length && p->pattern.data[p->at + 1] != ']') {
    p->at++;
    if (!take_class_point(p, open, &last)) return false;
    if (last < first) return refuse(p, "invalid character class range", begin, p->at), false;
  }
  regex_class_add(&item, first, last);
  add_item(p, set, &item, false);
  return true;
}

static bool take_items(Parser *p, size_t open, RegexClass *set) {
  for (bool first = true; at_end(p) || peek(p) != ']' || first; first = false) {
    if (at_end(p)) return refuse(p, "missing ]", open, p->pattern.length), false;
    Found found = take_posix_class(p, set);
    if (found == FOUND_NOTHING) found = take_class(p, set);
    if (found == FOUND_ERROR || (found == FOUND_NOTHING && !take_range(p, open, set))) return false;
  }
  p->at++;
  return true;
}

static RegexNode *parse_bracket(Parser *p) {
  RegexClass set = {0};
  size_t open = p->at++;
  bool negate = take(p, "^");
  if (!take_items(p, open, &set)) {
    regex_class_free(&set);
    return NULL;
  }
  regex_class_finish(&set, negate);
  return new_set(p, &set);
}

/* --- groups --- */

static bool is_name(Str name) {
  for (size_t i = 0; i < name.length; i++) {
    char c = name.data[i];
    if (c != '_' && !(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) return false;
  }
  return name.length > 0;
}

/* The rest of "(?P<name>" after the '<', which is at `p->at`. */
static bool take_name(Parser *p, size_t open) {
  const char *end = memchr(p->pattern.data + p->at, '>', p->pattern.length - p->at);
  if (!end) return refuse(p, "invalid named capture group", open, p->pattern.length), false;
  Str name = {p->pattern.data + p->at, (size_t)(end - p->pattern.data) - p->at};
  p->at += name.length + 1;
  if (!is_name(name)) return refuse(p, "invalid named capture group", open, p->at), false;
  return true;
}

static bool *flag_of(Flags *flags, char letter) {
  switch (letter) {
    case 'i': return &flags->fold;
    case 'm': return &flags->multi_line;
    case 's': return &flags->dot_newline;
    case 'U': return &flags->ungreedy;
    default: return NULL;
  }
}

/* The flags after "(?", up to ':' or ')', which is left. */
static bool take_flags(Parser *p, size_t open, Flags *flags) {
  bool value = true, any = false;
  for (;; p->at++) {
    if (at_end(p)) return refuse(p, "invalid perl operator", open, p->at), false;
    char c = peek(p);
    bool *flag = flag_of(flags, c);
    if (flag) {
      *flag = value;
      any = true;
    } else if (c == '-' && value) {
      value = any = false;
    } else if ((c == ':' || c == ')') && (value || any)) {
      return true;
    } else {
      (void)take_point(p);
      return refuse(p, "invalid perl operator", open, p->at), false;
    }
  }
}

static RegexNode *parse_group(Parser *p) {
  Flags outer = p->flags, inner = outer;
  size_t open = p->at++;
  int number = -1;
  if (take(p, "?P<")) {
    if (!take_name(p, open)) return NULL;
    number = ++p->num_groups;
  } else if (take(p, "?")) {
    if (!take_flags(p, open, &inner)) return NULL;
    p->flags = inner;
    if (take(p, ")")) return new_node(p, REGEX_EMPTY); /* until the end of the group around it */
    p->at++;
  } else {
    number = ++p->num_groups;
  }
  if (++p->depth > REGEX_MAX_DEPTH) return refuse(p, "nesting is too deep", 0, 0);
  RegexNode *inside = parse_alternatives(p);
  if (!inside) return NULL;
  if (!take(p, ")")) return refuse(p, "missing )", 0, p->pattern.length);
  p->depth--;
  p->flags = outer;
  RegexNode *group = number >= 0 ? new_node(p, REGEX_GROUP) : inside;
  if (group && number >= 0) group->value = number, group->child = inside;
  return group;
}

/* --- atoms --- */

static RegexNode *parse_escaped(Parser *p) {
  RegexClass set = {0};
  int32_t point;
  if (take(p, "\\A")) return new_assert(p, REGEX_TEXT_BEGIN);
  if (take(p, "\\z")) return new_assert(p, REGEX_TEXT_END);
  if (take(p, "\\b")) return new_assert(p, REGEX_WORD_EDGE);
  if (take(p, "\\B")) return new_assert(p, REGEX_NO_WORD_EDGE);
  Found found = take_class(p, &set);
  if (found == FOUND) {
    regex_class_finish(&set, false);
    return new_set(p, &set);
  }
  return found == FOUND_NOTHING && take_escape(p, &point) ? new_literal(p, point) : NULL;
}

static RegexNode *parse_atom(Parser *p) {
  switch (peek(p)) {
    case '(': return parse_group(p);
    case '[': return parse_bracket(p);
    case '\\': return parse_escaped(p);
    case '.': return p->at++, new_dot(p);
    case '^': return p->at++, new_assert(p, p->flags.multi_line ? REGEX_LINE_BEGIN : REGEX_TEXT_BEGIN);
    case '$': return p->at++, new_assert(p, p->flags.multi_line ? REGEX_LINE_END : REGEX_TEXT_END);
    default: return new_literal(p, take_point(p));
  }
}

/* --- repetition --- */

/* A number without leading zeros and with at most nine digits; false if there is none. */
static bool take_number(Parser *p, int *number) {
  size_t begin = p->at;
  for (*number = 0; peek(p) >= '0' && peek(p) <= '9'; p->at++) {
    if (p->at - begin == 9) return false;
    *number = *number * 10 + (peek(p) - '0');
  }
  return p->at > begin && (p->at == begin + 1 || p->pattern.data[begin] != '0');
}

/* "{2}", "{2,}", "{2,3}". False, with nothing taken, if this is something else. */
static bool take_counts(Parser *p, int *least, int *most) {
  size_t begin = p->at;
  bool ok = take(p, "{") && take_number(p, least);
  *most = *least;
  if (ok && take(p, ",")) ok = peek(p) == '}' ? (*most = -1, true) : take_number(p, most);
  ok = ok && take(p, "}");
  if (!ok) p->at = begin;
  return ok;
}

/* An operator and a '?' behind it. */
static bool take_repeat(Parser *p, RegexNode *repeat) {
  if (take(p, "*")) repeat->least = 0, repeat->most = -1;
  else if (take(p, "+")) repeat->least = 1, repeat->most = -1;
  else if (take(p, "?")) repeat->least = 0, repeat->most = 1;
  else if (!take_counts(p, &repeat->least, &repeat->most)) return false;
  repeat->lazy = take(p, "?") != p->flags.ungreedy;
  return true;
}

/* The most copies of a character that counted repetitions in each other make. */
static int64_t copies(const RegexNode *node) {
  int64_t most = 1;
  for (const RegexNode *child = node->child; child; child = child->sibling) {
    int64_t inside = copies(child);
    if (inside > most) most = inside;
  }
  int count = node->most > node->least ? node->most : node->least;
  return node->kind == REGEX_REPEAT && count > 1 ? most * count : most;
}

static RegexNode *parse_repeated(Parser *p) {
  RegexNode trial = {0}, *atom;
  size_t begin = p->at;
  if (take_repeat(p, &trial)) return refuse(p, "no argument for repetition operator", begin, p->at);
  atom = parse_atom(p);
  begin = p->at;
  if (!atom || !take_repeat(p, &trial)) return atom;
  if (trial.least > REGEX_MAX_REPEAT || trial.most > REGEX_MAX_REPEAT ||
      (trial.most >= 0 && trial.most < trial.least))
    return refuse(p, "invalid repetition size", begin, p->at);
  RegexNode *repeat = new_node(p, REGEX_REPEAT);
  if (!repeat) return NULL;
  repeat->least = trial.least, repeat->most = trial.most, repeat->lazy = trial.lazy;
  repeat->child = atom;
  if (take_repeat(p, &trial)) return refuse(p, "bad repetition operator", begin, p->at);
  if (copies(repeat) > REGEX_MAX_REPEAT) return refuse(p, "invalid repetition size", begin, p->at);
  return repeat;
}

/* --- sequences --- */

/* "\Q...\E": adds the characters to the end of a list of children. */
static bool parse_quoted(Parser *p, RegexNode ***end) {
  while (!at_end(p) && !take(p, "\\E")) {
    if (!(**end = new_literal(p, take_point(p)))) return false;
    *end = &(**end)->sibling;
  }
  return true;
}

static RegexNode *parse_sequence(Parser *p) {
  RegexNode *sequence = new_node(p, REGEX_CONCAT);
  if (!sequence) return NULL;
  RegexNode **end = &sequence->child;
  while (!at_end(p) && peek(p) != '|' && peek(p) != ')') {
    if (take(p, "\\Q")) {
      if (!parse_quoted(p, &end)) return NULL;
      continue;
    }
    if (!(*end = parse_repeated(p))) return NULL;
    end = &(*end)->sibling;
  }
  return sequence;
}

static RegexNode *parse_alternatives(Parser *p) {
  RegexNode *alternatives = new_node(p, REGEX_OR);
  if (!alternatives) return NULL;
  RegexNode **end = &alternatives->child;
  do {
    if (!(*end = parse_sequence(p))) return NULL;
    end = &(*end)->sibling;
  } while (take(p, "|"));
  return alternatives;
}

bool regex_parse(Str pattern, Arena *arena, RegexNode **tree, int *num_groups, Status *status) {
  Parser parser = {.pattern = pattern, .arena = arena, .status = status};
  if (!check_utf8(&parser)) return false;
  *tree = parse_alternatives(&parser);
  if (!*tree) return false;
  if (!at_end(&parser)) return refuse(&parser, "unexpected )", 0, pattern.length), false;
  *num_groups = parser.num_groups;
  return true;
}
