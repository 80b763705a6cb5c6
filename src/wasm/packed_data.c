/* Unpacks the data of the module, which tools/pack-data.mjs packed, before anything else runs: no function
 * here may use data. The packed data lies at the end of the stack that is used last. It has a stream of
 * numbers in LEB128, or of bytes, for each `Stream`. */
#if defined __EMSCRIPTEN__ && !defined TFCORE_THREADS

#include <stdint.h>
#include <string.h>

enum { MAGIC = 0x6b706674 };

typedef enum Stream {
  LITERALS, /* for each string literal, twice the distance from the last one; plus 1 if an earlier one has the
               same text, and then how many literals ago that was */
  TEXTS,    /* of the other literals */
  WORDS,    /* what the words between the literals are: a `Kind` each */
  STRINGS,  /* the difference from the last index of a literal */
  FUNCTIONS, /* from the last function */
  ADDRESSES, /* from the last other address */
  RAW,       /* other words and bytes, and numbers of zeros */
  NUM_STREAMS
} Stream;

typedef enum Kind {
  NEXT_STRING,
  STRING,
  NEXT_FUNCTION,
  FUNCTION,
  ADDRESS,
  RAW_WORD,
  BYTE,
  ZERO_BYTE,
  MANY_ZEROS,
  SMALL = 8,  /* from here on, the value is the kind minus SMALL */
  ZEROS = 64, /* from here on, as many words are zero */
} Kind;

typedef struct Literal {
  uint8_t *start, *end;
} Literal;

typedef struct Unpacker {
  const uint8_t *streams[NUM_STREAMS];
  const uint8_t *end_of_words;
  const Literal *literals;
  uint32_t last_string, last_function, next_function, last_address;
} Unpacker;

static uint32_t number(const uint8_t **bytes) {
  uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*bytes)++;
    value |= (uint32_t)(byte & 127) << shift;
    if (byte < 128) return value;
  }
}

/* Adds the next difference of the stream. */
static uint32_t moved(Unpacker *unpacker, Stream stream, uint32_t from) {
  uint32_t zigzag = number(&unpacker->streams[stream]);
  return from + (zigzag & 1 ? ~(zigzag >> 1) : zigzag >> 1);
}

static void unpack_literals(Unpacker *unpacker, uint8_t *at, Literal *literals, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t place = number(&unpacker->streams[LITERALS]);
    Literal *literal = &literals[i];
    literal->start = at += place >> 1;
    const uint8_t *text = unpacker->streams[TEXTS];
    if (place & 1) text = literals[i - number(&unpacker->streams[LITERALS])].start;
    while ((*at++ = *text++)) continue;
    if (!(place & 1)) unpacker->streams[TEXTS] = text;
    literal->end = at;
  }
}

static uint32_t string_at(Unpacker *unpacker, uint32_t index) {
  unpacker->last_string = index;
  return (uint32_t)(uintptr_t)unpacker->literals[index].start;
}

static uint32_t function_at(Unpacker *unpacker, uint32_t function) {
  unpacker->last_function = function;
  if (function >= unpacker->next_function) unpacker->next_function = function + 1;
  return function;
}

static uint32_t raw_word(Unpacker *unpacker) {
  uint32_t word;
  memcpy(&word, unpacker->streams[RAW], sizeof word);
  unpacker->streams[RAW] += sizeof word;
  return word;
}

static uint32_t unpack_word(Unpacker *unpacker, int kind) {
  if (kind == NEXT_STRING) return string_at(unpacker, unpacker->last_string + 1);
  if (kind == STRING) return string_at(unpacker, moved(unpacker, STRINGS, unpacker->last_string));
  if (kind == NEXT_FUNCTION) return function_at(unpacker, unpacker->next_function);
  if (kind == FUNCTION) return function_at(unpacker, moved(unpacker, FUNCTIONS, unpacker->last_function));
  if (kind == ADDRESS) return unpacker->last_address = moved(unpacker, ADDRESSES, unpacker->last_address);
  if (kind == RAW_WORD) return raw_word(unpacker);
  return (uint32_t)(kind - SMALL);
}

static void unpack_words(Unpacker *unpacker, uint8_t *at, uint32_t num_literals) {
  uint32_t next = 0;
  while (unpacker->streams[WORDS] < unpacker->end_of_words) {
    for (; next < num_literals && at == unpacker->literals[next].start; next++)
      at = unpacker->literals[next].end;
    int kind = *unpacker->streams[WORDS]++;
    if (kind >= ZEROS) {
      at += 4 * (kind - ZEROS + 1);
    } else if (kind == MANY_ZEROS) {
      at += 4 * number(&unpacker->streams[RAW]);
    } else if (kind == ZERO_BYTE) {
      at++;
    } else if (kind == BYTE) {
      *at++ = *unpacker->streams[RAW]++;
    } else {
      uint32_t word = unpack_word(unpacker, kind);
      memcpy(at, &word, sizeof word);
      at += sizeof word;
    }
  }
}

/* `packed` is aligned; a table of literals is written behind it. */
static void unpack(const uint8_t *packed) {
  uint32_t magic;
  memcpy(&magic, packed, sizeof magic);
  if (magic != MAGIC) return; /* the data of this module is not packed */
  packed += sizeof magic;
  uint8_t *start = (uint8_t *)(uintptr_t)number(&packed);
  uint32_t num_literals = number(&packed);
  uint32_t lengths[NUM_STREAMS];
  for (int i = 0; i < NUM_STREAMS; i++) lengths[i] = number(&packed);
  Unpacker unpacker = {.last_string = UINT32_MAX, .next_function = 1};
  for (int i = 0; i < NUM_STREAMS; i++) {
    unpacker.streams[i] = packed;
    packed += lengths[i];
  }
  unpacker.end_of_words = unpacker.streams[WORDS] + lengths[WORDS];
  Literal *literals = (Literal *)(((uintptr_t)packed + 7) & ~(uintptr_t)7);
  unpacker.literals = literals;
  unpack_literals(&unpacker, start, literals, num_literals);
  unpack_words(&unpacker, start, num_literals);
}

extern uint8_t __stack_low[]; /* of the linker */

/* The C library has constructors of priority 100, of which one calls malloc; numbers up to there are its own.
 */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((constructor(1))) static void unpack_data(void) { unpack(__stack_low); }
#pragma clang diagnostic pop

#endif
