/* The ops of the tests of graphs, registered by the tests themselves. */
#include "graph_test_ops.h"

/* --- shape functions and kernels --- */

static bool ops_const_shape(InferenceContext *c, Status *status) {
  const TensorProto *value;
  TRY(node_attr_tensor(c->node, "value", &value, status));
  TensorShapeProto scalar = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  return shape_from_shape_proto(c, value->tensor_shape ? value->tensor_shape : &scalar, &c->outputs[0],
                                status);
}

static bool ops_fill_shape(InferenceContext *c, Status *status) {
  return shape_from_input_tensor(c, 0, &c->outputs[0], status);
}

static bool ops_merge_shape(InferenceContext *c, Status *status) {
  return shape_merge(c, c->inputs[0], c->inputs[1], &c->outputs[0], status);
}

static bool ops_pack_shape(InferenceContext *c, Status *status) {
  return shape_ok(shape_vector(c, dim_make(c, c->num_inputs)), &c->outputs[0], status);
}

/* A vector with the sum of the lengths. */
static bool ops_concat_shape(InferenceContext *c, Status *status) {
  DimHandle sum;
  TRY(dim_ok(dim_make(c, 0), &sum, status));
  for (int i = 0; i + 1 < c->num_inputs; i++)
    TRY(dim_add(c, sum, shape_dim_of(c, c->inputs[i], 0), &sum, status));
  return shape_ok(shape_vector(c, sum), &c->outputs[0], status);
}

static bool ops_shape_shape(InferenceContext *c, Status *status) {
  ShapeHandle in = c->inputs[0];
  DimHandle rank = shape_rank_known(in) ? dim_make(c, shape_rank(in)) : dim_unknown(c);
  return shape_ok(shape_vector(c, rank), &c->outputs[0], status);
}

/* Enough for slices of vectors: their length is unknown. A scalar with shrink_axis_mask. */
static bool ops_slice_shape(InferenceContext *c, Status *status) {
  int64_t shrink;
  TRY(node_attr_int(c->node, "shrink_axis_mask", &shrink, status));
  return shape_ok(shrink ? shape_scalar(c) : shape_vector(c, dim_unknown(c)), &c->outputs[0], status);
}

static bool ops_handle_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeAndType *entry = arena_alloc(c->arena, sizeof *entry);
  HandleData *data = arena_alloc(c->arena, sizeof *data);
  if (!entry || !data) return status_oom(status, "handle data");
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  TRY(node_attr_type(c->node, "dtype", &entry->dtype, status));
  TRY(shape_from_shape_proto(c, proto, &entry->shape, status));
  *data = (HandleData){1, entry};
  c->output_handles[0] = data;
  return shape_ok(shape_scalar(c), &c->outputs[0], status);
}

static bool ops_read_shape(InferenceContext *c, Status *status) {
  const HandleData *data = c->input_handles[0];
  if (!data) return shape_unknown_outputs(c, status);
  c->outputs[0] = data->entries[0].shape;
  return true;
}

/* Requests the value of its input and refuses a negative one. */
static bool ops_checked_shape(InferenceContext *c, Status *status) {
  const Tensor *tensor = shape_input_tensor(c, 0);
  if (tensor && tensor_int_at(tensor, 0) < 0) return status_invalid(status, "Value must not be negative");
  return shape_scalar_output(c, status);
}

static bool ops_const_kernel(KernelContext *context, Status *status) {
  (void)context;
  return status_set(status, CODE_INTERNAL, "graphs read constants themselves");
}

int ops_add_runs;

static bool ops_add_i32(KernelContext *context, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &context->inputs[0]->shape, &out, status));
  int64_t n = tensor_num_elements(out), m = tensor_num_elements(context->inputs[1]);
  ops_add_runs++;
  for (int64_t i = 0; i < n; i++) {
    tensor_i32(out)[i] = tensor_i32(context->inputs[0])[i] + tensor_i32(context->inputs[1])[m == n ? i : 0];
  }
  return true;
}

static bool ops_failing_kernel(KernelContext *context, Status *status) {
  (void)context;
  return status_set(status, CODE_INTERNAL, "this never works");
}

/* --- the ops --- */

const OpRegistration kOpConst = {
    .name = "Const",
    .outputs = {"output: dtype"},
    .attrs = {"value: tensor", "dtype: type"},
    .shape = ops_const_shape,
    .kernels = {{DT_INVALID, ops_const_kernel}},
};
const OpRegistration kOpPlaceholder = {
    .name = "Placeholder",
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape = { unknown_rank: true }"},
    .shape = shape_explicit,
};
const OpRegistration kOpIdentity = {
    .name = "Identity",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};
const OpRegistration kOpNoOp = {
    .name = "NoOp",
    .shape = shape_no_outputs,
};
const OpRegistration kOpMatMul = {
    .name = "MatMul",
    .inputs = {"a: T", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false", "T: {float, double, int32}"},
    .shape = shape_matmul,
};
const OpRegistration kOpAdd = {
    .name = "Add",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {float, int32}"},
    .shape = shape_broadcast_binary,
    .kernels = {{DT_INT32, ops_add_i32}},
};
const OpRegistration kOpFails = {
    .name = "Fails",
    .inputs = {"x: int32"},
    .outputs = {"y: int32"},
    .shape = shape_unchanged,
    .kernels = {{DT_INVALID, ops_failing_kernel}},
};
const OpRegistration kOpTestMergeShapes = {
    .name = "TestMergeShapes",
    .inputs = {"a: float", "b: float"},
    .outputs = {"c: float"},
    .shape = ops_merge_shape,
};
const OpRegistration kOpTestFill = {
    .name = "TestFill",
    .inputs = {"dims: index_type"},
    .outputs = {"output: float"},
    .attrs = {"index_type: {int32, int64} = DT_INT32"},
    .shape = ops_fill_shape,
};
const OpRegistration kOpTestChecked = {
    .name = "TestChecked",
    .inputs = {"x: int32"},
    .outputs = {"y: float"},
    .shape = ops_checked_shape,
};
const OpRegistration kOpShape = {
    .name = "Shape",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = ops_shape_shape,
};
const OpRegistration kOpRank = {
    .name = "Rank",
    .inputs = {"input: T"},
    .outputs = {"output: int32"},
    .attrs = {"T: type"},
    .shape = shape_scalar_output,
};
const OpRegistration kOpSize = {
    .name = "Size",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = shape_scalar_output,
};
const OpRegistration kOpPack = {
    .name = "Pack",
    .inputs = {"values: N * T"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 1", "T: type", "axis: int = 0"},
    .shape = ops_pack_shape,
};
const OpRegistration kOpConcatV2 = {
    .name = "ConcatV2",
    .inputs = {"values: N * T", "axis: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 2", "T: type", "Tidx: {int32, int64} = DT_INT32"},
    .shape = ops_concat_shape,
};
const OpRegistration kOpCast = {
    .name = "Cast",
    .inputs = {"x: SrcT"},
    .outputs = {"y: DstT"},
    .attrs = {"SrcT: type", "DstT: type"},
    .shape = shape_unchanged,
};
const OpRegistration kOpStridedSlice = {
    .name = "StridedSlice",
    .inputs = {"input: T", "begin: Index", "end: Index", "strides: Index"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int32, int64}", "begin_mask: int = 0", "end_mask: int = 0",
              "ellipsis_mask: int = 0", "new_axis_mask: int = 0", "shrink_axis_mask: int = 0"},
    .shape = ops_slice_shape,
};
const OpRegistration kOpVarHandleOp = {
    .name = "VarHandleOp",
    .outputs = {"resource: resource"},
    .attrs = {"dtype: type", "shape: shape"},
    .is_stateful = true,
    .shape = ops_handle_shape,
};
const OpRegistration kOpReadVariableOp = {
    .name = "ReadVariableOp",
    .inputs = {"resource: resource"},
    .outputs = {"value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = ops_read_shape,
};
const OpRegistration kOpMerge = {
    .name = "Merge",
    .inputs = {"inputs: N * T"},
    .outputs = {"output: T", "value_index: int32"},
    .attrs = {"T: type", "N: int >= 1"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpNextIteration = {
    .name = "NextIteration",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};
const OpRegistration kOpEnter = {
    .name = "Enter",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpExit = {
    .name = "Exit",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};
const OpRegistration kOpSwitch = {
    .name = "Switch",
    .inputs = {"data: T", "pred: bool"},
    .outputs = {"output_false: T", "output_true: T"},
    .attrs = {"T: type"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpLoopCond = {
    .name = "LoopCond",
    .inputs = {"input: bool"},
    .outputs = {"output: bool"},
    .shape = shape_unchanged,
};
const OpRegistration kOpWhile = {
    .name = "While",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: list(type) >= 0"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpLess = {
    .name = "Less",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_broadcast_binary,
};
const OpRegistration kOpTranspose = {
    .name = "Transpose",
    .inputs = {"x: T", "perm: Tperm"},
    .outputs = {"y: T"},
    .attrs = {"T: type", "Tperm: {int32, int64} = DT_INT32"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpBatchNormWithGlobalNormalization = {
    .name = "BatchNormWithGlobalNormalization",
    .inputs = {"t: T", "m: T", "v: T", "beta: T", "gamma: T"},
    .outputs = {"result: T"},
    .attrs = {"T: numbertype", "variance_epsilon: float", "scale_after_normalization: bool"},
    .shape = shape_unknown_outputs,
    .deprecated_version = 9,
    .deprecation_explanation = "Use tf.nn.batch_normalization()",
};
const OpRegistration kOpTestParams = {
    .name = "TestParams",
    .outputs = {"o: float"},
    .shape = shape_scalar_output,
};
const OpRegistration kOpTestInput = {
    .name = "TestInput",
    .outputs = {"a: float", "b: float"},
    .shape = shape_scalar_output,
};
const OpRegistration kOpTestMul = {
    .name = "TestMul",
    .inputs = {"a: float", "b: float"},
    .outputs = {"o: float"},
    .shape = shape_scalar_output,
};
const OpRegistration kOpTestInt = {
    .name = "TestInt",
    .inputs = {"a: int32"},
};
const OpRegistration kOpTestOneInputTwoOutputs = {
    .name = "TestOneInputTwoOutputs",
    .inputs = {"x: float"},
    .outputs = {"y: float", "z: float"},
    .shape = shape_scalar_output,
};
const OpRegistration kOpTestVariadicOutput = {
    .name = "TestVariadicOutput",
    .outputs = {"outputs: N * int32"},
    .attrs = {"N: int >= 0"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpTestRef = {
    .name = "TestRef",
    .outputs = {"r: Ref(float)"},
    .shape = shape_unknown_outputs,
};
const OpRegistration kOpTestTakesRef = {
    .name = "TestTakesRef",
    .inputs = {"r: Ref(float)"},
};
const OpRegistration kOpABC = {
    .name = "ABC",

};

#define ROW(Name) \
  { #Name, &kOp##Name }
static const OpTableRow kTestOps[] = {ROW(Const),
                                      ROW(Placeholder),
                                      ROW(Identity),
                                      ROW(NoOp),
                                      ROW(MatMul),
                                      ROW(Add),
                                      ROW(Fails),
                                      ROW(TestMergeShapes),
                                      ROW(TestFill),
                                      ROW(TestChecked),
                                      ROW(Shape),
                                      ROW(Rank),
                                      ROW(Size),
                                      ROW(Pack),
                                      ROW(ConcatV2),
                                      ROW(Cast),
                                      ROW(StridedSlice),
                                      ROW(VarHandleOp),
                                      ROW(ReadVariableOp),
                                      ROW(Merge),
                                      ROW(NextIteration),
                                      ROW(Enter),
                                      ROW(Exit),
                                      ROW(Switch),
                                      ROW(LoopCond),
                                      ROW(While),
                                      ROW(Less),
                                      ROW(Transpose),
                                      ROW(BatchNormWithGlobalNormalization),
                                      ROW(TestParams),
                                      ROW(TestInput),
                                      ROW(TestMul),
                                      ROW(TestInt),
                                      ROW(TestOneInputTwoOutputs),
                                      ROW(TestVariadicOutput),
                                      ROW(TestRef),
                                      ROW(TestTakesRef),
                                      ROW(ABC)};
#undef ROW
enum { NUM_TEST_OPS = sizeof kTestOps / sizeof *kTestOps };

BEFORE_EACH() {
  Status status;
  status_init(&status);
  ops_add_runs = 0;
  CHECK_OK(op_registry_add_table(op_registry_global(), kTestOps, NUM_TEST_OPS, &status), status);
}

AFTER_EACH() { op_registry_clear(op_registry_global()); }

/* --- helpers --- */

Node *ops_add(Graph *graph, const char *text, const char *inputs, Status *status) {
  Arena *arena = arena_new();
  void *def = NULL;
  Node *node = NULL, *controls[16];
  NodeOutput data[16];
  int num_data = 0, num_controls = 0;
  if (!CHECK_OK(proto_parse_text(kNodeDef, str_of(text), arena, &def, status), status)) inputs = "";
  char *list = arena_strdup(arena, inputs);
  for (char *name = strtok(list, " "); name; name = strtok(NULL, " ")) {
    if (name[0] == '^') {
      controls[num_controls++] = graph_find_node(graph, name + 1);
    } else if (strcmp(name, "-") == 0) {
      data[num_data++] = (NodeOutput){NULL, 0};
    } else {
      /* Not graph_find_output, which would refuse a wrong index. */
      Str node_name;
      int index = 0;
      CHECK(node_parse_input(name, &node_name, &index));
      char *plain = arena_strndup(arena, node_name.data, node_name.length);
      data[num_data++] = (NodeOutput){graph_find_node(graph, plain), index};
    }
  }
  if (def && !graph_add_operation(graph, def, data, num_data, controls, num_controls, &node, status))
    node = NULL;
  arena_free(arena);
  return node;
}

bool ops_import(Graph *graph, const char *text, const ImportOptions *options, Arena *arena,
                ImportResults *results, Status *status) {
  void *def = NULL;
  Arena *own = arena_new();
  StrBuf bytes = {0};
  bool ok = CHECK_OK(proto_parse_text(kGraphDef, str_of(text), own, &def, status), status) &&
            proto_serialize(def, &bytes, status) &&
            graph_import_bytes(graph, bytes.data ? bytes.data : "", (size_t)bytes.length, options, arena,
                               results, status);
  strbuf_free(&bytes);
  arena_free(own);
  return ok;
}

void ops_shape_text(Graph *graph, const char *output, char text[64]) {
  Status status;
  status_init(&status);
  NodeOutput found;
  text[0] = '\0';
  if (!CHECK_OK(graph_find_output(graph, output, &found, &status), status)) return;
  StrBuf out = {0};
  shape_handle_print(graph_output_shape(found), &out);
  snprintf(text, 64, "%s", strbuf_text(&out));
  strbuf_free(&out);
}

bool ops_has_edge(const Graph *graph, const Node *src, int output, const Node *dst, int input) {
  if (!src || !dst) return false;
  if (src->id == SOURCE_ID || dst->id == SINK_ID) {
    const Edge *edge = src->id == SOURCE_ID ? dst->source_edge : src->sink_edge;
    return edge && edge->src == src && edge->dst == dst && output == CONTROL_SLOT && input == CONTROL_SLOT &&
           edge->src->graph == graph;
  }
  for (int64_t i = 0; i < src->num_out_edges; i++) {
    const Edge *edge = src->out_edges[i];
    if (edge->dst == dst && edge->src_output == output && edge->dst_input == input) return true;
  }
  return false;
}

char *ops_export_text(const Graph *graph, Arena *arena) {
  Status status;
  status_init(&status);
  GraphDef *def;
  StrBuf out = {0};
  if (CHECK_OK(graph_to_def(graph, arena, &def, &status), status))
    proto_print_text(def, PROTO_TEXT_SHORT, &out);
  char *text = arena_strdup(arena, strbuf_text(&out));
  strbuf_free(&out);
  return text;
}

void ops_check_whole(const Graph *graph) {
  int64_t nodes = 0, edges = 0, out_edges = 0, special = 0;
  for (int64_t id = 0; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (!node) continue;
    nodes++;
    CHECK(node->graph == graph);
    CHECK_INT_EQ(node->id, id);
    if (id > SINK_ID) {
      const Node *named = graph_find_node(graph, node->name);
      CHECK(named && strcmp(named->name, node->name) == 0 && named->id <= node->id);
    }
    const Edge *from = node->source_edge, *to = node->sink_edge;
    if (from) CHECK(from->src == graph_node(graph, SOURCE_ID) && from->dst == node && edge_is_control(from));
    if (to) CHECK(to->dst == graph_node(graph, SINK_ID) && to->src == node && edge_is_control(to));
    if (id <= SINK_ID) CHECK(node->num_out_edges == 0 && node->num_control_inputs == 0);
    special += (from != NULL) + (to && id != SOURCE_ID); /* the one between them is counted once */
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (!edge) continue;
      edges++;
      CHECK(edge->dst == node && edge->dst_input == i);
      CHECK(ops_has_edge(graph, edge->src, edge->src_output, node, i));
    }
    for (int64_t i = 0; i < node->num_control_inputs; i++) {
      const Edge *edge = node->control_inputs[i];
      edges++;
      CHECK(edge->dst == node && edge_is_control(edge) && edge->dst_input == CONTROL_SLOT);
      CHECK(ops_has_edge(graph, edge->src, CONTROL_SLOT, node, CONTROL_SLOT));
    }
    for (int i = 0; i < node->num_outputs; i++) CHECK(node->output_shapes[i]);
    for (int32_t i = 0; i < node->num_out_edges; i++)
      CHECK(node->out_edges[i]->src == node && node->out_edges[i]->place == i);
    out_edges += node->num_out_edges;
  }
  CHECK_INT_EQ(nodes, graph_num_nodes(graph));
  CHECK_INT_EQ(edges + special, graph_num_edges(graph));
  CHECK_INT_EQ(out_edges + special, graph_num_edges(graph));
}
