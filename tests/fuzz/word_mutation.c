/* Mutations of texts by words. */
#include <ctype.h>
#include <string.h>

#include "fuzz/graph_mutation.h"
#include "tensor/dtype.h"

static bool is_word(uint8_t c) { return isalnum(c) || c == '_'; }

/* A piece of the text: a word, or one other character. */
static void choose_piece(const uint8_t *bytes, size_t size, Random *random, size_t *begin, size_t *end) {
  *begin = *end = size > 0 ? (size_t)random_below(random, (int)size) : 0;
  while (*begin > 0 && is_word(bytes[*begin]) && is_word(bytes[*begin - 1])) --*begin;
  while (*end < size && is_word(bytes[*end])) ++*end;
  if (*begin == *end && *end < size) ++*end;
}

static const char *random_word(Random *random) {
  static const char *const words[] = {"T",
                                      "f",
                                      "x",
                                      "y",
                                      "value",
                                      "dtype",
                                      "shape",
                                      "float",
                                      "int32",
                                      "type",
                                      "list(type)",
                                      "func",
                                      "N*T",
                                      "Ref(float)",
                                      "resource",
                                      "variant",
                                      "{float, int32}",
                                      "[1, 2]",
                                      "[[1, 2], [3, 4]]",
                                      "[1,?,3]",
                                      "?",
                                      "$T",
                                      ":0",
                                      ":output:0",
                                      "^x",
                                      "@ x",
                                      "@return",
                                      "@attr a = 1",
                                      "@stateful true",
                                      "`a b`",
                                      "\"\\n\"",
                                      "true",
                                      "-1",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "1e39",
                                      "nan",
                                      "inf",
                                      "0x7f",
                                      ">= 1",
                                      "= DT_FLOAT",
                                      "Tensor<type: float shape: [2] values: 1 2>",
                                      "Shape<[1,?]>",
                                      "Attr<s: 'a'>",
                                      "node { name: 'a' op: 'Const' }",
                                      "tensor_content: '\\001'",
                                      "input: '^a'",
                                      "list { }",
                                      "dim { size: -1 }",
                                      "unknown_rank: true",
                                      "library { }",
                                      "allow_attr_type_any",
                                      "(",
                                      ")",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      ",",
                                      "->",
                                      "\n"};
  if (one_in(random, 3)) return words[random_below(random, sizeof words / sizeof *words)];
  const OpDef *op = random_op(random);
  int kind = random_below(random, 5);
  if (kind == 0 && op->n_attr > 0) return op->attr[random_below(random, (int)op->n_attr)]->name;
  if (kind == 1 && op->n_output_arg > 0)
    return op->output_arg[random_below(random, (int)op->n_output_arg)]->name;
  if (kind == 2) return dtype_name((DataType)(1 + random_below(random, NUM_DTYPES - 1)));
  return op->name;
}

/* Replaces bytes[begin, end) by `text`. Returns the new size, 0 if it does not fit. */
static size_t splice(uint8_t *bytes, size_t size, size_t capacity, size_t begin, size_t end, const void *text,
                     size_t length) {
  if (size - (end - begin) + length > capacity) return 0;
  memmove(bytes + begin + length, bytes + end, size - end);
  memcpy(bytes + begin, text, length);
  return size - (end - begin) + length;
}

size_t mutate_words(uint8_t *bytes, size_t size, size_t capacity, Random *random) {
  size_t begin, end, from, to;
  uint8_t copy[256];
  choose_piece(bytes, size, random, &begin, &end);
  choose_piece(bytes, size, random, &from, &to);
  const char *word = random_word(random);
  switch (random_below(random, 6)) {
    case 0: return splice(bytes, size, capacity, begin, end, "", 0);
    case 1: return splice(bytes, size, capacity, begin, begin, word, strlen(word));
    case 2: /* repeat a longer piece elsewhere */
      to = from + (size_t)random_below(random, sizeof copy);
      if (to > size) to = size;
      break;
    case 3: break; /* replace one piece of the text by another */
    default: return splice(bytes, size, capacity, begin, end, word, strlen(word));
  }
  if (to - from > sizeof copy) to = from + sizeof copy;
  memcpy(copy, bytes + from, to - from);
  return splice(bytes, size, capacity, begin, end, copy, to - from);
}
