/* Loops of several nodes of a fused program, as WebAssembly code that is made while the program runs: the
 * values between the nodes stay in registers. Calls of one loop for each node (ops/support/fused_tiles.c)
 * give the same bits, and serve where a loop is not worth making, or cannot be made.
 *
 *   FusedLoop loop = {.num_nodes = 2, .num_pointers = 3, ...};   y = (a + b) * a, where b is one number
 *   loop.nodes[0] = (FusedLoopNode){fused_formula_of("AddV2"), {0, 1}, FUSED_LOOP_INSIDE};
 *   loop.nodes[1] = (FusedLoopNode){fused_formula_of("Mul"), {FUSED_LOOP_NODES + 0, 0}, 2};
 *   loop.still = 1u << 1;
 *   EmittedLoop *code = fused_loop_code(&loop, fused_loop_hash(&loop), 512);
 *   if (code) code((char *[]){a, b, y}, 512 / fused_loop_unit(&loop));
 */
#ifndef TFCORE_OPS_SUPPORT_FUSED_LOOP_H_
#define TFCORE_OPS_SUPPORT_FUSED_LOOP_H_

#include <stdbool.h>

#include "base/emitted_code.h"
#include "op/fused_op.h"

enum {
  FUSED_LOOP_MOST_POINTERS = 32,
  FUSED_LOOP_NODES = 128,  /* the value of node i is operand FUSED_LOOP_NODES + i; pointer i is operand i */
  FUSED_LOOP_INSIDE = 255, /* a result that is not stored */
  FUSED_LOOP_SUM =
      255, /* a formula: of the last node, the sum of all elements of an operand (blas/reduce.h) */
};

typedef struct FusedLoopNode {
  uint8_t formula; /* > 0: ops/support/fused_formula.h; or FUSED_LOOP_SUM */
  uint8_t operands[2];
  uint8_t out; /* the pointer of the result, or FUSED_LOOP_INSIDE */
} FusedLoopNode;

/* Zeroed where it is not set: equal loops have equal bytes. The first `num_single` nodes are computed once,
 * before the loop: their operands are single elements, or such nodes. */
typedef struct FusedLoop {
  uint8_t is_double, num_nodes, num_pointers, num_single;
  uint32_t still; /* a bit for each pointer to a single element */
  FusedLoopNode nodes[FUSED_MOST_NODES];
} FusedLoop;

/* Whether the last node is a sum. Then, and if there are single nodes, the code computes a whole row, of a
 * multiple of fused_loop_unit elements; a sum is of at most REDUCE_LINE. */
bool fused_loop_sums(const FusedLoop *loop);
/* The elements that one round computes; `count` of the code is the number of rounds, at least 1. */
uint8_t fused_loop_unit(const FusedLoop *loop);
uint32_t fused_loop_hash(const FusedLoop *loop);
/* Makes room for `count` loops: no later call of fused_loop_code for so many replaces the code of another. */
void fused_loop_reserve(int count);
/* The code for this thread, or NULL. It is made when many elements, among them these `elements`, have been
 * computed without it: compiling takes as long as some 100,000 of them. */
EmittedLoop *fused_loop_code(const FusedLoop *loop, uint32_t hash, int64_t elements);

/* For tests: code is made after this number of elements times nodes; returns the number before. */
int64_t fused_loop_warm_after(int64_t work);
/* The loops of this thread that have code. */
int fused_loop_count(void);

#endif
