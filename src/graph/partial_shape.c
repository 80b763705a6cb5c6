/* Integer vectors that represent shapes with unknown sizes: the results of Pack, ConcatV2, StridedSlice,
 * Shape and Cast applied to sizes that are known only as dimensions. A dimension keeps its identity on the
 * way through. */
#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/node_class.h"

/* Deeper or larger expressions are treated as unknown; size computations do not need them. */
enum { MAX_DEPTH = 32, MAX_STEPS = 2048 };

typedef struct Reader {
  Graph *graph;
  int depth, steps;
  bool gave_up; /* a limit was hit, so a shorter path to the same node may still succeed */
  Status *status;
} Reader;

static bool read_shape(Reader *reader, NodeOutput output, ShapeHandle *shape);

static bool input_of(const Node *node, int i, NodeOutput *input) {
  if (i >= node->num_inputs || !node->inputs[i]) return false;
  *input = (NodeOutput){node->inputs[i]->src, node->inputs[i]->src_output};
  return true;
}

static bool is_integer(int dtype) { return dtype == DT_INT32 || dtype == DT_INT64; }

/* Only running out of memory is an error here; a shape that cannot be made is unknown. */
static bool unless_oom(Reader *reader, bool ok, ShapeHandle *shape) {
  if (ok) return true;
  *shape = NULL;
  if (reader->status->code == CODE_RESOURCE_EXHAUSTED) return false;
  status_init(reader->status);
  return true;
}

static bool constant_int(Reader *reader, const Node *node, int i, int64_t *value, bool *known) {
  const Tensor *tensor;
  NodeOutput input;
  *known = false;
  if (!input_of(node, i, &input)) return true;
  TRY(graph_cached_constant(reader->graph, input, &tensor, reader->status));
  if (!tensor || !is_integer(tensor->dtype) || tensor_num_elements(tensor) != 1) return true;
  *value = tensor_int_at(tensor, 0);
  *known = true;
  return true;
}

/* --- StridedSlice --- */

typedef struct Slice {
  int64_t begin, end, stride;
  bool shrink;
} Slice;

/* Accepts one range or one index of a vector, with constant bounds; otherwise *usable is false. */
static bool read_slice(Reader *reader, const Node *node, Slice *slice, bool *usable) {
  static const char *const kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                       "shrink_axis_mask"};
  int64_t masks[5] = {0};
  *usable = false;
  for (int i = 0; i < 5; i++) {
    const AttrValue *mask = node_def_attr(node->def, kMasks[i]);
    if (mask && mask->value_case == (int)ATTR_INT) masks[i] = mask->i;
  }
  if (masks[2] || masks[3] || masks[0] < 0 || masks[0] > 1 || masks[1] < 0 || masks[1] > 1 || masks[4] < 0 ||
      masks[4] > 1) {
    return true;
  }
  *slice = (Slice){0, INT64_MAX, 1, masks[4] == 1};
  for (int i = 1; i <= 3; i++) {
    NodeOutput input;
    if (!input_of(node, i, &input)) return true;
    ShapeHandle shape = graph_output_shape(input);
    if (shape_rank(shape) != 1 || dim_value(shape->dims[0]) != 1) return true;
  }
  bool known = true;
  if (masks[0] == 0) TRY(constant_int(reader, node, 1, &slice->begin, &known));
  if (known && masks[1] == 0 && !slice->shrink) TRY(constant_int(reader, node, 2, &slice->end, &known));
  if (known) TRY(constant_int(reader, node, 3, &slice->stride, &known));
  *usable = known && slice->stride != 0 && !(slice->shrink && masks[0]);
  return true;
}

static bool read_strided_slice(Reader *reader, const Node *node, ShapeHandle *shape) {
  Slice slice;
  bool usable;
  NodeOutput input;
  TRY(read_slice(reader, node, &slice, &usable));
  if (!usable || slice.shrink || !input_of(node, 0, &input)) return true;
  ShapeHandle whole;
  TRY(read_shape(reader, input, &whole));
  if (!whole) return true;
  InferenceContext context = graph_shape_context(reader->graph, node);
  return unless_oom(reader,
                    shape_subshape(&context, whole, slice.begin, slice.end, slice.stride, shape,
                                   reader->status),
                    shape);
}

/* --- Pack --- */

/* The size represented by a scalar: a constant, or one element of a vector that is known as a shape. NULL
 * when unknown. */
static bool read_dim(Reader *reader, const Node *pack, int i, DimHandle *dim) {
  InferenceContext context = graph_shape_context(reader->graph, pack);
  int64_t value;
  bool known;
  *dim = NULL;
  TRY(constant_int(reader, pack, i, &value, &known));
  if (known) return value < 0 || dim_ok(dim_make(&context, value), dim, reader->status);
  NodeOutput scalar, vector;
  Slice slice;
  if (!input_of(pack, i, &scalar) || scalar.node->node_class != NODE_STRIDED_SLICE) return true;
  TRY(read_slice(reader, scalar.node, &slice, &known));
  if (!known || !slice.shrink || !input_of(scalar.node, 0, &vector)) return true;
  ShapeHandle whole;
  TRY(read_shape(reader, vector, &whole));
  if (!whole) return true;
  int64_t index = slice.begin < 0 ? slice.begin + shape_rank(whole) : slice.begin;
  if (index >= 0 && index < shape_rank(whole)) *dim = whole->dims[index];
  return true;
}

static bool read_pack(Reader *reader, const Node *node, ShapeHandle *shape) {
  if (node->num_inputs > SHAPE_MAX_RANK) return true;
  InferenceContext context = graph_shape_context(reader->graph, node);
  DimHandle dims[SHAPE_MAX_RANK];
  for (int i = 0; i < node->num_inputs; i++) {
    TRY(read_dim(reader, node, i, &dims[i]));
    if (!dims[i]) TRY(dim_ok(dim_unknown(&context), &dims[i], reader->status));
  }
  return shape_ok(shape_of_dims(&context, dims, node->num_inputs), shape, reader->status);
}

/* --- ConcatV2, Cast --- */

static bool read_concat(Reader *reader, const Node *node, int axis_input, ShapeHandle *shape) {
  InferenceContext context = graph_shape_context(reader->graph, node);
  ShapeHandle whole;
  TRY(shape_ok(shape_scalar(&context), &whole, reader->status));
  for (int i = 0; i < node->num_inputs; i++) {
    NodeOutput input;
    ShapeHandle part;
    if (i == axis_input) continue;
    if (!input_of(node, i, &input)) return true;
    TRY(read_shape(reader, input, &part));
    if (!part || shape_rank(whole) + shape_rank(part) > SHAPE_MAX_RANK) return true;
    TRY(shape_concatenate(&context, whole, part, &whole, reader->status));
  }
  *shape = whole;
  return true;
}

static bool read_cast(Reader *reader, const Node *node, ShapeHandle *shape) {
  NodeOutput input;
  if (!input_of(node, 0, &input) || !is_integer(node_output_type(input))) return true;
  return read_shape(reader, input, shape);
}

/* Handles a vector of known length with unknown values, and a known value. */
static bool read_tensor(Reader *reader, NodeOutput output, ShapeHandle *shape) {
  const Tensor *tensor;
  TRY(graph_cached_constant(reader->graph, output, &tensor, reader->status));
  InferenceContext context = graph_shape_context(reader->graph, output.node);
  ShapeHandle tensor_shape = graph_output_shape(output);
  if (tensor) {
    return unless_oom(reader, shape_from_tensor(&context, tensor, tensor_shape, shape, reader->status),
                      shape);
  }
  if (!dim_known(tensor_shape->dims[0]) || dim_value(tensor_shape->dims[0]) > SHAPE_MAX_RANK) return true;
  return shape_ok(shape_unknown_of_rank(&context, dim_value(tensor_shape->dims[0])), shape, reader->status);
}

/* An argument of a function represents the call's input. The request is noted for the call. */
static bool read_arg(const Reader *reader, int index, ShapeHandle *shape) {
  InferenceContext *call = reader->graph->call;
  if (shape_input_tensor(call, index)) return true;
  call->requested_tensor_as_shape[index] = true;
  *shape = call->input_tensors_as_shapes[index];
  return true;
}

/* --- dispatch --- */

static bool read_node(Reader *reader, NodeOutput output, ShapeHandle *shape) {
  const Node *node = output.node;
  NodeOutput input;
  if (node->node_class == NODE_SHAPE) {
    if (input_of(node, output.index, &input)) *shape = graph_output_shape(input);
    return true;
  }
  int arg = graph_arg_index(reader->graph, node);
  if (arg >= 0) TRY(read_arg(reader, arg, shape));
  switch (node->node_class) {
    case NODE_CAST: TRY(read_cast(reader, node, shape)); break;
    case NODE_PACK: TRY(read_pack(reader, node, shape)); break;
    case NODE_CONCAT: TRY(read_concat(reader, node, 0, shape)); break;
    case NODE_CONCAT_V2: TRY(read_concat(reader, node, node->num_inputs - 1, shape)); break;
    case NODE_STRIDED_SLICE: TRY(read_strided_slice(reader, node, shape)); break;
    default: break;
  }
  if (!*shape) TRY(read_tensor(reader, output, shape));
  return true;
}

static bool remember(Reader *reader, Node *node, ShapeHandle shape) {
  CachedValue *entry = arena_calloc(reader->graph->arena, 1, sizeof *entry);
  if (!entry) return status_oom(reader->status, "a partial shape");
  *entry = (CachedValue){.previous = reader->graph->cached_values,
                         .node = node,
                         .is_partial_shape = true,
                         .partial_shape = shape};
  reader->graph->cached_values = entry;
  node_entry(node)->partial_shape = entry;
  return true;
}

/* *shape is NULL when nothing is known; else its rank is known. */
static bool read_shape(Reader *reader, NodeOutput output, ShapeHandle *shape) {
  *shape = NULL;
  bool cached = output.node->num_outputs == 1;
  if (cached && node_entry(output.node)->partial_shape) {
    *shape = node_entry(output.node)->partial_shape->partial_shape;
    return true;
  }
  if (shape_rank(graph_output_shape(output)) != 1 || !is_integer(dtype_base(node_output_type(output))))
    return true;
  if (reader->depth >= MAX_DEPTH || reader->steps >= MAX_STEPS) {
    reader->gave_up = true;
    return true;
  }
  reader->depth++;
  reader->steps++;
  bool ok = read_node(reader, output, shape);
  reader->depth--;
  if (!ok) return false;
  if (*shape && !shape_rank_known(*shape)) *shape = NULL;
  return !cached || reader->gave_up || remember(reader, output.node, *shape);
}

bool graph_partial_shape(Graph *graph, NodeOutput output, ShapeHandle *shape, Status *status) {
  Reader reader = {.graph = graph, .status = status};
  return read_shape(&reader, output, shape);
}
