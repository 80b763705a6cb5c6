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
 */
#ifndef TFCORE_OP_FUSED_OP_H_
#define TFCORE_OP_FUSED_OP_H_

#define FUSED_OP "_FusedElementwise"
#define FUSED_NODES "nodes"
#define FUSED_OPERANDS "_operands"
#define FUSED_PROGRAM_OPS "_program_ops"
#define FUSED_PARTS "_parts"

enum {
  FUSED_MOST_NODES = 24,
  FUSED_MOST_OPERANDS = 3, /* of a node */
  FUSED_MOST_INPUTS = FUSED_MOST_NODES * FUSED_MOST_OPERANDS,
  FUSED_MOST_ARGS = 16, /* inputs of a fused product after its two factors */
  FUSED_MOST_VALUES = FUSED_MOST_INPUTS + FUSED_MOST_NODES
};

#endif
