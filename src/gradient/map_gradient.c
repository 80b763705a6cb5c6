/* The gradient of MapAccumulateGrad. That op goes backwards through the rounds of a MapAccumulate. Here
 * the same computation is a For over tensor lists, which is differentiated like any loop. */
#include "gradient/body_work.h"

typedef struct Map {
  GradientLibrary *library;
  const NameAttrList *g;
  Status *status;
  DataType type;
  int num_theta;
} Map;

bool gradient_is_map(const Op *op) { return op->node_class == NODE_MAP_ACCUMULATE_GRAD; }

/* (theta, x, y, dy) -> (dtheta, dx, dy of the round before): one round. */
static bool add_g(Map *map, BodyWork *work, const NodeOutput *inputs, Node **node) {
  NodeBuilder b;
  body_work_node(&b, work, map->g->name, "g");
  /* All map entries have the same layout: a key and a value. */
  node_builder_copy_attrs(&b, (const AttrEntry *const *)map->g->attr, (int)map->g->n_attr);
  node_builder_inputs(&b, inputs, map->num_theta + 3);
  return node_builder_finish(&b, node, map->status);
}

/* (index, lists of x, y and dy, list of dx, dy so far, theta, dtheta so far) -> the same after the round. */
static bool define_round(Map *map, BodyWork *work, const char **name) {
  enum { LISTS = 4 };
  int k = map->num_theta, count = LISTS + 1 + 2 * k;
  NodeOutput *in = arena_calloc(work->arena, 1 + count, sizeof *in),
             *out = arena_calloc(work->arena, count, sizeof *out);
  NodeOutput *call = arena_calloc(work->arena, k + 3, sizeof *call), any;
  NodeOutput items[3];
  Node *g;
  if (!in || !out || !call) return status_oom(map->status, "the gradient of a function");
  TRY(body_work_placeholder(work, "round", DT_INT32, &in[0]));
  for (int i = 0; i < count; i++)
    TRY(body_work_placeholder(work, "x", i < LISTS ? DT_VARIANT : map->type, &in[1 + i]));
  TRY(body_work_int32(work, "any", -1, &any));
  for (int i = 0; i < 3; i++) TRY(body_work_pop(work, in[1 + i], any, map->type, &out[i], &items[i]));
  NodeOutput terms[2] = {items[2], in[1 + LISTS]};
  for (int i = 0; i < k; i++) call[i] = in[2 + LISTS + i];
  call[k] = items[0];
  call[k + 1] = items[1];
  TRY(body_work_op(work, "AddV2", terms, 2, &call[k + 2]));
  TRY(add_g(map, work, call, &g));
  if (g->num_outputs != k + 2)
    return status_invalid(map->status, "Function %s returned %d tensors. Expected: %d", map->g->name,
                          g->num_outputs, k + 2);
  TRY(body_work_push(work, in[LISTS], (NodeOutput){g, k}, &out[LISTS - 1]));
  out[LISTS] = (NodeOutput){g, k + 1};
  for (int i = 0; i < k; i++) {
    NodeOutput sum[2] = {in[2 + LISTS + k + i], {g, i}};
    out[LISTS + 1 + i] = call[i];
    TRY(body_work_op(work, "AddV2", sum, 2, &out[LISTS + 1 + k + i]));
  }
  return body_work_define(work, "MapAccumulateGrad_round", in, 1 + count, out, count, NULL, name);
}

/* A vector with one element. */
static bool add_vector(BodyWork *work, int value, NodeOutput *vector) {
  NodeOutput scalar;
  TRY(body_work_int32(work, "number", value, &scalar));
  NodeBuilder b;
  body_work_node(&b, work, "Pack", "vector");
  node_builder_type(&b, "T", DT_INT32);
  node_builder_int(&b, "N", 1);
  node_builder_input(&b, scalar);
  return body_work_finish(work, &b, vector);
}

/* The shape of the elements of x along the first dimension. */
static bool add_element_shape(BodyWork *work, NodeOutput x, NodeOutput *shape) {
  NodeOutput slice[3];
  TRY(body_work_op(work, "Shape", &x, 1, &slice[0]));
  TRY(add_vector(work, 1, &slice[1]));
  TRY(add_vector(work, -1, &slice[2]));
  NodeBuilder b;
  body_work_node(&b, work, "Slice", "element_shape");
  node_builder_type(&b, "T", DT_INT32);
  node_builder_type(&b, "Index", DT_INT32);
  node_builder_inputs(&b, slice, 3);
  return body_work_finish(work, &b, shape);
}

static bool add_list(BodyWork *work, NodeOutput tensor, NodeOutput any, NodeOutput *list) {
  NodeBuilder b;
  body_work_node(&b, work, "TensorListFromTensor", "list");
  node_builder_type(&b, "element_dtype", node_output_type(tensor));
  node_builder_type(&b, "shape_type", DT_INT32);
  node_builder_input(&b, tensor);
  node_builder_input(&b, any);
  return body_work_finish(work, &b, list);
}

/* u, followed by y without its last element: the start value of each round. */
static bool add_starts(BodyWork *work, NodeOutput u, NodeOutput y, NodeOutput any, DataType type,
                       NodeOutput *list) {
  NodeOutput zero, expand[2] = {u}, join[3], all, last;
  TRY(body_work_int32(work, "zero", 0, &zero));
  expand[1] = zero;
  TRY(body_work_op(work, "ExpandDims", expand, 2, &join[0]));
  join[1] = y;
  join[2] = zero;
  NodeBuilder b;
  body_work_node(&b, work, "ConcatV2", "starts");
  node_builder_type(&b, "T", type);
  node_builder_type(&b, "Tidx", DT_INT32);
  node_builder_int(&b, "N", 2);
  node_builder_inputs(&b, join, 3);
  TRY(body_work_finish(work, &b, &all));
  TRY(add_list(work, all, any, &all));
  return body_work_pop(work, all, any, type, list, &last);
}

/* Stacks the results of the rounds, in reverse order, into one tensor. */
static bool add_stack(BodyWork *work, NodeOutput list, NodeOutput x, DataType type, NodeOutput *out) {
  NodeOutput stack[2] = {list}, reverse[2];
  TRY(add_element_shape(work, x, &stack[1]));
  NodeBuilder b;
  body_work_node(&b, work, "TensorListStack", "stack");
  node_builder_type(&b, "element_dtype", type);
  node_builder_inputs(&b, stack, 2);
  TRY(body_work_finish(work, &b, &reverse[0]));
  TRY(add_vector(work, 0, &reverse[1]));
  return body_work_op(work, "ReverseV2", reverse, 2, out);
}

static bool build(Map *map, BodyWork *work, const char *round, FunctionDef **function) {
  int k = map->num_theta, n = 0;
  NodeOutput *args = arena_calloc(work->arena, k + 4, sizeof *args),
             *rets = arena_calloc(work->arena, k + 2, sizeof *rets);
  NodeOutput *in = arena_calloc(work->arena, 8 + 2 * k, sizeof *in), any;
  NodeBuilder length;
  Node *loop;
  if (!args || !rets || !in) return status_oom(map->status, "the gradient of a function");
  for (int i = 0; i < k + 4; i++) TRY(body_work_placeholder(work, "x", map->type, &args[i]));
  NodeOutput x = args[k], u = args[k + 1], y = args[k + 2], dy = args[k + 3];
  TRY(body_work_int32(work, "any", -1, &any));
  TRY(body_work_int32(work, "first", 0, &in[n++]));
  TRY(add_list(work, x, any, &in[3]));
  body_work_node(&length, work, "TensorListLength", "length");
  node_builder_input(&length, in[3]);
  TRY(body_work_finish(work, &length, &in[n++]));
  TRY(body_work_int32(work, "step", 1, &in[n++]));
  n++;
  TRY(add_starts(work, u, y, any, map->type, &in[n++]));
  TRY(add_list(work, dy, any, &in[n++]));
  TRY(body_work_empty_list(work, map->type, &in[n++]));
  TRY(body_work_zeros(work, u, DT_INVALID, &in[n++]));
  for (int i = 0; i < k; i++) in[n++] = args[i];
  for (int i = 0; i < k; i++) TRY(body_work_zeros(work, args[i], DT_INVALID, &in[n++]));
  TRY(body_work_for(work, "rounds", in, n, round, &loop));
  for (int i = 0; i < k; i++) rets[i] = (NodeOutput){loop, 5 + k + i};
  TRY(add_stack(work, (NodeOutput){loop, 3}, x, map->type, &rets[k]));
  rets[k + 1] = (NodeOutput){loop, 4};
  return body_work_function(work, "MapAccumulateGradLoop", args, k + 4, rets, k + 2, map->library->arena,
                            function);
}

bool map_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                  Status *status) {
  Map map = {.library = library, .status = status};
  int32_t k;
  const char *round;
  FunctionDef *function, *gradient;
  const bool *no_flow;
  BodyWork body = {0}, whole = {0};
  TRY(gradient_called(query->node, "g", &map.g, status));
  TRY(node_attr_type(query->node, "T", &map.type, status));
  TRY(node_attr_int32(query->node, "K", &k, status));
  map.num_theta = k;
  bool ok = body_work_new(&body, library, status) && define_round(&map, &body, &round);
  body_work_free(&body);
  ok = ok && body_work_new(&whole, library, status) && build(&map, &whole, round, &function);
  body_work_free(&whole);
  TRY(ok);
  TRY(gradient_of_function(library, function, NULL, 0, NULL, library->arena, &gradient, &no_flow, status));
  *entry = (GradientEntry){.function = gradient, .no_flow = no_flow};
  return true;
}
