/* Shapes through function calls. The ops belong to a separate registry, with the shape functions that matter
 * here. */
#include "function/function_body.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "harness.h"

/* --- ops --- */

static bool const_shape(InferenceContext *c, Status *status) {
  const TensorProto *value;
  TRY(node_attr_tensor(c->node, "value", &value, status));
  const TensorShapeProto scalar = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  return shape_from_shape_proto(c, value->tensor_shape ? value->tensor_shape : &scalar, &c->outputs[0],
                                status);
}

static bool reshape_shape(InferenceContext *c, Status *status) {
  return shape_from_input_tensor(c, 1, &c->outputs[0], status);
}

static bool merge_shape(InferenceContext *c, Status *status) {
  return shape_merge(c, c->inputs[0], c->inputs[1], &c->outputs[0], status);
}

static bool pack_shape(InferenceContext *c, Status *status) {
  return shape_ok(shape_vector(c, dim_make(c, c->num_inputs)), &c->outputs[0], status);
}

static bool shape_shape(InferenceContext *c, Status *status) {
  ShapeHandle in = c->inputs[0];
  DimHandle rank = shape_rank_known(in) ? dim_make(c, shape_rank(in)) : dim_unknown(c);
  return shape_ok(shape_vector(c, rank), &c->outputs[0], status);
}

/* A vector of an unknown length, twice. */
static bool unique_shape(InferenceContext *c, Status *status) {
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &c->outputs[0], status));
  c->outputs[1] = c->outputs[0];
  return true;
}

static bool handle_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeAndType entry;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  TRY(node_attr_type(c->node, "dtype", &entry.dtype, status));
  TRY(shape_from_shape_proto(c, proto, &entry.shape, status));
  TRY(shape_set_output_handle(c, 0, &entry, 1, status));
  return shape_scalar_output(c, status);
}

static bool read_shape(InferenceContext *c, Status *status) {
  const HandleData *data = c->input_handles[0];
  if (!data) return shape_unknown_outputs(c, status);
  c->outputs[0] = data->entries[0].shape;
  return true;
}

/* The value of the previous iteration. */
static bool second_input_shape(InferenceContext *c, Status *status) {
  c->outputs[0] = c->inputs[1];
  return shape_ok(shape_scalar(c), &c->outputs[1], status);
}

static int identity_runs;

static bool counted_identity(InferenceContext *c, Status *status) {
  identity_runs++;
  return shape_unchanged(c, status);
}

static bool add_i32(KernelContext *c, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output(c, 0, &c->inputs[0]->shape, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(out); i++)
    tensor_i32(out)[i] = tensor_i32(c->inputs[0])[i] + tensor_i32(c->inputs[1])[i];
  return true;
}

static const OpRegistration kOpConst = {
    .name = "Const",
    .outputs = {"output: dtype"},
    .attrs = {"value: tensor", "dtype: type"},
    .shape = const_shape,
};
static const OpRegistration kOpPlaceholder = {
    .name = "Placeholder",
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape = { unknown_rank: true }"},
    .shape = shape_explicit,
};
static const OpRegistration kOpIdentity = {
    .name = "Identity",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = counted_identity,
};
static const OpRegistration kOpMatMul = {
    .name = "MatMul",
    .inputs = {"a: T", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false", "T: type"},
    .shape = shape_matmul,
};
static const OpRegistration kOpMerged = {
    .name = "Merged",
    .inputs = {"a: T", "b: T"},
    .outputs = {"c: T"},
    .attrs = {"T: type"},
    .shape = merge_shape,
};
static const OpRegistration kOpAdd = {
    .name = "Add",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: type"},
    .shape = shape_broadcast_binary,
    .kernels = {{DT_INT32, add_i32}},
};
static const OpRegistration kOpReshape = {
    .name = "Reshape",
    .inputs = {"tensor: T", "shape: int32"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = reshape_shape,
};
static const OpRegistration kOpPack = {
    .name = "Pack",
    .inputs = {"values: N * T"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 1", "T: type", "axis: int = 0"},
    .shape = pack_shape,
};
static const OpRegistration kOpShape = {
    .name = "Shape",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", "out_type: {int32, int64} = DT_INT32"},
    .shape = shape_shape,
};
static const OpRegistration kOpUnique = {
    .name = "Unique",
    .inputs = {"x: T"},
    .outputs = {"y: T", "idx: int32"},
    .attrs = {"T: type"},
    .shape = unique_shape,
};
static const OpRegistration kOpVarHandleOp = {
    .name = "VarHandleOp",
    .outputs = {"resource: resource"},
    .attrs = {"dtype: type", "shape: shape"},
    .is_stateful = true,
    .shape = handle_shape,
};
static const OpRegistration kOpReadVariableOp = {
    .name = "ReadVariableOp",
    .inputs = {"resource: resource"},
    .outputs = {"value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = read_shape,
};
static const OpRegistration kOpMerge = {
    .name = "Merge",
    .inputs = {"inputs: N * T"},
    .outputs = {"output: T", "value_index: int32"},
    .attrs = {"T: type", "N: int >= 1"},
    .shape = second_input_shape,
};
static const OpRegistration kOpNextIteration = {
    .name = "NextIteration",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
};
static const OpRegistration kOp_Arg = {
    .name = "_Arg",
    .outputs = {"output: T"},
    .attrs = {"T: type", "index: int >= 0"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
};
static const OpRegistration kOp_Retval = {
    .name = "_Retval",
    .inputs = {"input: T"},
    .attrs = {"T: type", "index: int >= 0"},
    .is_stateful = true,
    .shape = shape_no_outputs,
};
static const OpRegistration kOpNameless = {
    .name = "Nameless",
    .inputs = {"x: float"},
    .outputs = {"y: float"},
};
static const OpRegistration kOpPartitionedCall = {
    .name = "PartitionedCall",
    .inputs = {"args: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func"},
    .shape = shape_unknown_outputs,
};

#define ROW(Name) \
  { #Name, &kOp##Name }
static const OpTableRow kOps[] = {ROW(Const),    ROW(Placeholder), ROW(Identity),      ROW(MatMul),
                                  ROW(Merged),   ROW(Add),         ROW(Reshape),       ROW(Pack),
                                  ROW(Shape),    ROW(Unique),      ROW(VarHandleOp),   ROW(ReadVariableOp),
                                  ROW(Nameless), ROW(Merge),       ROW(NextIteration), ROW(PartitionedCall),
                                  ROW(_Arg),     ROW(_Retval)};
#undef ROW

/* --- a graph with functions --- */

typedef struct World {
  OpRegistry *ops;
  Graph *graph;
  Arena *arena;
  Status status;
} World;

static bool open_world(World *world, const char *functions) {
  identity_runs = 0;
  status_init(&world->status);
  world->ops = op_registry_new();
  world->arena = arena_new();
  world->graph = world->ops ? graph_new_with_ops(world->ops) : NULL;
  FunctionDefLibrary *library;
  if (!CHECK(world->graph && world->arena)) return false;
  graph_set_function_shapes(world->graph, function_body_new_without_shapes);
  return CHECK_OK(op_registry_add_table(world->ops, kOps, sizeof kOps / sizeof kOps[0], &world->status),
                  &world->status) &&
         CHECK_OK(function_parse_library(str_of(functions), world->arena, &library, &world->status),
                  &world->status) &&
         CHECK_OK(graph_add_function_library(world->graph, library, &world->status), &world->status);
}

static void close_world(World *world) {
  graph_free(world->graph);
  op_registry_free(world->ops);
  arena_free(world->arena);
}

/* Adds a node of function text; NULL when it was refused. */
static Node *try_add(World *world, const char *line, int num_inputs, const NodeOutput *inputs) {
  char text[512];
  FunctionDef *function;
  Node *node = NULL;
  status_init(&world->status);
  snprintf(text, sizeof text, "F() -> () { %s }", line);
  if (!CHECK_OK(function_parse(str_of(text), world->arena, &function, &world->status), &world->status))
    return NULL;
  return graph_add_operation(world->graph, function->node_def[0], inputs, num_inputs, NULL, 0, &node,
                             &world->status)
             ? node
             : NULL;
}

static NodeOutput add(World *world, const char *line, int num_inputs, const NodeOutput *inputs) {
  NodeOutput output = {try_add(world, line, num_inputs, inputs), 0};
  CHECK_STR_EQ(world->status.message, "");
  return output;
}

static void check_shape(NodeOutput output, const char *want) {
  if (!CHECK(output.node)) return;
  StrBuf text = {0};
  shape_handle_print(graph_output_shape(output), &text);
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
}

static DimHandle dim_at(NodeOutput output, int i) {
  ShapeHandle shape = output.node ? graph_output_shape(output) : NULL;
  return shape && i < shape_rank(shape) ? shape->dims[i] : NULL;
}

#define INPUTS(...) \
  (sizeof((NodeOutput[]){__VA_ARGS__}) / sizeof(NodeOutput)), (NodeOutput[]) { __VA_ARGS__ }

#define FUNCTIONS                                                                                   \
  "Product(a:float, b:float) -> (c:float) {\n"                                                      \
  "  m = MatMul[T=float](a, b)\n  return c = m:product:0\n}\n"                                      \
  "Same[T:type](x:T) -> (y:T) {\n  i = Identity[T=$T](x)\n  return y = i:output:0\n}\n"             \
  "Fold(x:float) -> (y:float) {\n"                                                                  \
  "  s = Const[dtype=int32, value=[2, -1]]()\n"                                                     \
  "  r = Reshape[T=float](x, s:output:0)\n  return y = r:output:0\n}\n"                             \
  "To(x:float, s:int32) -> (y:float) {\n  r = Reshape[T=float](x, s)\n  return y = r:output:0\n}\n" \
  "ToTwice(x:float, s:int32) -> (y:float) {\n"                                                      \
  "  t = Add[T=int32](s, s)\n  r = To(x, t:z:0)\n  return y = r:y:0\n}\n"                           \
  "Thrice(a:float, b:float) -> (y:float) {\n"                                                       \
  "  p = Product(a, b)\n  q = Product(p:c:0, b)\n  r = Product(q:c:0, b)\n  return y = r:c:0\n}\n"  \
  "Read(h:resource) -> (y:float, g:resource) {\n"                                                   \
  "  r = ReadVariableOp[dtype=float](h)\n  return y = r:value:0\n  return g = h\n}\n"               \
  "Make() -> (h:resource) {\n"                                                                      \
  "  v = VarHandleOp[dtype=float, shape=Shape<[?,4]>]()\n  return h = v:resource:0\n}\n"            \
  "Unlike(x:float) -> (y:float, idx:int32, z:float) {\n"                                            \
  "  u = Unique[T=float](x)\n  w = Unique[T=float](x)\n"                                            \
  "  return y = u:y:0\n  return idx = u:idx:0\n  return z = w:y:0\n}\n"                             \
  "Loop(x:float) -> (y:float, z:float) {\n"                                                         \
  "  m = Merge[T=float, N=2](x, n:output:0)\n  u = Unique[T=float](m:output:0)\n"                   \
  "  n = NextIteration[T=float](u:y:0)\n  return y = m:output:0\n  return z = u:y:0\n}\n"           \
  "Endless(x:float) -> (y:float) {\n  e = Endless(x)\n  return y = e:y:0\n}\n"                      \
  "Ping(x:float) -> (y:float) {\n  p = Pong(x)\n  return y = p:y:0\n}\n"                            \
  "Pong(x:float) -> (y:float) {\n  p = Ping(x)\n  return y = p:y:0\n}\n"                            \
  "Lost(x:float) -> (y:float) {\n  p = Nowhere(x)\n  return y = p:y:0\n}\n"                         \
  "Bare(x:float) -> (y:float) {\n  n = Nameless(x)\n  return y = n:y:0\n}\n"

#define PLACEHOLDER(name, shape) name " = Placeholder[dtype=float, shape=Shape<" shape ">]()"

TEST(dimensions_pass_through_a_body) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput a = add(&w, PLACEHOLDER("a", "[?,3]"), 0, NULL), b = add(&w, PLACEHOLDER("b", "[3,?]"), 0, NULL);
  NodeOutput p = add(&w, "p = Product()", INPUTS(a, b)), q = add(&w, "q = Product()", INPUTS(a, b));
  check_shape(p, "[?,?]");
  CHECK(dim_at(p, 0) == dim_at(a, 0) && dim_at(p, 1) == dim_at(b, 1));
  CHECK(dim_at(q, 0) == dim_at(p, 0) && dim_at(q, 1) == dim_at(p, 1));
  NodeOutput same = add(&w, "s = Same[T=float]()", INPUTS(a));
  CHECK(same.node && graph_output_shape(same) == graph_output_shape(a));
  close_world(&w);
}

TEST(dimensions_that_a_body_makes_are_new_for_every_call) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[9]"), 0, NULL);
  NodeOutput u = add(&w, "u = Unlike()", INPUTS(x)), v = add(&w, "v = Unlike()", INPUTS(x));
  NodeOutput idx = {u.node, 1}, z = {u.node, 2};
  check_shape(u, "[?]");
  CHECK(dim_at(u, 0) == dim_at(idx, 0)); /* a dimension inside equals one outside */
  CHECK(dim_at(u, 0) != dim_at(z, 0));
  CHECK(dim_at(u, 0) != dim_at(v, 0));
  CHECK(try_add(&w, "m = Merged[T=float]()", INPUTS(u, z)));
  close_world(&w);
}

TEST(bodies_know_constants) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[?,6]"), 0, NULL);
  check_shape(add(&w, "f = Fold()", INPUTS(x)), "[2,?]");
  NodeOutput s = add(&w, "s = Const[dtype=int32, value=[3, 5]]()", 0, NULL);
  check_shape(add(&w, "t = To()", INPUTS(x, s)), "[3,5]");
  /* Through two bodies, with a computation on the way. */
  check_shape(add(&w, "u = ToTwice()", INPUTS(x, s)), "[6,10]");
  NodeOutput s2 = add(&w, "s2 = Const[dtype=int32, value=[7]]()", 0, NULL);
  check_shape(add(&w, "t2 = To()", INPUTS(x, s2)), "[7]");
  check_shape(add(&w, "u2 = ToTwice()", INPUTS(x, s2)), "[14]");
  /* Unknown values, with a known number. */
  NodeOutput n = add(&w, "n = Placeholder[dtype=int32, shape=Shape<[2]>]()", 0, NULL);
  check_shape(add(&w, "t3 = To()", INPUTS(x, n)), "[?,?]");
  close_world(&w);
}

TEST(arguments_are_known_in_part) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[?,6]"), 0, NULL);
  NodeOutput s = add(&w, "s = Shape[T=float]()", INPUTS(x));
  NodeOutput t = add(&w, "t = To()", INPUTS(x, s));
  check_shape(t, "[?,6]");
  CHECK(dim_at(t, 0) == dim_at(x, 0));
  close_world(&w);
}

TEST(bodies_of_bodies) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput a = add(&w, PLACEHOLDER("a", "[?,3]"), 0, NULL), b = add(&w, PLACEHOLDER("b", "[3,3]"), 0, NULL);
  NodeOutput t = add(&w, "t = Thrice()", INPUTS(a, b));
  check_shape(t, "[?,3]");
  CHECK(dim_at(t, 0) == dim_at(a, 0));
  close_world(&w);
}

TEST(handle_data_passes_in_and_out) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput v = add(&w, "v = VarHandleOp[dtype=float, shape=Shape<[?,8]>]()", 0, NULL);
  NodeOutput r = add(&w, "r = Read()", INPUTS(v)), g = {r.node, 1};
  check_shape(r, "[?,8]");
  NodeOutput outside = add(&w, "o = ReadVariableOp[dtype=float]()", INPUTS(g));
  CHECK(dim_at(outside, 0) == dim_at(r, 0));
  /* Handle data that the body made outlives it. */
  NodeOutput m = add(&w, "m = Make()", 0, NULL), n = add(&w, "n = Make()", 0, NULL);
  NodeOutput first = add(&w, "first = ReadVariableOp[dtype=float]()", INPUTS(m));
  NodeOutput second = add(&w, "second = Read()", INPUTS(m));
  check_shape(first, "[?,4]");
  CHECK(dim_at(first, 0) == dim_at(second, 0));
  NodeOutput other = add(&w, "other = Read()", INPUTS(n));
  CHECK(dim_at(first, 0) != dim_at(other, 0));
  close_world(&w);
}

TEST(attrs_make_bodies_of_their_own) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[2]"), 0, NULL);
  NodeOutput n = add(&w, "n = Placeholder[dtype=int32, shape=Shape<[5]>]()", 0, NULL);
  check_shape(add(&w, "a = Same[T=float]()", INPUTS(x)), "[2]");
  check_shape(add(&w, "b = Same[T=int32]()", INPUTS(n)), "[5]");
  /* Attrs that the function does not declare are ignored. */
  check_shape(add(&w, "c = Same[T=int32, _other=3]()", INPUTS(n)), "[5]");
  CHECK_INT_EQ(identity_runs, 3);
  close_world(&w);
}

TEST(a_function_that_is_replaced_has_another_body) {
  World w;
  Status status;
  status_init(&status);
  REQUIRE(open_world(&w, FUNCTIONS));
  Arena *arena = arena_new();
  FunctionDef *function = NULL;
  FunctionLibraryDefinition *library = graph_function_library(w.graph);
  NodeOutput x = add(&w, PLACEHOLDER("x", "[2,3]"), 0, NULL);
  check_shape(add(&w, "a = Fold()", INPUTS(x)), "[2,?]");
  int64_t changes = graph_mutation_count(w.graph);
  REQUIRE_OK(function_parse(str_of("Fold(x:float) -> (y:float) {\n  s = Const[dtype=int32, value=[3, -1]]()\n"
                                   "  r = Reshape[T=float](x, s:output:0)\n  return y = r:output:0\n}\n"),
                            arena, &function, &status),
             &status);
  CHECK_OK(function_library_replace_function(library, "Fold", function, &status), &status);
  CHECK(graph_mutation_count(w.graph) > changes);
  check_shape(add(&w, "b = Fold()", INPUTS(x)), "[3,?]");
  arena_free(arena);
  close_world(&w);
}

/* The result of a back edge in one call must not affect the next call. */
TEST(loops_in_bodies_begin_anew) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[2]"), 0, NULL);
  for (int i = 0; i < 3; i++) {
    char line[32];
    snprintf(line, sizeof line, "l%d = Loop()", i);
    NodeOutput loop = add(&w, line, INPUTS(x));
    check_shape(loop, "?");
    check_shape((NodeOutput){loop.node, 1}, "[?]");
  }
  close_world(&w);
}

TEST(partitioned_calls) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[?,2]"), 0, NULL);
  NodeOutput p = add(&w, "p = PartitionedCall[Tin={float}, Tout={float}, f=Same[T=float]]()", INPUTS(x));
  check_shape(p, "[?,2]");
  CHECK(dim_at(p, 0) == dim_at(x, 0));
  check_shape(add(&w, "q = PartitionedCall[Tin={float}, Tout={float}, f=Unheard]()", INPUTS(x)), "?");
  CHECK(!try_add(&w, "e = PartitionedCall[Tin={float}, Tout={float}, f=Product]()", INPUTS(x)));
  CHECK_INT_EQ(w.status.code, CODE_INTERNAL);
  CHECK_STR_CONTAINS(w.status.message,
                     "Function instantiation included invalid input index: 1 not in [0, 1).");
  CHECK(!try_add(&w, "e = PartitionedCall[Tin={float}, Tout={float}, f=Unlike]()", INPUTS(x)));
  CHECK_STR_CONTAINS(w.status.message,
                     "Function instantiation included invalid output index: 1 not in [0, 1).");
  close_world(&w);
}

TEST(bodies_are_left_alone_when_told_so) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[2]"), 0, NULL);
  check_shape(add(&w, "a = Same[T=float, _disable_call_shape_inference=true]()", INPUTS(x)), "?");
  check_shape(add(&w, "b = Same[T=float, _disable_call_shape_inference=false]()", INPUTS(x)), "[2]");
  graph_set_function_shapes(w.graph, NULL);
  check_shape(add(&w, "c = Same[T=float]()", INPUTS(x)), "?");
  close_world(&w);
}

/* --- errors --- */

TEST(functions_that_call_themselves_are_refused) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[2]"), 0, NULL);
  CHECK(!try_add(&w, "e = Endless()", INPUTS(x)));
  CHECK_INT_EQ(w.status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_CONTAINS(w.status.message, "Function 'Endless' calls itself");
  CHECK(!try_add(&w, "p = Ping()", INPUTS(x)));
  CHECK_STR_CONTAINS(w.status.message, "Function 'Ping' calls itself");
  CHECK_STR_CONTAINS(w.status.message, "In the body of function 'Pong' called by node 'p'");
  check_shape(add(&w, "s = Same[T=float]()", INPUTS(x)), "[2]");
  close_world(&w);
}

TEST(errors_of_bodies_have_their_context) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  NodeOutput a = add(&w, PLACEHOLDER("a", "[2,3]"), 0, NULL), b = add(&w, PLACEHOLDER("b", "[4,5]"), 0, NULL);
  int64_t before = arena_bytes(graph_arena(w.graph));
  CHECK(!try_add(&w, "call = Thrice()", INPUTS(a, b)));
  CHECK_INT_EQ(w.status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_CONTAINS(w.status.message, "Dimensions must be equal, but are 3 and 4 for ");
  CHECK_STR_CONTAINS(w.status.message, "node m}} = MatMul[");
  CHECK_STR_CONTAINS(w.status.message, "with input shapes: [2,3], [4,5].");
  CHECK_STR_CONTAINS(w.status.message, "In the body of function 'Product' called by node 'p'");
  CHECK_STR_CONTAINS(w.status.message, "In the body of function 'Thrice' called by node 'call'");
  CHECK_INT_EQ(arena_bytes(graph_arena(w.graph)), before);
  CHECK(!try_add(&w, "lost = Lost()", INPUTS(a)));
  CHECK_INT_EQ(w.status.code, CODE_NOT_FOUND);
  CHECK_STR_CONTAINS(w.status.message, "Nowhere");
  CHECK_STR_CONTAINS(w.status.message, "In the body of function 'Lost' called by node 'lost'");
  check_shape(add(&w, "bare = Bare()", INPUTS(a)), "?");
  close_world(&w);
}

TEST(bodies_may_require_shape_functions_as_well) {
  World w;
  REQUIRE(open_world(&w, FUNCTIONS));
  graph_require_shape_fns(w.graph, true);
  NodeOutput a = add(&w, PLACEHOLDER("a", "[2,3]"), 0, NULL);
  CHECK(!try_add(&w, "bare = Bare()", INPUTS(a)));
  CHECK_STR_CONTAINS(w.status.message,
                     "No shape inference function exists for op 'Nameless', did you forget to define it?");
  close_world(&w);
}

/* --- limits --- */

/* F0 calls F1, which calls F2, and so on: `calls` times each. */
static void chain_of_functions(int length, int calls, StrBuf *text) {
  for (int i = 0; i < length; i++) {
    strbuf_printf(text, "F%d(x:float) -> (y:float) {\n  c0 = F%d(x)\n", i, i + 1);
    for (int j = 1; j < calls; j++) strbuf_printf(text, "  c%d = F%d(c%d:y:0)\n", j, i + 1, j - 1);
    strbuf_printf(text, "  return y = c%d:y:0\n}\n", calls - 1);
  }
  strbuf_printf(text, "F%d(x:float) -> (y:float) {\n  return y = x\n}\n", length);
}

TEST(deep_and_wide_calls_end) {
  static const struct {
    int length, calls;
    const char *shape;
  } kCases[] = {{20, 1, "[2]"}, {500, 1, "?"}, {5, 3, "[2]"}, {40, 2, "?"}};
  for (int i = 0; i < 4; i++) {
    CHECK_CONTEXT("%d functions deep, %d calls each", kCases[i].length, kCases[i].calls);
    StrBuf text = {0};
    World w;
    chain_of_functions(kCases[i].length, kCases[i].calls, &text);
    REQUIRE(open_world(&w, strbuf_text(&text)));
    NodeOutput x = add(&w, PLACEHOLDER("x", "[2]"), 0, NULL);
    check_shape(add(&w, "f = F0()", INPUTS(x)), kCases[i].shape);
    close_world(&w);
    strbuf_free(&text);
  }
}

/* Temporary memory of a call is released: only its results stay. */
TEST(calls_leave_little_behind) {
  World w;
  StrBuf text = {0};
  strbuf_append(&text, "Long(x:float) -> (y:float) {\n  n0 = Unique[T=float](x)\n");
  for (int i = 1; i < 2000; i++) strbuf_printf(&text, "  n%d = Unique[T=float](n%d:y:0)\n", i, i - 1);
  strbuf_append(&text, "  return y = n1999:y:0\n}\n");
  REQUIRE(open_world(&w, strbuf_text(&text)));
  NodeOutput x = add(&w, PLACEHOLDER("x", "[2]"), 0, NULL);
  int64_t before = arena_bytes(graph_arena(w.graph));
  for (int i = 0; i < 50; i++) {
    char line[32];
    snprintf(line, sizeof line, "c%d = Long()", i);
    check_shape(add(&w, line, INPUTS(x)), "[?]");
  }
  CHECK(arena_bytes(graph_arena(w.graph)) - before < 100000);
  strbuf_free(&text);
  close_world(&w);
}

TEST(calls_survive_lack_of_memory) {
  bool ok = false;
  for (int64_t after = 0; !ok && after < 5000; after++) {
    World w;
    REQUIRE(open_world(&w, FUNCTIONS));
    NodeOutput x = add(&w, PLACEHOLDER("x", "[?,6]"), 0, NULL);
    NodeOutput s = add(&w, "s = Const[dtype=int32, value=[3, 5]]()", 0, NULL);
    NodeOutput inputs[] = {x, s};
    FunctionDef *function;
    Node *node;
    REQUIRE_OK(function_parse(str_of("F() -> () { u = ToTwice() }"), w.arena, &function, &w.status),
               &w.status);
    int64_t bytes = arena_bytes(graph_arena(w.graph));
    mem_fail_after(after);
    ok = graph_add_operation(w.graph, function->node_def[0], inputs, 2, NULL, 0, &node, &w.status);
    mem_fail_after(-1);
    if (!ok) {
      CHECK_INT_EQ(w.status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(arena_bytes(graph_arena(w.graph)), bytes);
      status_init(&w.status);
      node = add(&w, "u = ToTwice()", 2, inputs).node;
    }
    check_shape((NodeOutput){node, 0}, "[6,10]");
    close_world(&w);
  }
  CHECK(ok);
}
