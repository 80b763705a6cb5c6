/* Shared by the files of the function language: the cursor over a text, values, numbers. */
#ifndef TFCORE_FUNCTION_TEXT_FUNCTION_TEXT_INTERNAL_H_
#define TFCORE_FUNCTION_TEXT_FUNCTION_TEXT_INTERNAL_H_

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "tensor/tensor.h"

/* --- cursor (function_cursor.c) --- */

typedef struct Cursor {
  const char *start, *at, *end;
  Arena *arena;
  Status *status;
  int depth;
} Cursor;

/* INVALID_ARGUMENT "function text <line>:<column>: ..." with the position of the cursor. Returns false. */
bool cursor_error(Cursor *c, const char *format, ...) PRINTF_LIKE(2, 3);
/* Skips blanks and comments. */
void cursor_skip(Cursor *c);
/* After blanks: the next character, or 0 at the end. */
char cursor_peek(Cursor *c);
/* After blanks: consumes `text` if it is next. */
bool cursor_take(Cursor *c, const char *text);
/* The same, and an error "expected '(' after <what>, found ...". */
MUST_CHECK bool cursor_expect(Cursor *c, const char *text, const char *after);
/* After blanks: a name of letters, digits, '_' and the characters in `extra` (not "->"), or one in
 * backquotes; copied into the arena. `what` is for the error. */
MUST_CHECK bool cursor_name(Cursor *c, const char *extra, const char *what, char **name);
/* A text in quotes (the cursor is at the quote) with its C escapes resolved; NUL-terminated in the arena. */
MUST_CHECK bool cursor_quoted(Cursor *c, char **bytes, size_t *length);
/* After blanks: "<...>" with balanced brackets, ignoring those in quotes; `inside` is borrowed. */
MUST_CHECK bool cursor_angle(Cursor *c, Str *inside);
/* A message in protobuf text format between angle brackets. */
MUST_CHECK bool cursor_message(Cursor *c, const ProtoDescriptor *descriptor, void **message);

extern const char NODE_NAME_CHARS[];  /* characters of a node's name besides letters, digits, '_' */
extern const char INPUT_NAME_CHARS[]; /* the same, and ':' and '^' */
/* Prints a name so that cursor_name with the same `extra` reads it: plain, or in backquotes. */
void print_name(const char *name, const char *extra, StrBuf *out);

/* --- numbers (function_number.c) --- */

typedef struct Number {
  bool is_float; /* then `f` is the value, else `i` */
  int64_t i;
  double f;
} Number;

/* True when a number starts at the cursor; "inf", "-inf" and "nan" are numbers. */
bool number_starts(Cursor *c);
MUST_CHECK bool number_parse(Cursor *c, Number *number);
/* A tensor of those elements, encoded as tensor_to_proto does. INVALID_ARGUMENT when a value does not fit
 * the dtype or the dtype is not one of numbers and bools. */
MUST_CHECK bool number_tensor(DataType dtype, const TensorShapeProto *shape, const Number *numbers,
                              int64_t count, Arena *arena, TensorProto **tensor, Status *status);
/* Element `i` of a tensor of numbers or bools. False for other dtypes. */
bool number_of_tensor(const Tensor *tensor, int64_t i, Number *number);
/* Prints the shortest decimal text that reads back as the same value; a float never looks like an int.
 * `single`: as float32. */
void number_print(const Number *number, bool single, StrBuf *out);
/* True when a constant written as numbers starts at the cursor: 1, true, [0.5, 2], [[1, 2], [3, 4]], []. */
bool literal_starts(Cursor *c);
/* Parses one. `kind` is DT_INT64, DT_DOUBLE (when one of them is not an integer) or DT_BOOL: a dtype that
 * can hold all numbers. */
typedef struct Literal {
  Number *numbers;
  int64_t count;
  DataType kind;
  TensorShapeProto *shape;
} Literal;
MUST_CHECK bool literal_parse(Cursor *c, Literal *literal);
/* Converts a value as written to what an op's attr of that type ("tensor", "float", "shape",
 * "list(float)", ...) expects: numbers and tensors of other dtypes become tensors of `dtype` (DT_INVALID:
 * unknown, they stay), ints become floats, lists of ints become shapes. *value is replaced when it
 * changes. */
MUST_CHECK bool value_coerce(const char *attr_type, DataType dtype, Arena *arena, const AttrValue **value,
                             Status *status);

/* --- values (function_value_parse.c, function_value_print.c) --- */

MUST_CHECK bool value_parse(Cursor *c, AttrValue **value);
/* Prints as TensorFlow's function printer does. */
void value_print(const AttrValue *value, StrBuf *out);
/* Prints so that value_parse reads back the same value. */
MUST_CHECK bool value_print_full(const AttrValue *value, StrBuf *out, Status *status);

/* "k=v" texts, to be written in sorted order. Zero-initialise; free with entry_list_free. */
typedef struct EntryList {
  char **entries;
  int64_t count, capacity;
  bool failed;
} EntryList;

/* Takes over the text and leaves the buffer empty. */
void entry_list_add(EntryList *list, StrBuf *entry);
/* Writes the entries sorted as strings, with `separator` between them. */
void entry_list_write(EntryList *list, const char *separator, StrBuf *out);
void entry_list_free(EntryList *list);
/* The attrs of a function reference or node, sorted: "N=2, T=float", followed by `tail` unless it is "".
 * All map entries have this layout. */
MUST_CHECK bool attrs_print(const AttrEntry *const *attrs, size_t count, bool full, const char *tail,
                            StrBuf *out, Status *status);

/* The op of a node with its attrs and device, without the inputs: "Add[T=float, device=/gpu:0]". */
MUST_CHECK bool op_print(const NodeDef *node, bool full, StrBuf *out, Status *status);

#endif
