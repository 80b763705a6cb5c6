/* One run of a fused program (ops/support/fused_program.h): fused_plan.c, fused_run.c and fused_tiles.c.
 *
 * A program whose first input is the result of a product, and whose one output takes its place, can run on
 * blocks of the result as they are completed:
 *
 *   FusedRoom room;
 *   FusedRun *run = fused_run_in(context, program, &room);
 *   TRY_DONE(fused_run_begin(run, context, shapes, data, &tiles, status));
 *   if (tiles) multiply(..., fused_tiles_block);   // which multiply calls for each block
 *   else multiply(...), fused_run_rest(run);
 *   fused_run_end(run);
 */
#ifndef TFCORE_OPS_SUPPORT_FUSED_RUN_H_
#define TFCORE_OPS_SUPPORT_FUSED_RUN_H_

#include "ops/support/fused_loop.h"
#include "ops/support/fused_program.h"

enum { FUSED_MOST_NEST = 8 };

/* The loops over the elements of the largest values, where some operands repeat elements along some
 * dimensions, or are parts of longer rows. Adjacent dimensions that all operands treat alike are merged,
 * those of size 1 left out. */
typedef struct FusedNest {
  int rank;
  int64_t dims[FUSED_MOST_NEST];
  int64_t strides[FUSED_MOST_PARTIAL][FUSED_MOST_NEST]; /* in elements */
} FusedNest;

/* Where the elements for a tile are: `at` elements of `step` bytes behind a pointer, and `row` of `row_step`.
 * The pointer is that of a value, or (after the values) of a tile, or (after the tiles) of a partial operand.
 */
typedef struct FusedAccess {
  int32_t base, step, row_step;
} FusedAccess;

/* The call of a node for a tile. */
typedef struct FusedCall {
  const FusedNode *node;
  bool per_row;
  uint8_t still; /* bit k: all elements of a tile use one element of operand k */
  FusedAccess operands[FUSED_MOST_OPERANDS], out;
} FusedCall;

static inline bool fused_is_still(const FusedCall *call, int operand) { return call->still >> operand & 1; }

/* The calls [first, end): one after the other, or as a loop of code (ops/support/fused_loop.h). */
typedef struct FusedGroup {
  uint8_t first, end;
  uint8_t unit;     /* elements in a round of the loop; 0: there is none */
  bool whole_tiles; /* the loop serves only tiles that are whole numbers of rounds */
  /* The accesses that are the loop's pointers: call * FUSED_ACCESSES + number of the operand, or
   * FUSED_MOST_OPERANDS for the result. */
  uint8_t pointers[FUSED_LOOP_MOST_POINTERS];
  uint32_t hash;
  FusedLoop loop;
} FusedGroup;
enum { FUSED_ACCESSES = FUSED_MOST_OPERANDS + 1 };

/* The memory of a run, of fused_run_size bytes. What follows from the shapes of the inputs is the plan, which
 * the next run uses as well if the shapes are the same. */
typedef struct FusedRun {
  const FusedProgram *program; /* NULL: new memory */
  const Parallel *parallel;
  bool is_planned; /* for the shapes `known` */
  /* --- the plan --- */
  const Shape *shape; /* of the largest values, which have `elements` */
  int64_t elements;
  int64_t row;    /* 0, or: the tiles are rows of this length, which nodes reduce */
  int64_t length; /* of a tile */
  int num_made, num_calls, num_groups, num_whole;
  bool keeps;     /* no shape has dimensions on the heap */
  Shape *known;   /* by input */
  int64_t *pitch; /* by input: 0, or the length of the rows that it is a part of; negative: it is copied */
  /* By value. */
  const Shape **shapes;
  int64_t *counts;
  /* By node. */
  bool *tiled;   /* computed in tiles, else as a whole, before the others */
  bool *per_row; /* tiled, with one element for each row */
  Shape *made;
  FusedCall *calls;
  FusedGroup *groups;
  /* The operands of tiled nodes that are not laid out like the result: they have several elements, but fewer,
   * or are parts of rows. */
  int partial[FUSED_MOST_PARTIAL]; /* values */
  int64_t partial_size[FUSED_MOST_PARTIAL];
  int num_partial;
  FusedNest nest; /* of these operands */
  /* --- of one run --- */
  char **data; /* by value; not set for values that are in tiles only */
  double *scalars;
  Buffer **scratch;
  int num_scratch;
} FusedRun;

/* Reduces rows of `length` elements. */
void fused_node_reduce(const FusedNode *node, int64_t rows, int64_t length, const void *x, void *y,
                       const Parallel *parallel);
/* Computes `count` elements. Bit k of `still`: operand k has a single one. */
void fused_node_call(const FusedNode *node, int64_t count, const void *const *operands, unsigned still,
                     void *out);
/* Of an element: base/parallel.h. */
double fused_node_work(const FusedNode *node);

/* Finds the operands of the tiled nodes that are not laid out like the result. False if there are too many.
 */
bool fused_tiles_find_partial(FusedRun *run);
/* Plans the tiles and the calls. */
void fused_tiles_plan(FusedRun *run);
/* Divides the calls into groups. (fused_groups.c) */
void fused_groups_plan(FusedRun *run);
/* Computes all tiled nodes. */
void fused_tiles_run(const FusedRun *run);
/* Computes them for `rows` rows of `columns` elements, `stride` elements apart, from element `first` on. */
void fused_tiles_block(const FusedRun *run, int64_t first, int64_t rows, int64_t stride, int64_t columns);
/* The same with the values at data[], as FusedRun.data. For plans without values that are computed as a
 * whole, and without inputs that are copied. */
void fused_tiles_block_at(const FusedRun *run, char *const *data, int64_t first, int64_t rows, int64_t stride,
                          int64_t columns);

/* The bytes of a run of the program, at most FUSED_MOST_RUN. */
int64_t fused_run_size(const FusedProgram *program);
enum { FUSED_MOST_RUN = 24576 };
/* Memory on the stack for a run that is not remembered. */
typedef struct FusedRoom {
  _Alignas(16) char bytes[FUSED_MOST_RUN];
} FusedRoom;
/* The run in memory of that size, which was zeroed or has had a run of the program before. */
FusedRun *fused_run_at(void *memory, const FusedProgram *program);
/* The run in the memory that the kernel keeps, or else in `room`. */
FusedRun *fused_run_in(const KernelContext *context, const FusedProgram *program, FusedRoom *room);

/* Plans a run for inputs of these shapes. INVALID_ARGUMENT if they do not fit. (fused_plan.c) */
MUST_CHECK bool fused_plan_make(FusedRun *run, KernelContext *context, const Shape *const *shapes,
                                Status *status);
/* Whether the plan is one for these shapes. */
bool fused_plan_fits(const FusedRun *run, const Shape *const *shapes);
/* Plans a run for them unless its plan is one; fused_run_end follows. (fused_run.c) */
MUST_CHECK bool fused_run_plan(FusedRun *run, KernelContext *context, const Shape *const *shapes,
                               Status *status);

/* Begins a run in which input i has the shape shapes[i] and its elements at data[i], and the one output, with
 * the shape and the memory of input 0, is computed by fused_run_rest or, if *tiles, by calls of
 * fused_tiles_block for blocks of input 0 that are complete. INVALID_ARGUMENT if the shapes do not fit. In
 * any case, fused_run_end follows. */
MUST_CHECK bool fused_run_begin(FusedRun *run, KernelContext *context, const Shape *const *shapes,
                                void *const *data, bool *tiles, Status *status);
void fused_run_rest(const FusedRun *run);
void fused_run_end(FusedRun *run);
/* Of an element of the output, for the tiled nodes. */
double fused_run_work(const FusedRun *run);

#endif
