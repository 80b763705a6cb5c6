/* The module has one function, run(pointers, count). A local variable holds each pointer and each value. A
 * round of its loop computes fused_loop_unit elements: the nodes for one vector after the other. */
#include "ops/support/fused_emit.h"

#include <string.h>

#include "base/sync.h"
#include "blas/reduce.h"
#include "ops/support/fused_formula.h"

#if EMITTED_CODE

/* Bytes, numbers of types, sections and instructions of the binary format. */
enum {
  I32 = 0x7f,
  V128 = 0x7b,
  FUNCTION_TYPE = 0x60,
  MEMORY = 2,
  SECTION_TYPE = 1,
  SECTION_IMPORT = 2,
  SECTION_FUNCTION = 3,
  SECTION_EXPORT = 7,
  SECTION_CODE = 10,
  LOOP = 0x03,
  NO_RESULT = 0x40,
  END = 0x0b,
  BR_IF = 0x0d,
  LOCAL_GET = 0x20,
  LOCAL_SET = 0x21,
  LOCAL_TEE = 0x22,
  I32_LOAD = 0x28,
  F32_STORE = 0x38,
  F64_STORE = 0x39,
  I32_CONST = 0x41,
  I32_ADD = 0x6a,
  F32_ADD = 0x92,
  F64_ADD = 0xa0,
  SIMD = 0xfd,
  V128_LOAD = 0,
  LOAD32_SPLAT = 9,
  LOAD64_SPLAT = 10,
  V128_STORE = 11,
  V128_CONST = 12,
  F32X4_LANE = 31,
  F64X2_LANE = 33,
};

enum { MOST_BYTES = 16384, VECTOR = 16, LETTERS = 128 };

typedef struct Emitter {
  const FusedLoop *loop;
  uint8_t bytes[MOST_BYTES];
  int size;
  bool is_full;
  bool loaded[FUSED_LOOP_MOST_POINTERS]; /* whether the vector's element of a pointer is in its local */
  uint8_t constants[LETTERS];            /* by letter: the number of the constant + 1 */
  int num_constants;
} Emitter;

static void put(Emitter *e, int byte) {
  if (e->size == MOST_BYTES) e->is_full = true;
  else e->bytes[e->size++] = (uint8_t)byte;
}

/* LEB128. */
static void put_number(Emitter *e, uint32_t number) {
  for (; number >= 0x80; number >>= 7) put(e, (int)(number & 0x7f) | 0x80);
  put(e, (int)number);
}

static void put_two(Emitter *e, int code, uint32_t operand) {
  put(e, code);
  put_number(e, operand);
}

/* Signed LEB128. */
static void put_signed(Emitter *e, int number) {
  put(e, I32_CONST);
  for (; number < -64 || number >= 64; number >>= 7) put(e, (number & 0x7f) | 0x80);
  put(e, number & 0x7f);
}

static void put_simd(Emitter *e, uint32_t code) { put_two(e, SIMD, code); }

static void put_text(Emitter *e, const char *text) {
  put_number(e, (uint32_t)strlen(text));
  while (*text) put(e, *text++);
}

/* Begins something with a size in front, which has five bytes: they can hold any. */
static int begin_sized(Emitter *e) {
  for (int i = 0; i < 5; i++) put(e, 0);
  return e->size;
}

static void end_sized(Emitter *e, int begin) {
  uint32_t size = (uint32_t)(e->size - begin);
  for (int i = 0; i < 5 && !e->is_full; i++)
    e->bytes[begin - 5 + i] = (uint8_t)((size >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
}

static int begin_section(Emitter *e, int id) {
  put(e, id);
  return begin_sized(e);
}

/* --- locals: the parameters, two for each pointer, the nodes, the constants, the sums --- */

enum { POINTERS, COUNT, FIRST_LOCAL };

static uint32_t pointer_local(int pointer) { return (uint32_t)(FIRST_LOCAL + pointer); }
static uint32_t vector_local(const Emitter *e, int pointer) {
  return pointer_local(e->loop->num_pointers + pointer);
}
static uint32_t node_local(const Emitter *e, int node) {
  return vector_local(e, e->loop->num_pointers + node);
}
static uint32_t constant_local(const Emitter *e, int number) {
  return node_local(e, e->loop->num_nodes + number);
}

static uint32_t sum_local(const Emitter *e, int number) {
  return constant_local(e, e->num_constants + number);
}

static bool is_still(const Emitter *e, int pointer) { return e->loop->still >> pointer & 1; }

/* The nodes with a formula. */
static int num_vector_nodes(const Emitter *e) { return e->loop->num_nodes - fused_loop_sums(e->loop); }
static bool is_single(const Emitter *e, int node) { return node < e->loop->num_single; }
/* The sum, which is the last node. */
static const FusedLoopNode *sum_node(const Emitter *e) { return &e->loop->nodes[num_vector_nodes(e)]; }

/* --- constants and memory --- */

static void collect_constants(Emitter *e) {
  double value;
  for (int i = 0; i < num_vector_nodes(e); i++) {
    for (const char *text = fused_formula_text(e->loop->nodes[i].formula); *text; text++) {
      if (fused_formula_constant(*text, &value) && e->constants[(int)*text] == 0)
        e->constants[(int)*text] = (uint8_t)++e->num_constants;
    }
  }
}

static void put_lanes(Emitter *e, double value) {
  uint8_t lanes[VECTOR];
  float narrow = (float)value;
  for (int i = 0; i < VECTOR; i += e->loop->is_double ? 8 : 4) {
    if (e->loop->is_double) memcpy(lanes + i, &value, sizeof value);
    else memcpy(lanes + i, &narrow, sizeof narrow);
  }
  put_simd(e, V128_CONST);
  for (int i = 0; i < VECTOR; i++) put(e, lanes[i]);
}

/* Loads or stores have an alignment and an offset. The data need not be aligned. */
static void put_memory(Emitter *e, uint32_t code, uint32_t offset) {
  put_simd(e, code);
  put(e, 0);
  put_number(e, offset);
}

static void put_lane(Emitter *e, uint32_t local, int lane) {
  put_two(e, LOCAL_GET, local);
  put_simd(e, e->loop->is_double ? F64X2_LANE : F32X4_LANE);
  put(e, lane);
}

static void put_element_store(Emitter *e) {
  put_two(e, e->loop->is_double ? F64_STORE : F32_STORE, 0);
  put_number(e, 0);
}

/* --- a node --- */

static void put_operand(Emitter *e, int operand, uint32_t offset) {
  if (operand >= FUSED_LOOP_NODES) {
    put_two(e, LOCAL_GET, node_local(e, operand - FUSED_LOOP_NODES));
  } else if (is_still(e, operand) || e->loaded[operand]) {
    put_two(e, LOCAL_GET, vector_local(e, operand));
  } else {
    put_two(e, LOCAL_GET, pointer_local(operand));
    put_memory(e, V128_LOAD, offset);
    put_two(e, LOCAL_TEE, vector_local(e, operand));
    e->loaded[operand] = true;
  }
}

static void put_letter(Emitter *e, char letter) {
  static const struct {
    char letter;
    uint8_t f32, f64;
  } kCodes[] = {{'+', 0xe4, 0xf0}, {'-', 0xe5, 0xf1}, {'*', 0xe6, 0xf2}, {'/', 0xe7, 0xf3}, {'n', 0xe1, 0xed},
                {'a', 0xe0, 0xec}, {'r', 0xe3, 0xef}, {'f', 0x68, 0x75}, {'c', 0x67, 0x74}, {'i', 0x6a, 0x94},
                {'m', 0xea, 0xf6}, {'M', 0xeb, 0xf7}, {'<', 0x43, 0x49}, {'>', 0x44, 0x4a}, {'l', 0x45, 0x4b},
                {'=', 0x41, 0x47}, {'!', 0x42, 0x48}, {'&', 0x4e, 0x4e}, {'|', 0x50, 0x50}, {'~', 0x4f, 0x4f},
                {'?', 0x52, 0x52}};
  for (size_t i = 0; i < sizeof kCodes / sizeof *kCodes; i++) {
    if (kCodes[i].letter == letter) put_simd(e, e->loop->is_double ? kCodes[i].f64 : kCodes[i].f32);
  }
}

/* The node for the vector at that offset behind the pointers. */
static void put_node(Emitter *e, int i, uint32_t offset) {
  const FusedLoopNode *node = &e->loop->nodes[i];
  for (const char *text = fused_formula_text(node->formula); *text; text++) {
    if (*text == 'x' || *text == 'y') put_operand(e, node->operands[*text - 'x'], offset);
    else if (e->constants[(int)*text]) put_two(e, LOCAL_GET, constant_local(e, e->constants[(int)*text] - 1));
    else put_letter(e, *text);
  }
  put_two(e, LOCAL_SET, node_local(e, i));
  if (node->out == FUSED_LOOP_INSIDE) return;
  put_two(e, LOCAL_GET, pointer_local(node->out));
  if (is_single(e, i)) {
    put_lane(e, node_local(e, i), 0);
    put_element_store(e);
  } else {
    put_two(e, LOCAL_GET, node_local(e, i));
    put_memory(e, V128_STORE, offset);
  }
}

/* --- before the loop --- */

static void put_setup(Emitter *e) {
  for (int i = 0; i < e->loop->num_pointers; i++) {
    put_two(e, LOCAL_GET, POINTERS);
    put(e, I32_LOAD);
    put(e, 2);
    put_number(e, (uint32_t)i * 4);
    if (is_still(e, i)) put_memory(e, e->loop->is_double ? LOAD64_SPLAT : LOAD32_SPLAT, 0);
    put_two(e, LOCAL_SET, is_still(e, i) ? vector_local(e, i) : pointer_local(i));
  }
  for (int letter = 0; letter < LETTERS; letter++) {
    double value;
    if (e->constants[letter] == 0 || !fused_formula_constant((char)letter, &value)) continue;
    put_lanes(e, value);
    put_two(e, LOCAL_SET, constant_local(e, e->constants[letter] - 1));
  }
  /* -0 + x is x, also for x = -0. */
  for (int i = 0; fused_loop_sums(e->loop) && i < REDUCE_VECTORS; i++) {
    put_lanes(e, -0.0);
    put_two(e, LOCAL_SET, sum_local(e, i));
  }
  for (int i = 0; i < e->loop->num_single; i++) put_node(e, i, 0);
}

/* --- the sum --- */

/* sum `to` = sum `to` + sum `from` */
static void put_sum_of(Emitter *e, int to, int from) {
  put_two(e, LOCAL_GET, sum_local(e, to));
  put_two(e, LOCAL_GET, sum_local(e, from));
  put_letter(e, '+');
  put_two(e, LOCAL_SET, sum_local(e, to));
}

/* Adds the vector at that offset. */
static void put_summand(Emitter *e, uint32_t offset) {
  uint32_t sum = sum_local(e, (int)(offset / VECTOR));
  put_two(e, LOCAL_GET, sum);
  put_operand(e, sum_node(e)->operands[0], offset);
  put_letter(e, '+');
  put_two(e, LOCAL_SET, sum);
}

/* After the loop: stores the sum of the sums. */
static void put_total(Emitter *e) {
  bool is_double = e->loop->is_double;
  for (int apart = REDUCE_VECTORS / 2; apart > 0; apart /= 2) {
    for (int i = 0; i < apart; i++) put_sum_of(e, i, i + apart);
  }
  put_two(e, LOCAL_GET, pointer_local(sum_node(e)->out));
  put_lane(e, sum_local(e, 0), 0);
  for (int lane = 1; lane < (is_double ? 2 : 4); lane++) {
    put_lane(e, sum_local(e, 0), lane);
    put(e, is_double ? F64_ADD : F32_ADD);
  }
  put_element_store(e);
}

/* --- all --- */

/* Whether a pointer is that of a result with one element. */
static bool is_element(const Emitter *e, int pointer) {
  for (int i = 0; i < e->loop->num_single; i++) {
    if (e->loop->nodes[i].out == pointer) return true;
  }
  return fused_loop_sums(e->loop) && sum_node(e)->out == pointer;
}

static void put_loop(Emitter *e) {
  int bytes = (int)fused_loop_unit(e->loop) * (e->loop->is_double ? 8 : 4);
  put(e, LOOP);
  put(e, NO_RESULT);
  for (uint32_t offset = 0; offset < (uint32_t)bytes; offset += VECTOR) {
    memset(e->loaded, 0, sizeof e->loaded);
    for (int i = e->loop->num_single; i < num_vector_nodes(e); i++) put_node(e, i, offset);
    if (fused_loop_sums(e->loop)) put_summand(e, offset);
  }
  for (int i = 0; i < e->loop->num_pointers; i++) {
    if (is_still(e, i) || is_element(e, i)) continue;
    put_two(e, LOCAL_GET, pointer_local(i));
    put_signed(e, bytes);
    put(e, I32_ADD);
    put_two(e, LOCAL_SET, pointer_local(i));
  }
  put_two(e, LOCAL_GET, COUNT);
  put_signed(e, -1);
  put(e, I32_ADD);
  put_two(e, LOCAL_TEE, COUNT);
  put_two(e, BR_IF, 0);
  put(e, END);
}

static void put_function(Emitter *e) {
  int section = begin_section(e, SECTION_CODE);
  put_number(e, 1);
  int body = begin_sized(e);
  put_number(e, 2);
  put_number(e, e->loop->num_pointers);
  put(e, I32);
  put_number(e, (uint32_t)(e->loop->num_pointers + e->loop->num_nodes + e->num_constants +
                           (fused_loop_sums(e->loop) ? REDUCE_VECTORS : 0)));
  put(e, V128);
  put_setup(e);
  put_loop(e);
  if (fused_loop_sums(e->loop)) put_total(e);
  put(e, END);
  end_sized(e, body);
  end_sized(e, section);
}

static void put_module(Emitter *e) {
  static const uint8_t kStart[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
  for (size_t i = 0; i < sizeof kStart; i++) put(e, kStart[i]);
  int section = begin_section(e, SECTION_TYPE);
  static const uint8_t kType[] = {1, FUNCTION_TYPE, 2, I32, I32, 0};
  for (size_t i = 0; i < sizeof kType; i++) put(e, kType[i]);
  end_sized(e, section);
  section = begin_section(e, SECTION_IMPORT);
  put_number(e, 1);
  put_text(e, "m");
  put_text(e, "m");
  put(e, MEMORY);
  put(e, SYNC_HAS_THREADS ? 3 : 0); /* shared with a limit, or neither */
  put_number(e, 0);
  if (SYNC_HAS_THREADS) put_number(e, 65536);
  end_sized(e, section);
  section = begin_section(e, SECTION_FUNCTION);
  put_number(e, 1);
  put_number(e, 0);
  end_sized(e, section);
  section = begin_section(e, SECTION_EXPORT);
  put_number(e, 1);
  put_text(e, "run");
  put(e, 0);
  put_number(e, 0);
  end_sized(e, section);
  put_function(e);
}

EmittedLoop *fused_emit(const FusedLoop *loop, EmittedLoop *before) {
  Emitter e = {.loop = loop};
  collect_constants(&e);
  put_module(&e);
  return e.is_full ? NULL : emitted_code_install(e.bytes, e.size, before);
}

#endif
