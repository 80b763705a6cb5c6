/* Facts about running functions: instantiation, state, errors at run time, and which nodes run. */
#include "function/function_facts.h"

#include "runtime/function_fixture.h"

enum { MAX_HANDLES = 16 };

typedef struct Handles {
  const char *names[MAX_HANDLES];
  int64_t handles[MAX_HANDLES];
  int count;
} Handles;

static int64_t handle_of(const Handles *handles, const char *name) {
  for (int i = handles->count - 1; i >= 0; i--) {
    if (strcmp(handles->names[i], name) == 0) return handles->handles[i];
  }
  return -1;
}

static bool instantiate(Functions *f, const Json *step, Handles *handles, Arena *arena) {
  NodeDef attrs = TENSORFLOW__NODE_DEF__INIT;
  add_attrs(&attrs, json_get(step, "attrs"), arena);
  FunctionInstantiateOptions options = {.state_handle = fact_text(step, "state_handle")};
  int64_t handle;
  TRY(function_runtime_instantiate(f->runtime, fact_text(step, "name"), (const AttrEntry *const *)attrs.attr,
                                   (int)attrs.n_attr, &options, &handle, &f->status));
  const char *same = fact_text(step, "same_as"), *differs = fact_text(step, "differs_from");
  if (same) CHECK_INT_EQ(handle, handle_of(handles, same));
  if (differs) CHECK(handle != handle_of(handles, differs));
  const char *name = fact_text(step, "handle");
  handles->names[handles->count] = name ? name : fact_text(step, "name");
  handles->handles[handles->count++] = handle;
  return true;
}

/* The remaining nodes of the pruned body, without unused arguments. */
static void check_executed(Functions *f, int64_t handle, const Json *names) {
  const FunctionBody *body;
  FunctionBody *pruned;
  if (!CHECK_OK(function_runtime_body(f->runtime, handle, &body, &f->status), f->status)) return;
  if (!CHECK_OK(function_body_copy(body, &pruned, &f->status), f->status)) return;
  CHECK_OK(function_body_prune(pruned, &f->status), f->status);
  int executed = 1; /* the source */
  for (int64_t id = 0; id < graph_num_node_ids(pruned->graph); id++) {
    const Node *node = graph_node(pruned->graph, id);
    if (!node || !node->op || (strcmp(node->def->op, "_Arg") == 0 && node->num_out_edges == 0)) continue;
    bool listed = false;
    for (int i = 0; i < names->count; i++) listed |= strcmp(names->items[i].string, node->name) == 0;
    CHECK_CONTEXT("%s", node->name);
    CHECK(listed);
    executed++;
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(executed, names->count);
  function_body_free(pruned);
}

static void read_tensors(const Json *list, Tensor *tensors) {
  Status status;
  status_init(&status);
  for (int i = 0; i < list->count; i++) {
    const Json *shape = json_get(&list->items[i], "shape"), *values = json_get(&list->items[i], "values");
    int64_t dims[4];
    for (int d = 0; d < shape->count; d++) dims[d] = shape->items[d].integer;
    int dtype = dtype_from_name(str_of(fact_text(&list->items[i], "dtype")));
    CHECK_OK(tensor_allocate_dims(&tensors[i], (DataType)dtype, shape->count, dims, NULL, &status), status);
    for (int k = 0; k < values->count; k++) tensor_put(&tensors[i], k, values->items[k].number);
  }
}

static bool run(Functions *f, const Json *step, const Handles *handles) {
  Tensor args[FUNCTION_TENSORS] = {{0}}, rets[FUNCTION_TENSORS] = {{0}}, want[FUNCTION_TENSORS] = {{0}};
  const Tensor *pointers[FUNCTION_TENSORS];
  const Json *given = json_get(step, "args"), *expect = json_get(step, "expect"),
             *executed = json_get(step, "executed_nodes");
  const char *name = fact_text(step, "handle");
  int64_t handle = handle_of(handles, name ? name : fact_text(step, "name"));
  int num_rets = expect ? expect->count : 1;
  read_tensors(given, args);
  for (int i = 0; i < given->count; i++) pointers[i] = &args[i];
  bool ok =
      function_runtime_run(f->runtime, handle, NULL, pointers, given->count, rets, num_rets, &f->status);
  if (ok && expect) {
    read_tensors(expect, want);
    for (int i = 0; i < num_rets; i++) tensor_is_about(&rets[i], &want[i], 0);
    if (executed) check_executed(f, handle, executed);
  }
  for (int i = 0; i < FUNCTION_TENSORS; i++) {
    tensor_clear(&args[i]);
    tensor_clear(&rets[i]);
    tensor_clear(&want[i]);
  }
  return ok;
}

static bool take_step(Functions *f, const Json *step, Handles *handles, Arena *arena, StrBuf *why) {
  const char *what = fact_text(step, "do");
  bool ok = true;
  status_init(&f->status);
  if (strncmp(what, "instantiate", 11) == 0) ok = instantiate(f, step, handles, arena);
  if (strcmp(what, "release") == 0)
    ok = function_runtime_release(f->runtime, handle_of(handles, fact_text(step, "handle")), &f->status);
  if (strcmp(what, "run") == 0 || (strcmp(what, "instantiate_and_run") == 0 && ok))
    ok = run(f, step, handles);
  return fact_wants_error(step) ? fact_check_error(ok, &f->status, step, why)
                                : fact_check_ok(ok, &f->status, why);
}

static bool enter_kernel(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

/* Loops of nodes are not run: one of their ops runs, to see it refused. */
static const OpRegistration kEnter = {.name = "Enter",
                                      .inputs = {"data: T"},
                                      .outputs = {"output: T"},
                                      .attrs = {"T: type", "frame_name: string", "is_constant: bool = false",
                                                "parallel_iterations: int = 10"},
                                      .shape = shape_unknown_outputs,
                                      .gradient = NO_GRADIENT,
                                      .kernels = {{DT_INVALID, enter_kernel}}};

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Functions f;
  Handles handles = {.count = 0};
  const Json *functions = json_get(fact, "functions"), *steps = json_get(answer, "steps");
  bool ok = functions_begin(&f, "");
  if (ok && !op_registry_find(op_registry_global(), "Enter"))
    CHECK_OK(op_registry_add(op_registry_global(), &kEnter, &f.status), f.status);
  for (int i = 0; ok && i < functions->count; i++) {
    FunctionDef *def = make_function_with(&functions->items[i], graph_function_library(f.library), arena);
    ok = def && CHECK_OK(graph_add_function(f.library, def, &f.status), f.status);
  }
  for (int i = 0; ok && i < steps->count; i++) ok = take_step(&f, &steps->items[i], &handles, arena, why);
  functions_end(&f);
  return ok;
}

TEST(functions_run_as_in_tensorflow) {
  facts_run_kind("tests/data/facts/optimizer.jsonl", "run_function", 9, holds);
}
