/* Lists of shapes, and the shapes that an op's results would have. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "native/native_eager.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "tensorflow/c/c_api_experimental.h"

/* ---- lists ---- */

TF_ShapeAndTypeList *TF_NewShapeAndTypeList(int num_shapes) {
  TF_ShapeAndTypeList *list = num_shapes >= 0 ? mem_calloc(1, sizeof *list) : NULL;
  if (!list) return NULL;
  list->num_items = num_shapes;
  list->items = num_shapes > 0 ? mem_calloc(num_shapes, sizeof *list->items) : NULL;
  if (list->items || num_shapes == 0) return list;
  mem_free(list);
  return NULL;
}

/* Forgets the shape; NULL for an index outside of the list. */
static TF_ShapeAndType *clear_item(TF_ShapeAndTypeList *list, int index) {
  if (index < 0 || index >= list->num_items) return NULL;
  TF_ShapeAndType *item = &list->items[index];
  mem_free(item->dims);
  item->dims = NULL;
  item->num_dims = UNKNOWN_RANK;
  return item;
}

void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList *shape_list, int index, const int64_t *dims,
                                 int num_dims) {
  TF_ShapeAndType *item = clear_item(shape_list, index);
  if (!item || num_dims < 0) return;
  item->dims = mem_alloc((int64_t)num_dims * (int64_t)sizeof *dims);
  if (!item->dims) return;
  if (num_dims > 0) memcpy(item->dims, dims, (size_t)num_dims * sizeof *dims);
  item->num_dims = num_dims;
}

void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList *shape_list, int index) {
  clear_item(shape_list, index);
}

void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList *shape_list, int index, TF_DataType dtype) {
  if (index >= 0 && index < shape_list->num_items) shape_list->items[index].dtype = dtype;
}

void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList *shape_list) {
  if (!shape_list) return;
  for (int i = 0; i < shape_list->num_items; i++) mem_free(shape_list->items[i].dims);
  mem_free(shape_list->items);
  mem_free(shape_list);
}

void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList **shape_list_array, int num_items) {
  if (!shape_list_array) return;
  for (int i = 0; i < num_items; i++) TF_DeleteShapeAndTypeList(shape_list_array[i]);
  free(shape_list_array); /* the caller's, from malloc() */
}

/* ---- inference ---- */

static ShapeHandle handle_of(InferenceContext *c, const TF_ShapeAndType *item) {
  if (item->num_dims < 0) return shape_unknown(c);
  DimHandle *dims = arena_calloc(c->arena, item->num_dims, sizeof *dims);
  if (!dims) return NULL;
  for (int i = 0; i < item->num_dims; i++) {
    dims[i] = dim_make(c, item->dims[i] < 0 ? UNKNOWN_DIM : item->dims[i]);
    if (!dims[i]) return NULL;
  }
  return shape_of_dims(c, dims, item->num_dims);
}

/* The op's node with all attrs, and an input for each shape. */
static NodeDef *node_of(const TFE_Op *op, const OpDef *op_def, int num_inputs, Arena *arena, Status *status) {
  NodeDef *def = op->failed ? NULL : node_def_share(arena, op->def);
  if (!def) {
    status_oom(status, "an op");
    return NULL;
  }
  for (int i = 0; i < num_inputs; i++)
    if (!node_def_add_input(def, arena, "dummy_input", status)) return NULL;
  return node_def_add_defaults(def, op_def, arena, status) ? def : NULL;
}

static bool count_args(const NodeDef *def, const OpDef *op_def, bool outputs, Arena *arena, int *count,
                       Status *status) {
  int *starts;
  TRY(node_def_arg_ranges(def, op_def, outputs, arena, &starts, status));
  *count = starts[outputs ? op_def->n_output_arg : op_def->n_input_arg];
  return true;
}

static bool fill_context(InferenceContext *c, const TF_ShapeAndTypeList *shapes, TF_Tensor *const *tensors,
                         Status *status) {
  int64_t inputs = c->num_inputs, outputs = c->num_outputs;
  ShapeHandle *handles = arena_calloc(c->arena, inputs, sizeof *handles);
  const Tensor **values = arena_calloc(c->arena, inputs, sizeof *values);
  c->input_tensors_as_shapes = arena_calloc(c->arena, inputs, sizeof *handles);
  c->input_handles = arena_calloc(c->arena, inputs, sizeof *c->input_handles);
  c->requested_tensor = arena_calloc(c->arena, inputs, sizeof(bool));
  c->requested_tensor_as_shape = arena_calloc(c->arena, inputs, sizeof(bool));
  c->outputs = arena_calloc(c->arena, outputs, sizeof *c->outputs);
  c->output_handles = arena_calloc(c->arena, outputs, sizeof *c->output_handles);
  bool ok = handles && values && c->input_tensors_as_shapes && c->input_handles && c->requested_tensor &&
            c->requested_tensor_as_shape && c->outputs && c->output_handles;
  for (int i = 0; ok && i < inputs; i++) {
    handles[i] = handle_of(c, &shapes->items[i]);
    values[i] = tensors && tensors[i] ? &tensors[i]->tensor : NULL;
    ok = handles[i];
  }
  c->inputs = handles;
  c->input_tensors = values;
  return ok || status_oom(status, "shape inference");
}

static bool infer(const TFE_Op *op, const TF_ShapeAndTypeList *shapes, TF_Tensor *const *tensors,
                  InferenceContext *c, Status *status) {
  const Op *found;
  int wanted;
  if (!c->arena) return status_oom(status, "shape inference");
  TRY(op_registry_look_up(op_registry_global(), op->def->op, &found, status));
  c->op_def = found->def;
  c->shape_data = found->registration->shape_data;
  c->num_inputs = shapes->num_items;
  NodeDef *def = node_of(op, found->def, c->num_inputs, c->arena, status);
  if (!def) return false;
  c->node = def;
  TRY(count_args(def, found->def, false, c->arena, &wanted, status));
  TRY(count_args(def, found->def, true, c->arena, &c->num_outputs, status));
  if (wanted != c->num_inputs)
    return status_invalid(status, "Wrong number of inputs passed: %d while %d expected based on NodeDef",
                          c->num_inputs, wanted);
  TRY(fill_context(c, shapes, tensors, status));
  if (!found->registration->shape)
    return status_invalid(status,
                          "No shape inference function exists for op '%s', did you forget to define it?",
                          op->def->op);
  return found->registration->shape(c, status) || shape_attach_context(c, status);
}

static bool put_shape(TF_ShapeAndTypeList *list, int index, ShapeHandle shape, Arena *arena) {
  TF_ShapeAndTypeListSetUnknownShape(list, index);
  if (!shape || !shape_rank_known(shape)) return true;
  int rank = shape_rank(shape);
  int64_t *dims = arena_calloc(arena, rank, sizeof *dims);
  if (!dims) return false;
  for (int i = 0; i < rank; i++) dims[i] = dim_value(shape->dims[i]);
  TF_ShapeAndTypeListSetShape(list, index, dims, rank);
  return list->items[index].num_dims == rank;
}

static bool give_shapes(const InferenceContext *c, TF_ShapeAndTypeList **output_shapes, Status *status) {
  TF_ShapeAndTypeList *list = TF_NewShapeAndTypeList(c->num_outputs);
  bool ok = list;
  for (int i = 0; ok && i < c->num_outputs; i++) ok = put_shape(list, i, c->outputs[i], c->arena);
  if (ok) {
    *output_shapes = list;
    return true;
  }
  TF_DeleteShapeAndTypeList(list);
  return status_oom(status, "shapes");
}

void TFE_InferShapes(TFE_Op *op, TF_ShapeAndTypeList *input_shapes, TF_Tensor **input_tensors,
                     TF_ShapeAndTypeList *input_tensor_as_shapes,
                     TF_ShapeAndTypeList **input_resource_shapes_and_types,
                     TF_ShapeAndTypeList **output_shapes,
                     TF_ShapeAndTypeList ***output_resource_shapes_and_types, TF_Status *status) {
  (void)input_tensor_as_shapes;
  (void)input_resource_shapes_and_types;
  (void)output_resource_shapes_and_types;
  start_status(status);
  bool assumed = false;
  InferenceContext context = {.arena = arena_new(),
                              .graph_def_version = graph_versions(op->context->graph->graph)->producer,
                              .assumed = &assumed};
  reported(infer(op, input_shapes, input_tensors, &context, &status->status) &&
           (!output_shapes || give_shapes(&context, output_shapes, &status->status)));
  arena_free(context.arena);
}
