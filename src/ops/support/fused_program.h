/* The program of a fused node (op/fused_op.h), and its run: the loops of the kernels of the ops, called for
 * one tile of elements after the other, so that the values between them stay in the cache. */
#ifndef TFCORE_OPS_SUPPORT_FUSED_PROGRAM_H_
#define TFCORE_OPS_SUPPORT_FUSED_PROGRAM_H_

#include "op/fused_op.h"
#include "op/kernel.h"
#include "ops/support/broadcast.h"
#include "ops/support/elementwise.h"
#include "ops/support/row_reduction.h"
#include "ops/support/select_elements.h"

/* The kernel whose loop a node calls. */
typedef enum FusedKind {
  FUSED_UNARY,     /* elementwise_unary */
  FUSED_FUNCTION,  /* elementwise_function */
  FUSED_PAIR,      /* elementwise_pair */
  FUSED_SLOPE,     /* elementwise_slope */
  FUSED_BROADCAST, /* broadcast_kernel */
  FUSED_SELECT,    /* SelectV2 (ops/support/select_elements.h) */
  FUSED_REDUCE,    /* a reduction of the last dimension */
} FusedKind;

typedef struct FusedNode {
  const char *name, *op;
  FusedKind kind;
  union {
    UnaryLoop *unary;
    const VectorFunction *function;
    PairLoop *pair;
    BinaryLoop *broadcast;
    struct {
      ReduceKind kind;
      const RowReduction *loops;
    } reduce;
  } loop;
  uint8_t formula;                   /* ops/support/fused_formula.h; 0: none */
  DataType type;                     /* of the operands, but the condition of a choice */
  int operands[FUSED_MOST_OPERANDS]; /* values: inputs, then nodes */
  int num_operands;
  int64_t in_size, out_size; /* bytes of an element */
  int output;                /* of the fused node; -1: none */
  int place;                 /* the tile that holds the value; unused when it is an output */
} FusedNode;

static inline bool fused_is_condition(const FusedNode *node, int operand) {
  return node->kind == FUSED_SELECT && operand == SELECT_CONDITION;
}
/* The dtype of an operand, and the bytes of its elements. */
static inline DataType fused_operand_type(const FusedNode *node, int operand) {
  return fused_is_condition(node, operand) ? DT_BOOL : node->type;
}
static inline int64_t fused_operand_size(const FusedNode *node, int operand) {
  return fused_is_condition(node, operand) ? (int64_t)sizeof(bool) : node->in_size;
}

typedef struct FusedProgram {
  const char *name; /* of the fused node */
  int num_inputs, num_nodes, num_outputs, num_places;
  bool reduces;
  int64_t widest; /* bytes of the largest element */
  FusedNode nodes[FUSED_MOST_NODES];
  int results[FUSED_MOST_NODES];
  int last_reads[FUSED_MOST_VALUES]; /* the last node that reads the value; -1: none */
  const int64_t *parts; /* NULL, or by input: its first column and the number of them; -1: the whole input */
  int64_t input_sizes[FUSED_MOST_INPUTS]; /* bytes of an element */
} FusedProgram;

/* What a program is made of; op/fused_op.h explains `operands`. */
typedef struct FusedSource {
  const Str *ops, *names; /* of the nodes; names NULL: those of the ops */
  const DataType *types;  /* of the nodes */
  int num_nodes;
  const int64_t *operands;
  int64_t num_operands;
  const DataType *input_types;
  int num_inputs;
  const int64_t *parts;   /* as in FusedProgram */
  const int64_t *results; /* the node whose value is output i */
  const DataType *output_types;
  int num_outputs;
} FusedSource;

/* Makes the program of a node with that name, in zeroed memory. INVALID_ARGUMENT, as fused_program_refuse
 * says it, if it makes no sense. */
MUST_CHECK bool fused_program_make(const FusedSource *source, const char *name, Arena *arena,
                                   FusedProgram *program, Status *status);
bool fused_program_refuse(Status *status);

/* Computes all outputs. An error names the node whose shapes do not fit. */
MUST_CHECK bool fused_program_run(const FusedProgram *program, KernelContext *context, Status *status);

#endif
