#include "optimizer/recurrence.h"

#include "op/node_def.h"
#include "op/op_registry.h"
#include "optimizer/dead_values.h"
#include "optimizer/fuse_recurrences.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/loop_rounds.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

/* The functions say whether the loop fits; it does not if they have set the status. */
typedef struct Finder {
  Recurrence *r;
  const RecurrenceFacts *facts;
  Status *status;
  int64_t rows; /* of all matrices that change */
  double work;  /* multiply-adds of a round */
  Node **members;
  int64_t num_members;
  const Node **stack; /* room for all members */
} Finder;

static bool is_known_matrix(ShapeHandle shape) {
  return shape && shape_rank(shape) == 2 && shape_fully_defined(shape);
}

/* The columns of a matrix with the rows of the loop, if their number is known; else 0. */
static int64_t columns_of(const Finder *f, ShapeHandle shape) {
  return is_known_matrix(shape) && dim_value(shape->dims[0]) == f->rows ? dim_value(shape->dims[1]) : 0;
}

static bool is_the_number(const Finder *f, const Edge *edge, int64_t wanted) {
  int64_t number;
  bool is_known;
  return loop_number(edge, &number, &is_known, f->status) && is_known && number == wanted;
}

/* The variable whose value in a round the edge carries, or NULL. */
static const FrameVariable *variable_of(const Finder *f, const Edge *edge) {
  edge = loop_value_source(edge);
  for (int i = 0; edge && edge->src_output == 1 && i < f->r->loop->num_variables; i++) {
    if (f->r->loop->variables[i].split == edge->src) return &f->r->loop->variables[i];
  }
  return NULL;
}

/* --- the nodes of the loop --- */

static bool is_product(const Node *node) {
  return node_is_own(node, "_FusedMatMul") || node_is_own(node, "MatMul");
}

/* A product, or an elementwise node, fused or not. */
static bool is_stage(const Node *node) {
  return is_product(node) || node_is_own(node, FUSED_OP) || (node_fused_op(node) && !node_reduces_rows(node));
}

/* Whether the loop can do without the node, except for values that stages use. */
static bool may_be_inside(const Node *node) {
  static const char *const kOps[] = {"Less",  "LogicalAnd",        "Add",
                                     "AddV2", "TensorListGetItem", "TensorListSetItem"};
  if (node_is_identity(node) || node_is_const(node) || node->node_class == NODE_NO_OP || is_stage(node))
    return true;
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    if (node_is_own(node, kOps[i])) return true;
  }
  return false;
}

/* What r->member says of nodes: they are in the loop; a stage or result uses them; the last search found
 * them. */
enum { INSIDE = 1, USED = 2, NEEDED = 4 };

static bool add_member(Finder *f, Node *node) {
  char *member = &f->r->member[node->id];
  if (!*member) f->members[f->num_members++] = node;
  *member |= INSIDE;
  return !kept(f->facts->keep, node);
}

static bool add_loop(Finder *f) {
  const FrameLoop *loop = f->r->loop;
  bool fits = add_member(f, loop->condition);
  for (int i = 0; fits && i < loop->num_variables; i++) {
    const FrameVariable *v = &loop->variables[i];
    fits = v->enter->inputs[0] && add_member(f, v->enter) && add_member(f, v->merge) &&
           add_member(f, v->split) && add_member(f, v->next);
  }
  for (int i = 0; fits && i < loop->num_constants; i++)
    fits = loop->constants[i]->inputs[0] && add_member(f, loop->constants[i]);
  for (int64_t i = 0; fits && i < loop->num_inner; i++)
    fits = may_be_inside(loop->inner[i]) && add_member(f, loop->inner[i]);
  return fits;
}

/* Besides the nodes that the loop needs, those that only read its values. All others are behind Exits. */
static bool find_members(Finder *f) {
  if (!add_loop(f)) return false;
  for (int64_t i = 0; i < f->num_members; i++) {
    const Node *node = f->members[i];
    for (int32_t k = 0; k < node->num_out_edges; k++) {
      Node *reader = node->out_edges[k]->dst;
      if (node_is_exit(reader)
              ? kept(f->facts->keep, reader)
              : !f->r->member[reader->id] && !(may_be_inside(reader) && add_member(f, reader)))
        return false;
    }
  }
  return true;
}

static bool may_fail(const Node *node) {
  bool is_matrix_op = is_stage(node) && node->output_types[0] == DT_FLOAT; /* the others count rounds */
  return is_matrix_op || node_is_own(node, "TensorListGetItem") || node_is_own(node, "TensorListSetItem");
}

/* Whether stages and results use all nodes that may fail: the errors of others would be lost with them. */
static bool uses_all(const Finder *f) {
  for (int64_t i = 0; i < f->num_members; i++) {
    if (may_fail(f->members[i]) && !(f->r->member[f->members[i]->id] & USED)) return false;
  }
  return true;
}

/* Those of any stage: the others must have as many. */
static bool find_rows(Finder *f) {
  for (int64_t i = 0; i < f->r->loop->num_inner; i++) {
    const Node *node = f->r->loop->inner[i];
    if (!is_stage(node) || !is_known_matrix(optimizer_shape(node, 0))) continue;
    f->rows = dim_value(node->output_shapes[0]->dims[0]);
    return f->rows >= 1 && f->rows <= RECURRENCE_MOST_ROWS;
  }
  return false;
}

/* --- rounds --- */

static bool find_rounds(const Finder *f) {
  bool is_known;
  return loop_find_rounds(f->r->loop->condition, &f->r->rounds, &is_known, f->status) && is_known &&
         f->r->rounds >= 1;
}

/* Whether the edge carries the number of the round. */
static bool is_counter(const Finder *f, const Edge *edge) {
  bool counts;
  return loop_value_counts(edge, &counts, f->status) && counts;
}

/* --- inputs --- */

static bool same_input(const RecurrenceInput *a, const RecurrenceInput *b) {
  return a->outside.node == b->outside.node && a->outside.index == b->outside.index &&
         a->constant == b->constant && a->variable == b->variable &&
         (a->next == b->next || (a->next >= 0 && a->variable));
}

static bool add_input(const Finder *f, RecurrenceInput input, int64_t *value) {
  Recurrence *r = f->r;
  for (int i = 0; i < r->num_inputs; i++) {
    *value = i;
    if (same_input(&r->inputs[i], &input)) return true;
  }
  if (r->num_inputs == RECURRENCE_MOST_VALUES) return false;
  *value = r->num_inputs;
  r->inputs[r->num_inputs++] = input;
  return true;
}

/* A matrix of a tensor with as many as there are rounds. */
static bool add_row(Finder *f, const Node *item, int64_t *value) {
  const Node *enter = loop_value_entered(item->inputs[0]);
  const Edge *list = enter ? loop_value_source(enter->inputs[0]) : NULL;
  bool fits = false;
  if (!list || !node_is_own(list->src, "TensorListFromTensor") || !is_counter(f, item->inputs[1]))
    return false;
  ShapeHandle rows = optimizer_edge_shape(list->src->inputs[0]), row = optimizer_shape(item, 0);
  if (!rows || shape_rank(rows) != 3 || columns_of(f, row) == 0 || !dim_known(rows->dims[0]) ||
      dim_value(rows->dims[0]) < f->r->rounds || !optimizer_same_device(item, list->src) ||
      dtype_base((int)node_output_type(edge_value(list->src->inputs[0]))) != (int)item->output_types[0])
    return false;
  for (int axis = 0; axis < 2; axis++) {
    if (!dim_known(rows->dims[1 + axis]) || dim_value(rows->dims[1 + axis]) != dim_value(row->dims[axis]))
      return false;
  }
  if (!loop_value_fits_shape(list->src->inputs[1], rows, 1, &fits, f->status) || !fits) return false;
  if (!loop_value_fits_shape(item->inputs[2], rows, 1, &fits, f->status) || !fits) return false;
  f->r->member[item->id] |= USED;
  return add_input(f, (RecurrenceInput){.outside = edge_value(list->src->inputs[0]), .next = RECURRENCE_ROW},
                   value);
}

static bool add_variable(const Finder *f, const FrameVariable *v, int64_t *value) {
  const Edge *outside = v->enter->inputs[0];
  return v->enter->output_types[0] == DT_FLOAT && columns_of(f, optimizer_edge_shape(outside)) > 0 &&
         add_input(f, (RecurrenceInput){.outside = edge_value(outside), .variable = v}, value);
}

/* --- stages --- */

static bool place(Finder *f, Node *stage, int depth, int *first);

static bool resolve(Finder *f, const Edge *edge, int depth, int64_t *value) {
  const Edge *source = loop_value_source(edge);
  if (!source) return false;
  Node *node = source->src;
  DataType type = node->output_types[source->src_output];
  if (type != DT_FLOAT && type != DT_BOOL) return false;
  if (is_stage(node)) {
    int first;
    if (!place(f, node, depth, &first)) return false;
    *value = RECURRENCE_MOST_VALUES + first + source->src_output;
    return true;
  }
  const Node *enter = loop_value_entered(source);
  const FrameVariable *variable = variable_of(f, source);
  if (enter)
    return add_input(f, (RecurrenceInput){.outside = edge_value(enter->inputs[0]), .next = RECURRENCE_SAME},
                     value);
  if (variable) return add_variable(f, variable, value);
  if (node_is_const(node))
    return add_input(f, (RecurrenceInput){.constant = node, .next = RECURRENCE_SAME}, value);
  return node_is_own(node, "TensorListGetItem") && add_row(f, node, value);
}

static bool is_named(const AttrListValue *list, size_t i, const char *name) {
  return i < list->n_s && str_equal_text((Str){(const char *)list->s[i].data, list->s[i].len}, name);
}

/* Whether every op computes a whole row, as it does if one of its operands is a row, and none reduces one. */
static bool computes_rows(const AttrListValue *ops, size_t begin, const AttrListValue *operands,
                          const bool *is_row, int num_inputs, Status *status) {
  bool rows[FUSED_MOST_VALUES];
  size_t next = 0, count = (size_t)num_inputs;
  if (!ops || !operands || ops->n_s - begin > FUSED_MOST_NODES) return false;
  memcpy(rows, is_row, count * sizeof *rows);
  for (size_t i = begin; i < ops->n_s; i++, count++) {
    static const char *const kReductions[] = {"Sum", "Mean", "Max", "Min"};
    char name[32];
    const Op *op;
    for (int k = 0; k < 4; k++) {
      if (is_named(ops, i, kReductions[k])) return false;
    }
    if (ops->s[i].len >= sizeof name) return false;
    memcpy(name, ops->s[i].data, ops->s[i].len);
    name[ops->s[i].len] = '\0';
    if (!op_registry_look_up(op_registry_global(), name, &op, status)) return false;
    rows[count] = false;
    for (size_t k = 0; k < op->def->n_input_arg; k++, next++) {
      if (next >= operands->n_i || operands->i[next] < 0 || operands->i[next] >= (int64_t)count) return false;
      rows[count] |= rows[operands->i[next]];
    }
    if (!rows[count]) return false;
  }
  return true;
}

/* Whether the kernel has to place the elements of an operand that is read whole, because there are fewer. */
static bool is_placed(const Finder *f, ShapeHandle shape, bool is_row) {
  bool is_single = shape_rank(shape) >= 0;
  for (int i = 0; i < shape_rank(shape); i++)
    is_single &= dim_known(shape->dims[i]) && dim_value(shape->dims[i]) == 1;
  return f->rows > 1 && !is_row && !is_single;
}

/* Whether the node alone computes whole rows. */
static bool is_one_op(const Finder *f, const Node *node, int64_t columns) {
  bool has_row = false;
  for (int i = 0; i < node->num_inputs; i++) {
    ShapeHandle shape = optimizer_edge_shape(node->inputs[i]);
    if (!shape) return false;
    has_row |= columns_of(f, shape) == columns;
  }
  return has_row;
}

/* A fused node whose results are rows of the same size. */
static bool is_elementwise(const Finder *f, const Node *node, int64_t columns) {
  const AttrListValue *parts = NULL, *ops, *operands;
  bool is_row[FUSED_MOST_INPUTS];
  int num_placed = 0;
  if (node_def_attr(node->def, FUSED_PARTS) &&
      !node_attr_list(node->def, FUSED_PARTS, ATTR_INT, &parts, f->status))
    return false;
  if (!node_attr_list(node->def, "ops", ATTR_STRING, &ops, f->status) ||
      !node_attr_list(node->def, "operands", ATTR_INT, &operands, f->status))
    return false;
  if (parts && parts->n_i != 2 * (size_t)node->num_inputs) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    ShapeHandle shape = optimizer_edge_shape(node->inputs[i]);
    bool is_part = parts && parts->i[2 * i + 1] >= 0;
    if (!shape) return false;
    is_row[i] = columns_of(f, shape) > 0 && (is_part ? parts->i[2 * i + 1] : columns_of(f, shape)) == columns;
    num_placed += is_part || is_placed(f, shape, is_row[i]);
    if (is_part && (!is_row[i] || (columns == 1 && f->rows > 1)))
      return false; /* the kernel copies columns */
  }
  return num_placed <= FUSED_MOST_PARTIAL &&
         computes_rows(ops, 0, operands, is_row, node->num_inputs, f->status);
}

/* A product whose fused ops are all part of its epilogue (ops/nn/fused_ops.c). */
static bool fits_product(Finder *f, const Node *node, int64_t columns) {
  ShapeHandle a = optimizer_edge_shape(node->inputs[0]), b = optimizer_edge_shape(node->inputs[1]);
  bool transpose_b = node_def_is_true(node->def, "transpose_b");
  if (columns_of(f, a) == 0 || !b || shape_rank(b) != 2 || node_def_is_true(node->def, "transpose_a"))
    return false;
  DimHandle depth = b->dims[transpose_b], width = b->dims[!transpose_b];
  if (!dim_known(depth) || dim_value(depth) != columns_of(f, a) || !dim_known(width) ||
      dim_value(width) != columns)
    return false;
  f->work += (double)f->rows * (double)columns * (double)dim_value(depth);
  if (optimizer_is_op(node, "MatMul")) return true;
  const AttrListValue *ops, *operands;
  if (!node_attr_list(node->def, "fused_ops", ATTR_STRING, &ops, f->status) || !ops) return false;
  const AttrValue *program = node_def_attr(node->def, FUSED_PROGRAM_OPS);
  size_t program_ops = program ? (size_t)program->i : 0, done = is_named(ops, 0, "BiasAdd");
  int has_bias = (int)done;
  if (done + program_ops < ops->n_s) done += is_named(ops, done, "Relu") || is_named(ops, done, "Relu6");
  if (done + program_ops != ops->n_s || program_ops > ops->n_s) return false;
  if (program_ops == 0) return true;
  bool is_row[FUSED_MOST_ARGS + 1] = {true};
  int num_inputs = node->num_inputs - 1 - has_bias, num_placed = 0;
  if (num_inputs < 1 || num_inputs > FUSED_MOST_ARGS ||
      !node_attr_list(node->def, FUSED_OPERANDS, ATTR_INT, &operands, f->status))
    return false;
  for (int i = 1; i < num_inputs; i++) {
    ShapeHandle shape = optimizer_edge_shape(node->inputs[1 + has_bias + i]);
    if (!shape) return false;
    is_row[i] = columns_of(f, shape) == columns;
    num_placed += is_placed(f, shape, is_row[i]);
  }
  return num_placed <= FUSED_MOST_PARTIAL &&
         computes_rows(ops, done, operands, is_row, num_inputs, f->status);
}

static bool fits_stage(Finder *f, const Node *stage) {
  int64_t columns = columns_of(f, optimizer_shape(stage, 0));
  for (int i = 0; i < stage->num_outputs; i++) {
    if (stage->output_types[i] != DT_FLOAT || columns_of(f, optimizer_shape(stage, i)) != columns)
      return false;
  }
  f->work += RECURRENCE_STAGE_WORK + 16 * (double)f->rows * (double)columns;
  if (columns == 0) return false;
  if (is_product(stage)) return fits_product(f, stage, columns);
  return optimizer_is_op(stage, FUSED_OP) ? is_elementwise(f, stage, columns) : is_one_op(f, stage, columns);
}

/* Adds the stage behind those that it reads, unless it is there; *first is the number of its first output. */
static bool place(Finder *f, Node *stage, int depth, int *first) {
  Recurrence *r = f->r;
  int64_t operands[FUSED_MOST_INPUTS];
  for (int i = 0; i < r->num_stages; i++) {
    *first = r->first_values[i];
    if (r->stages[i] == stage) return true;
  }
  if (depth == RECURRENCE_MOST_STAGES || stage->num_inputs > FUSED_MOST_INPUTS || !fits_stage(f, stage))
    return false;
  for (int i = 0; i < stage->num_inputs; i++) {
    if (!resolve(f, stage->inputs[i], depth + 1, &operands[i])) return false;
  }
  bool multiplies = is_product(stage);
  int64_t weights = multiplies ? operands[1] : 0;
  if (multiplies && (weights >= RECURRENCE_MOST_VALUES || r->inputs[weights].next != RECURRENCE_SAME))
    return false;
  if (r->num_stages == RECURRENCE_MOST_STAGES ||
      (r->num_stages > 0 && !optimizer_same_device(stage, r->stages[0])))
    return false;
  memcpy(&r->operands[r->num_operands], operands, (size_t)stage->num_inputs * sizeof *operands);
  r->num_operands += stage->num_inputs;
  *first = r->first_values[r->num_stages] = r->num_values;
  r->member[stage->id] |= USED;
  r->stages[r->num_stages++] = stage;
  r->num_values += stage->num_outputs;
  return true;
}

static const Node *stage_of(const Recurrence *r, int64_t value, int *output) {
  int k = (int)(value - RECURRENCE_MOST_VALUES), s = r->num_stages - 1;
  while (r->first_values[s] > k) s--;
  *output = k - r->first_values[s];
  return r->stages[s];
}

/* A value that a stage computes in each round. */
static bool resolve_computed(Finder *f, const Edge *edge, int64_t *value, ShapeHandle *shape) {
  int output;
  if (!resolve(f, edge, 0, value) || *value < RECURRENCE_MOST_VALUES) return false;
  const Node *stage = stage_of(f->r, *value, &output);
  *shape = optimizer_shape(stage, output);
  return true;
}

/* What the inputs that are variables become, which may need more inputs. */
static bool find_next(Finder *f) {
  ShapeHandle shape;
  for (int i = 0; i < f->r->num_inputs; i++) {
    RecurrenceInput *input = &f->r->inputs[i];
    if (!input->variable) continue;
    if (!resolve_computed(f, input->variable->next->inputs[0], &input->next, &shape) ||
        !optimizer_same_shape(shape, optimizer_edge_shape(input->variable->enter->inputs[0])))
      return false;
  }
  return true;
}

/* --- results --- */

static bool add_result(const Finder *f, RecurrenceResult result) {
  for (int i = 0; i < f->r->num_results; i++) {
    if (f->r->results[i].node == result.node) return true;
  }
  if (f->r->num_results == RECURRENCE_MOST_VALUES) return false;
  f->r->results[f->r->num_results++] = result;
  return true;
}

static bool has_floats(const Node *list_op) {
  const AttrValue *type = node_def_attr(list_op->def, "element_dtype");
  return type && type->type == (int)DT_FLOAT;
}

/* The node that writes a row of the list in each round. */
static bool find_write(Finder *f, const FrameVariable *v, const Node **write, int64_t *rows) {
  const Edge *reserved = loop_value_source(v->enter->inputs[0]),
             *written = loop_value_source(v->next->inputs[0]);
  if (!reserved || !node_is_own(reserved->src, "TensorListReserve") || !written ||
      !node_is_own(written->src, "TensorListSetItem") || variable_of(f, written->src->inputs[0]) != v ||
      !has_floats(reserved->src) || !has_floats(written->src))
    return false;
  *write = written->src;
  f->r->member[written->src->id] |= USED;
  *rows = is_counter(f, written->src->inputs[1]) ? f->r->rounds : 1;
  return is_the_number(f, reserved->src->inputs[1], *rows) &&
         (is_counter(f, written->src->inputs[1]) || is_the_number(f, written->src->inputs[1], 0));
}

/* Whether the variable enters the loop only where the edge carries a value. */
static bool enters_with(const Finder *f, const FrameVariable *v, const Edge *edge) {
  return f->facts->branches[edge->src->id] == 0 ||
         dead_values_include(edge_value(v->enter->inputs[0]), edge_value(edge));
}

/* Whether the node stacks all rows of a list of such values, which is variable `v`. */
static bool is_stack(const Finder *f, const FrameVariable *v, const Node *node, int64_t rows,
                     ShapeHandle shape) {
  const AttrValue *count = node_def_attr(node->def, "num_elements");
  bool fits;
  return node_is_own(node, "TensorListStack") && !kept(f->facts->keep, node) &&
         node->num_control_inputs == 0 && has_floats(node) &&
         (!count || count->i == -1 || count->i == rows) && optimizer_same_device(node, f->r->stages[0]) &&
         node->inputs[1] && enters_with(f, v, node->inputs[1]) &&
         loop_value_fits_shape(node->inputs[1], shape, 0, &fits, f->status) && fits;
}

static bool add_stacks(Finder *f, const FrameVariable *v, const Node *exit) {
  const Node *write;
  int64_t value, rows;
  ShapeHandle shape;
  bool fits;
  if (!find_write(f, v, &write, &rows) || !resolve_computed(f, write->inputs[2], &value, &shape))
    return false;
  const Node *reserve = loop_value_source(v->enter->inputs[0])->src;
  if (!loop_value_fits_shape(reserve->inputs[0], shape, 0, &fits, f->status) || !fits) return false;
  for (int32_t i = 0; i < exit->num_out_edges; i++) {
    const Edge *edge = exit->out_edges[i];
    if (edge_is_control(edge)) continue;
    if (!is_stack(f, v, edge->dst, rows, shape) ||
        !add_result(f, (RecurrenceResult){.node = edge->dst, .value = value, .rows = rows}))
      return false;
  }
  return true;
}

static bool add_last(Finder *f, const FrameVariable *v, Node *exit) {
  int64_t input;
  ShapeHandle shape;
  RecurrenceResult result = {.node = exit, .rows = RECURRENCE_LAST};
  return add_variable(f, v, &input) && resolve_computed(f, v->next->inputs[0], &result.value, &shape) &&
         add_result(f, result);
}

static bool is_read(const Node *exit) {
  for (int32_t i = 0; i < exit->num_out_edges; i++) {
    if (!edge_is_control(exit->out_edges[i])) return true;
  }
  return false;
}

/* Marks the nodes of the loop without which the node has no value. */
static void find_needed(Finder *f, const Node *node) {
  char *member = f->r->member;
  int64_t depth = 0;
  for (int64_t i = 0; i < f->num_members; i++) member[f->members[i]->id] &= ~NEEDED;
  member[node->id] |= NEEDED;
  f->stack[depth++] = node;
  while (depth > 0) {
    node = f->stack[--depth];
    for (int64_t i = 0; i < node_num_in_edges(node); i++) {
      const Edge *edge = node_in_edge(node, i);
      if (!edge || !(member[edge->src->id] & INSIDE) || member[edge->src->id] & NEEDED) continue;
      member[edge->src->id] |= NEEDED;
      f->stack[depth++] = edge->src;
    }
  }
}

static bool is_needed_or_alive(const Finder *f, const FrameVariable *v, const Node *enter) {
  return f->r->member[enter->id] & NEEDED || enters_with(f, v, enter->inputs[0]);
}

/* Whether the variable is dead behind the loop where a value that enters it is: the new node needs all of
 * them. */
static bool dies_with_loop(Finder *f, const FrameVariable *v) {
  const FrameLoop *loop = f->r->loop;
  find_needed(f, v->split);
  for (int i = 0; i < loop->num_variables; i++) {
    if (!is_needed_or_alive(f, v, loop->variables[i].enter)) return false;
  }
  for (int i = 0; i < loop->num_constants; i++) {
    if (!is_needed_or_alive(f, v, loop->constants[i])) return false;
  }
  return true;
}

static bool find_results(Finder *f) {
  const FrameLoop *loop = f->r->loop;
  for (int i = 0; i < loop->num_variables; i++) {
    const FrameVariable *v = &loop->variables[i];
    for (int32_t k = 0; k < v->split->num_out_edges; k++) {
      const Edge *edge = v->split->out_edges[k];
      if (edge->src_output != 0 || edge_is_control(edge)) continue;
      if (!node_is_exit(edge->dst)) return false;
      if (!is_read(edge->dst)) continue;
      if (!dies_with_loop(f, v)) return false;
      bool is_list = edge->dst->output_types[0] == DT_VARIANT;
      if (!(is_list ? add_stacks(f, v, edge->dst) : add_last(f, v, edge->dst))) return false;
    }
  }
  return f->r->num_results > 0;
}

/* --- all --- */

static bool find(Finder *f) {
  Recurrence *r = f->r;
  const Node *around = f->facts->frames[r->loop->condition->id].parent_frame;
  if (!around || around->id != SOURCE_ID) return false;
  return find_members(f) && find_rows(f) && find_rounds(f) && find_results(f) && find_next(f) &&
         uses_all(f) && r->num_inputs + r->num_values <= RECURRENCE_MOST_VALUES &&
         f->work * (double)r->rounds <= RECURRENCE_MOST_WORK;
}

bool recurrence_of_exit(const Node *exit, const RecurrenceFacts *facts, Arena *arena, Recurrence *r,
                        bool *found, Status *status) {
  Finder f = {.r = r, .facts = facts, .status = status};
  Status misfit;
  status_init(&misfit);
  *r = (Recurrence){0};
  *found = false;
  if (!frame_loop_of_exit(exit, arena, &r->loop, &misfit)) {
    return misfit.code != CODE_RESOURCE_EXHAUSTED ||
           status_set(status, CODE_RESOURCE_EXHAUSTED, "%s", misfit.message);
  }
  int64_t ids = graph_num_node_ids(exit->graph);
  r->member = arena_calloc(arena, ids, 1);
  f.members = arena_alloc(arena, ids * (int64_t)sizeof *f.members);
  f.stack = arena_alloc(arena, ids * (int64_t)sizeof *f.stack);
  if (!r->member || !f.members || !f.stack) return status_oom(status, "the loops of a graph");
  *found = find(&f);
  return status->code == CODE_OK;
}
