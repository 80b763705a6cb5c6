/* The documentation of an op: a summary line, a description, then "name: text" for attrs and args. */
#include "base/alloc.h"
#include "op/op_def_internal.h"

typedef struct Lines {
  Str *lines;
  int64_t count, capacity;
} Lines;

/* Splits at newlines and drops trailing blanks of every line. */
static bool split(const char *text, Lines *out) {
  for (;;) {
    if (!mem_grow((void **)&out->lines, &out->capacity, out->count + 1, sizeof *out->lines)) return false;
    Str line = {text, strcspn(text, "\n")};
    bool last = text[line.length] == '\0';
    text += line.length + 1;
    while (line.length > 0 && spec_is_blank(line.data[line.length - 1])) line.length--;
    out->lines[out->count++] = line;
    if (last) return true;
  }
}

/* Whether a line starts with "name:". `rest` receives the text after it. */
static bool starts_block(Str line, Str *name, Str *rest) {
  const char *at = line.data;
  if (!spec_take_name_and_colon(&at, false, name)) return false;
  /* Names, colons and blanks do not extend past the end of a line, except blanks into the next one. */
  const char *end = line.data + line.length;
  if (name->data + name->length >= end) return false;
  if (at > end) at = end;
  *rest = (Str){at, (size_t)(end - at)};
  return true;
}

static int64_t next_block(const Lines *doc, int64_t i) {
  Str name, rest;
  while (i < doc->count && !starts_block(doc->lines[i], &name, &rest)) i++;
  return i;
}

static size_t indent_of(Str line) {
  size_t indent = 0;
  while (indent < line.length && line.data[indent] == ' ') indent++;
  return indent;
}

/* Joins lines [begin, end) without trailing blank lines, with `indent` characters removed from each. */
static void append_lines(const Lines *doc, int64_t begin, int64_t end, size_t indent, bool after_text,
                         StrBuf *out) {
  for (int64_t i = begin; i < end; i++) {
    Str line = doc->lines[i];
    if (after_text || i > begin) strbuf_append_char(out, '\n');
    if (line.length > indent) strbuf_append_bytes(out, line.data + indent, line.length - indent);
  }
}

static char *take_text(SpecParser *parser, StrBuf *text) {
  parser->out_of_memory |= text->failed;
  char *copy = spec_copy(parser, (Str){strbuf_text(text), (size_t)text->length});
  strbuf_clear(text);
  return copy;
}

/* The description field of the attr or arg with that name. */
static char **find_description(OpDef *op_def, Str name) {
  for (size_t i = 0; i < op_def->n_input_arg; i++) {
    if (str_equal_text(name, op_def->input_arg[i]->name)) return &op_def->input_arg[i]->description;
  }
  for (size_t i = 0; i < op_def->n_output_arg; i++) {
    if (str_equal_text(name, op_def->output_arg[i]->name)) return &op_def->output_arg[i]->description;
  }
  for (size_t i = 0; i < op_def->n_attr; i++) {
    if (str_equal_text(name, op_def->attr[i]->name)) return &op_def->attr[i]->description;
  }
  return NULL;
}

/* Parses "name: text" in line `begin`, continued up to `end`. Removes the common indent of the
 * continuation. */
static bool parse_block(SpecParser *parser, const Lines *doc, int64_t begin, int64_t end, StrBuf *text) {
  Str name, first;
  if (!starts_block(doc->lines[begin], &name, &first)) return false;
  while (end > begin + 1 && doc->lines[end - 1].length == 0) end--;
  size_t indent = SIZE_MAX;
  for (int64_t i = begin + 1; i < end; i++) {
    size_t own = indent_of(doc->lines[i]);
    if (doc->lines[i].length > 0 && own < indent) indent = own;
  }
  strbuf_append_bytes(text, first.data, first.length);
  append_lines(doc, begin + 1, end, indent, true, text);

  char **description = find_description(parser->op_def, name);
  if (!description) {
    spec_error_of_op(parser, "No matching input/output/attr for name '%.*s' from Doc()", (int)name.length,
                     name.data);
    return false;
  }
  *description = take_text(parser, text);
  return true;
}

void spec_parse_doc(SpecParser *parser, const char *doc_text) {
  Lines doc = {0};
  StrBuf text = {0};
  if (!split(doc_text, &doc)) {
    parser->out_of_memory = true;
    goto done;
  }
  int64_t i = 0;
  while (i < doc.count && doc.lines[i].length == 0) i++;
  if (i < doc.count) parser->op_def->summary = spec_copy(parser, doc.lines[i++]);
  while (i < doc.count && doc.lines[i].length == 0) i++;

  int64_t blocks = next_block(&doc, i), end = blocks;
  while (end > i && doc.lines[end - 1].length == 0) end--;
  append_lines(&doc, i, end, 0, false, &text);
  if (text.length > 0) parser->op_def->description = take_text(parser, &text);

  while (blocks < doc.count) {
    int64_t next = next_block(&doc, blocks + 1);
    if (!parse_block(parser, &doc, blocks, next, &text)) break;
    blocks = next;
  }
done:
  strbuf_free(&text);
  mem_free(doc.lines);
}
