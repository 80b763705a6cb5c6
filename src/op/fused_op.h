/* The attrs of _FusedElementwise: the op that a pass of the optimizer (optimizer/fuse_elementwise.h) puts in
 * place of several elementwise nodes, and whose kernel (ops/math/fused_elementwise.c) computes them tile by
 * tile.
 *
 *   ops = ["Mul", "Erf", "Mul"]    the ops of the nodes, in topological order
 *   nodes = ["half", "erf", "y"]   their names, for errors
 *   types = [DT_FLOAT, ...]        their attr T; DT_BOOL where an op has none
 *   operands = [0, 1, 0, 2, 3]     the inputs of all nodes in one list: i is input i, and node k is k + the
 *                                  number of inputs
 *   results = [2]                  the node whose value is output i
 *
 * The same program can follow a product: an attr FUSED_OPERANDS of a _FusedConv2D, _FusedMatMul or
 * FusedDepthwiseConv2dNative says that the last of its fused_ops are one. Input 0 of the program is the
 * result so far; the others are the inputs of the node that no other fused op takes. Its result is that of
 * the last op, all types are T, and it has as many ops as FUSED_PROGRAM_OPS says:
 *
 *   fused_ops = ["BiasAdd", "Sigmoid", "Mul"], _operands = [0, 0, 1], _program_ops = 2
 *
 * Sum, Mean, Max and Min have one operand here: they reduce the last dimension, which is kept with size 1.
 *
 * An attr FUSED_PARTS of the op says which columns of its inputs the program reads: for each input the first
 * one, and their number, or -1 for a whole input.
 *
 * The attrs of _FusedRecurrence, which stands for a loop whose rounds compute products of a few rows, and
 * elementwise programs (optimizer/fuse_recurrences.h, ops/nn/fused_recurrence.c). Its values are floats;
 * inputs that stages read as conditions are DT_BOOL.
 *
 *   rounds = 64
 *   stages = [_FusedMatMul[...], _FusedElementwise[...]]   the nodes of a round with their attrs, in
 *                                                          topological order
 *   operands = [2, 1, 0, 4, 3]    the inputs of all stages in one list: i is input i, and the outputs of the
 *                                 stages follow
 *   next = [-2, -1, 5, 6]         by input: the value that it has in the next round, which a stage computes;
 *                                 RECURRENCE_SAME for what is the same in all rounds; RECURRENCE_ROW for a
 *                                 tensor, of which round t reads part t of the first dimension
 *   results = [5]                 the value that output i is
 *   rows = [64]                   the number of last rounds whose values output i has, one below another: 1,
 *                                 all, or RECURRENCE_LAST for the value of the last round as it is
 *   groups = [2]                  the numbers of stages of the loops that the node stands for
 *                                 (optimizer/join_recurrences.h): no stage reads what one of another loop
 *                                 computes
 */
#ifndef TFCORE_OP_FUSED_OP_H_
#define TFCORE_OP_FUSED_OP_H_

#define FUSED_OP "_FusedElementwise"
#define FUSED_NODES "nodes"
#define FUSED_OPERANDS "_operands"
#define FUSED_PROGRAM_OPS "_program_ops"
#define FUSED_PARTS "_parts"
#define FUSED_RECURRENCE "_FusedRecurrence"

enum {
  FUSED_MOST_NODES = 24,
  FUSED_MOST_OPERANDS = 3, /* of a node */
  FUSED_MOST_INPUTS = FUSED_MOST_NODES * FUSED_MOST_OPERANDS,
  FUSED_MOST_ARGS = 16,   /* inputs of a fused product after its two factors */
  FUSED_MOST_PARTIAL = 8, /* operands that repeat elements, or are parts of rows, if the kernel has tiles */
  FUSED_MOST_VALUES = FUSED_MOST_INPUTS + FUSED_MOST_NODES,
  RECURRENCE_MOST_STAGES = 16,
  RECURRENCE_MOST_VALUES = 64, /* inputs, and outputs of stages */
  RECURRENCE_MOST_ROWS = 32,   /* of a matrix */
  RECURRENCE_SAME = -1,
  RECURRENCE_ROW = -2,
  RECURRENCE_LAST = 0
};

#endif
