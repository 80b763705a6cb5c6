/* The plan of a run: shapes, and which nodes are computed in tiles. */
#include "ops/support/fused_run.h"

/* --- shapes --- */

static bool broadcast_node(FusedRun *run, int i, Status *status) {
  const FusedNode *node = &run->program->nodes[i];
  const Shape *a = run->shapes[node->operands[0]], *b = run->shapes[node->operands[1]];
  const Shape **shape = &run->shapes[run->program->num_inputs + i];
  if (b->rank == 0 || shape_equal(a, b)) {
    *shape = a;
  } else if (a->rank == 0) {
    *shape = b;
  } else {
    Shape *made = &run->made[run->num_made++];
    made->rank = 0;
    TRY(broadcast_shapes(a, b, made, status));
    *shape = made;
  }
  return true;
}

/* The shapes of the operands of a choice, as select_elements.h counts them. */
static bool select_node(FusedRun *run, int i, Status *status) {
  const int *operands = run->program->nodes[i].operands;
  const Shape *shapes[SELECT_OPERANDS], **shape = &run->shapes[run->program->num_inputs + i];
  for (int k = 0; k < SELECT_OPERANDS; k++) shapes[k] = run->shapes[operands[k]];
  *shape = shapes[SELECT_THEN];
  if (shape_equal(shapes[SELECT_THEN], shapes[SELECT_ELSE]) &&
      shape_equal(shapes[SELECT_CONDITION], shapes[SELECT_THEN]))
    return true;
  Shape *made = &run->made[run->num_made++];
  made->rank = 0;
  *shape = made;
  return select_shape_of(shapes, made, status);
}

/* The shape of the operand with one element in the last dimension. */
static bool reduce_node(FusedRun *run, int i, Status *status) {
  const Shape *from = run->shapes[run->program->nodes[i].operands[0]];
  int64_t dims[SHAPE_MAX_RANK];
  if (from->rank < 1)
    return status_invalid(status, "Invalid reduction dimension (-1 for input with 0 dimension(s)");
  for (int k = 0; k < from->rank - 1; k++) dims[k] = shape_dim(from, k);
  dims[from->rank - 1] = 1;
  Shape *made = &run->made[run->num_made++];
  made->rank = 0;
  run->shapes[run->program->num_inputs + i] = made;
  return shape_set(made, from->rank, dims, status);
}

static bool infer_node(FusedRun *run, int i, Status *status) {
  const FusedNode *node = &run->program->nodes[i];
  const int *operands = node->operands;
  if (node->kind == FUSED_REDUCE) return reduce_node(run, i, status);
  if (node->kind == FUSED_BROADCAST) return broadcast_node(run, i, status);
  if (node->kind == FUSED_SELECT) return select_node(run, i, status);
  const Shape *first = run->shapes[operands[0]];
  run->shapes[run->program->num_inputs + i] = first;
  if (node->kind == FUSED_SLOPE)
    TRY(elementwise_check_counts(run->counts[operands[0]], run->counts[operands[1]], status));
  if (node->kind != FUSED_PAIR && node->kind != FUSED_SLOPE) return true;
  return elementwise_check_shape(node->name, node->op, first, 1, run->shapes[operands[1]], status);
}

static void note_largest(FusedRun *run, int value) {
  if (run->counts[value] <= run->elements) return;
  run->elements = run->counts[value];
  run->shape = run->shapes[value];
}

/* The shape of a part of the input's columns. A single column is copied, because tiles are contiguous. */
static bool infer_part(FusedRun *run, int i, Status *status) {
  const Shape *whole = run->shapes[i];
  const int64_t *part = &run->program->parts[2 * i];
  int64_t dims[SHAPE_MAX_RANK], rows = 1, columns = 0;
  for (int d = 0; d < whole->rank; d++) {
    dims[d] = columns = shape_dim(whole, d);
    if (d < whole->rank - 1) rows *= columns;
  }
  if (whole->rank == 0 || part[0] > columns || part[1] > columns - part[0])
    return fused_program_refuse(status);
  dims[whole->rank - 1] = part[1];
  Shape *made = &run->made[run->num_made++];
  made->rank = 0;
  TRY(shape_set(made, whole->rank, dims, status));
  run->shapes[i] = made;
  run->pitch[i] = rows == 1 || part[1] == columns ? 0 : part[1] == 1 ? -columns : columns;
  return true;
}

static bool infer_inputs(FusedRun *run, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_inputs; i++) {
    run->pitch[i] = 0;
    if (program->parts && program->parts[2 * i + 1] >= 0) TRY(infer_part(run, i, status));
    run->counts[i] = shape_num_elements(run->shapes[i]);
  }
  return true;
}

/* The shapes and numbers of elements of all values, given the shapes of the inputs. */
static bool infer(FusedRun *run, KernelContext *context, Status *status) {
  const FusedProgram *program = run->program;
  TRY(infer_inputs(run, status));
  for (int i = 0; i < program->num_nodes; i++) {
    int value = program->num_inputs + i;
    context->node_name = program->nodes[i].name;
    TRY(infer_node(run, i, status));
    run->counts[value] = shape_num_elements(run->shapes[value]);
    if (program->nodes[i].kind == FUSED_REDUCE) note_largest(run, program->nodes[i].operands[0]);
    note_largest(run, value);
  }
  context->node_name = program->name;
  return true;
}

/* --- tiles or not --- */

/* Whether the shapes differ in leading ones only. */
static bool same_elements(const Shape *a, const Shape *b) {
  if (a->rank < b->rank) return same_elements(b, a);
  const int64_t *dims = shape_dims(a), *others = shape_dims(b);
  int more = a->rank - b->rank;
  for (int i = 0; i < more; i++) {
    if (dims[i] != 1) return false;
  }
  for (int i = more; i < a->rank; i++) {
    if (dims[i] != others[i - more]) return false;
  }
  return true;
}

/* Whether there is one element for each row of `full`. */
static bool same_rows(const Shape *shape, const Shape *full) {
  if (shape->rank != full->rank || shape_dim(shape, shape->rank - 1) != 1) return false;
  for (int i = 0; i < shape->rank - 1; i++) {
    if (shape_dim(shape, i) != shape_dim(full, i)) return false;
  }
  return true;
}

/* Whether the node can be computed row by row, or as a whole before all rows. */
static bool choose_by_row(FusedRun *run, int i) {
  const FusedProgram *program = run->program;
  const FusedNode *node = &program->nodes[i];
  const Shape *shape = run->shapes[program->num_inputs + i];
  run->per_row[i] = same_rows(shape, run->shape);
  run->tiled[i] = run->per_row[i] || same_elements(shape, run->shape);
  for (int k = 0; k < node->num_operands; k++) {
    int from = node->operands[k], maker = from - program->num_inputs;
    if (!run->tiled[i]) {
      if (maker >= 0 && run->tiled[maker]) return false;
    } else if (node->kind == FUSED_REDUCE) {
      if (!run->per_row[i] || !same_elements(run->shapes[from], run->shape)) return false;
    } else if (run->per_row[i]) {
      if (run->counts[from] != 1 && !same_rows(run->shapes[from], run->shape)) return false;
    }
  }
  return true;
}

/* If nodes reduce rows, a tile is a row. */
static bool choose_rows(FusedRun *run) {
  run->row = shape_dim(run->shape, run->shape->rank - 1);
  if (run->row == 1) return false;
  for (int i = 0; i < run->program->num_nodes; i++) {
    if (!choose_by_row(run, i)) return false;
  }
  return true;
}

/* Otherwise nodes with as many elements as the largest are computed in tiles. */
static bool choose_largest(FusedRun *run) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_nodes; i++) {
    int value = program->num_inputs + i;
    run->per_row[i] = false;
    run->tiled[i] = run->counts[value] == run->elements;
    if (run->tiled[i] && !same_elements(run->shapes[value], run->shape)) return false;
  }
  return true;
}

static void choose_tiled(FusedRun *run) {
  const FusedProgram *program = run->program;
  run->row = run->num_partial = 0;
  bool tiles = run->elements > 0 && (program->reduces ? choose_rows(run) : choose_largest(run));
  tiles = tiles && fused_tiles_find_partial(run);
  run->num_whole = 0;
  for (int i = 0; i < program->num_nodes; i++) {
    run->tiled[i] = run->tiled[i] && tiles;
    run->num_whole += !run->tiled[i];
  }
}

/* --- the plan --- */

/* Nodes that are computed as a whole read whole inputs: those that are parts of rows are copied. */
static void copy_parts(FusedRun *run) {
  bool copies = false;
  for (int i = 0; i < run->program->num_inputs; i++) {
    copies |= run->pitch[i] > 0;
    if (run->pitch[i] > 0) run->pitch[i] = -run->pitch[i];
  }
  if (copies) choose_tiled(run);
}

/* Remembers the shapes of the inputs. */
static void set_known(FusedRun *run, const Shape *const *shapes) {
  run->keeps = true;
  for (int i = 0; i < run->program->num_inputs; i++) {
    run->keeps &= shapes[i]->rank <= SHAPE_INLINE_RANK;
    run->shapes[i] = run->keeps ? &run->known[i] : shapes[i];
    if (run->keeps) shape_copy_fields(&run->known[i], shapes[i]);
  }
}

bool fused_plan_make(FusedRun *run, KernelContext *context, const Shape *const *shapes, Status *status) {
  set_known(run, shapes);
  run->elements = run->num_made = 0;
  run->shape = NULL;
  TRY(infer(run, context, status));
  choose_tiled(run);
  if (run->num_whole > 0) copy_parts(run);
  fused_tiles_plan(run);
  run->is_planned = run->keeps;
  return true;
}

static bool is_same(const Shape *known, const Shape *shape) {
  if (known->rank != shape->rank) return false;
  const int64_t *a = known->storage.inline_dims, *b = shape->storage.inline_dims;
  for (int i = 0; i < known->rank; i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

bool fused_plan_fits(const FusedRun *run, const Shape *const *shapes) {
  if (!run->is_planned) return false;
  for (int i = 0; i < run->program->num_inputs; i++) {
    if (!is_same(&run->known[i], shapes[i])) return false;
  }
  return true;
}
