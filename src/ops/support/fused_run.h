/* One run of a fused program (ops/support/fused_program.h): fused_run.c and fused_tiles.c.
 *
 * A program whose first input is the result of a product, and whose one output takes its place, can run on
 * blocks of the result as they are completed:
 *
 *   TRY_DONE(fused_run_begin(&run, program, context, shapes, data, &tiles, status));
 *   if (tiles) multiply(..., fused_tiles_block);   // which multiply calls for each block
 *   else multiply(...), fused_run_rest(&run);
 *   fused_run_end(&run);
 */
#ifndef TFCORE_OPS_SUPPORT_FUSED_RUN_H_
#define TFCORE_OPS_SUPPORT_FUSED_RUN_H_

#include "ops/support/fused_program.h"

enum { FUSED_MOST_PARTIAL = 8 };

/* The loops over the elements of the largest values, where some operands repeat elements along some
 * dimensions. Adjacent dimensions that all operands treat alike are merged, those of size 1 left out. */
typedef struct FusedNest {
  int rank;
  int64_t dims[BROADCAST_MAX_RANK];
  int64_t strides[FUSED_MOST_PARTIAL][BROADCAST_MAX_RANK]; /* in elements */
} FusedNest;

typedef struct FusedRun {
  const FusedProgram *program;
  const Parallel *parallel;
  const Shape *shape; /* of the largest values, which have `elements` */
  int64_t elements;
  /* By value. */
  const Shape *shapes[FUSED_MOST_VALUES];
  int64_t counts[FUSED_MOST_VALUES];
  char *data[FUSED_MOST_VALUES]; /* not set for values that are in tiles only */
  /* By node. */
  bool tiled[FUSED_MOST_NODES];   /* computed in tiles, else as a whole, before the others */
  bool per_row[FUSED_MOST_NODES]; /* tiled, with one element for each row */
  int64_t row;                    /* 0, or: the tiles are rows of this length, which nodes reduce */
  double scalars[FUSED_MOST_NODES];
  Shape made[FUSED_MOST_NODES];
  Buffer *scratch[FUSED_MOST_NODES];
  int num_made, num_scratch;
  /* The operands of tiled nodes that have several elements, but fewer than the result. */
  int partial[FUSED_MOST_PARTIAL]; /* values */
  int64_t partial_size[FUSED_MOST_PARTIAL];
  int num_partial;
  FusedNest nest; /* of these operands */
} FusedRun;

/* Reduces rows of `length` elements. */
void fused_node_reduce(const FusedNode *node, int64_t rows, int64_t length, const void *x, void *y,
                       const Parallel *parallel);
/* Computes `count` elements. `still`: the operand that has a single one. */
void fused_node_call(const FusedNode *node, int64_t count, const void *const *operands, BroadcastSide still,
                     void *out);
/* Of an element: base/parallel.h. */
double fused_node_work(const FusedNode *node);

/* Finds the operands of the tiled nodes that repeat elements. False if there are too many. */
bool fused_tiles_plan(FusedRun *run);
/* Computes all tiled nodes. */
void fused_tiles_run(const FusedRun *run);
/* Computes them for `rows` rows of `columns` elements, `stride` elements apart, from element `first` on. */
void fused_tiles_block(const FusedRun *run, int64_t first, int64_t rows, int64_t stride, int64_t columns);

/* Begins a run in which input i has the shape shapes[i] and its elements at data[i], and the one output, with
 * the shape and the memory of input 0, is computed by fused_run_rest or, if *tiles, by calls of
 * fused_tiles_block for blocks of input 0 that are complete. INVALID_ARGUMENT if the shapes do not fit. In
 * any case, fused_run_end follows. */
MUST_CHECK bool fused_run_begin(FusedRun *run, const FusedProgram *program, KernelContext *context,
                                const Shape *const *shapes, void *const *data, bool *tiles, Status *status);
void fused_run_rest(const FusedRun *run);
void fused_run_end(FusedRun *run);
/* Of an element of the output, for the tiled nodes. */
double fused_run_work(const FusedRun *run);

#endif
