/* Runs shape functions: collects the shapes of a node's inputs, computes the input values that the function
 * asks for, and adds context to its errors. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

/* A body assumes shapes when its call does. */
static bool *may_assume(Graph *graph) {
  if (graph->call) return graph->call->assumed;
  return graph->assumes_shapes ? &graph->has_assumed_shapes : NULL;
}

InferenceContext graph_shape_context(Graph *graph, const Node *node) {
  return (InferenceContext){.node = node->def,
                            .op_def = node->op ? node->op->def : NULL,
                            .shape_data = node->op ? node->op->registration->shape_data : NULL,
                            .arena = graph->arena,
                            .assumed = may_assume(graph),
                            .graph_def_version = graph->versions.producer};
}

/* --- one inference --- */

typedef struct Inference {
  Graph *graph;
  Node *node;
  InferenceContext context;
  /* The context's arrays, writable. */
  ShapeHandle *inputs, *as_shapes;
  const Tensor **tensors;
  const HandleData **input_handles;
  bool *tried_tensor, *tried_as_shape;
} Inference;

/* Takes the next piece of the scratch memory; the first pass only counts. */
static void *take(char **cursor, int64_t *bytes, int64_t count, size_t size) {
  void *piece = *cursor;
  int64_t rounded = (count * (int64_t)size + 15) & ~(int64_t)15;
  *bytes += rounded;
  if (*cursor) *cursor += rounded;
  return piece;
}

static int64_t lay_out(Inference *run, char *memory) {
  InferenceContext *c = &run->context;
  int64_t bytes = 0, inputs = c->num_inputs, outputs = c->num_outputs;
  run->inputs = take(&memory, &bytes, inputs, sizeof *run->inputs);
  run->as_shapes = take(&memory, &bytes, inputs, sizeof *run->as_shapes);
  run->tensors = take(&memory, &bytes, inputs, sizeof *run->tensors);
  run->input_handles = take(&memory, &bytes, inputs, sizeof *run->input_handles);
  run->tried_tensor = take(&memory, &bytes, inputs, sizeof(bool));
  run->tried_as_shape = take(&memory, &bytes, inputs, sizeof(bool));
  c->requested_tensor = take(&memory, &bytes, inputs, sizeof(bool));
  c->requested_tensor_as_shape = take(&memory, &bytes, inputs, sizeof(bool));
  c->outputs = take(&memory, &bytes, outputs, sizeof *c->outputs);
  c->output_handles = take(&memory, &bytes, outputs, sizeof *c->output_handles);
  c->inputs = run->inputs;
  c->input_tensors = run->tensors;
  c->input_tensors_as_shapes = run->as_shapes;
  c->input_handles = run->input_handles;
  return bytes;
}

static bool start(Inference *run, Graph *graph, Node *node, Status *status) {
  *run = (Inference){.graph = graph, .node = node, .context = graph_shape_context(graph, node)};
  run->context.num_inputs = node->num_inputs;
  run->context.num_outputs = node->num_outputs;
  int64_t bytes = lay_out(run, NULL);
  if (bytes == 0) return true;
  RefinerScratch *scratch = &graph->scratch;
  if (!mem_grow((void **)&scratch->memory, &scratch->capacity, bytes, 1))
    return status_oom(status, "shape inference");
  memset(scratch->memory, 0, (size_t)bytes);
  lay_out(run, scratch->memory);
  for (int i = 0; i < node->num_inputs; i++) {
    /* The input of a loop's Merge may not be connected yet. */
    const Edge *edge = node->inputs[i];
    run->inputs[i] = edge ? edge->src->output_shapes[edge->src_output] : &kUnknownShape;
    run->input_handles[i] = edge ? edge->src->output_handles[edge->src_output] : NULL;
  }
  return true;
}

/* Computes the requested values that were not tried before; *found tells whether new ones are known. */
static bool answer_requests(Inference *run, bool *found, Status *status) {
  const InferenceContext *c = &run->context;
  *found = false;
  for (int i = 0; i < c->num_inputs; i++) {
    const Edge *edge = run->node->inputs[i];
    if (!edge) continue;
    NodeOutput input = {edge->src, edge->src_output};
    if (c->requested_tensor[i] && !run->tried_tensor[i]) {
      run->tried_tensor[i] = true;
      TRY(graph_cached_constant(run->graph, input, &run->tensors[i], status));
      if (run->tensors[i]) *found = true;
    }
    if (c->requested_tensor_as_shape[i] && !run->tried_as_shape[i] && !run->tensors[i]) {
      run->tried_as_shape[i] = true;
      TRY(graph_partial_shape(run->graph, input, &run->as_shapes[i], status));
      if (run->as_shapes[i]) *found = true;
    }
  }
  return true;
}

/* --- results --- */

void node_clear_handles(Node *node) {
  if (node->num_outputs <= SHARED_HANDLES) {
    node->output_handles = node->graph->no_handles;
  } else {
    memset(node->output_handles, 0, (size_t)node->num_outputs * sizeof *node->output_handles);
  }
}

static bool keep_handles(const Inference *run, Status *status) {
  Node *node = run->node;
  bool any = false;
  for (int i = 0; i < node->num_outputs; i++) any |= run->context.output_handles[i] != NULL;
  if (!any) {
    node_clear_handles(node);
    return true;
  }
  if (node->output_handles == run->graph->no_handles) {
    const HandleData **own = arena_calloc(run->graph->arena, node->num_outputs, sizeof *own);
    if (!own) return status_oom(status, "shape inference");
    node->output_handles = own;
  }
  memcpy(node->output_handles, run->context.output_handles,
         (size_t)node->num_outputs * sizeof *node->output_handles);
  return true;
}

/* The body's error names one of its nodes; this adds the call. */
static bool attach_call(const Inference *run, const FunctionCall *call, Status *status) {
  return status_append(status, "\n\tIn the body of function '%s' called by node '%s'",
                       call->function->signature->name, run->node->name);
}

static bool run_once(Inference *run, const FunctionCall *call, ShapeFn function, Status *status) {
  bool ok = call->function ? graph_infer_call(run->graph, call, &run->context, status)
                           : function(&run->context, status);
  if (ok || status->code == CODE_RESOURCE_EXHAUSTED) return ok;
  return call->function ? attach_call(run, call, status) : shape_attach_context(&run->context, status);
}

bool graph_run_shape_fn(Graph *graph, Node *node, Status *status) {
  Inference run;
  ShapeFn function = node->op ? node->op->registration->shape : NULL;
  FunctionCall call = graph_function_call(graph, node);
  if (!function && !call.function) {
    if (!node->op || !graph->require_shape_fns) return true; /* every output stays unknown */
    return status_invalid(status,
                          "No shape inference function exists for op '%s', did you forget to define it?",
                          node->def->op);
  }
  TRY(start(&run, graph, node, status));
  for (bool again = true; again;) {
    TRY(run_once(&run, &call, function, status));
    TRY(answer_requests(&run, &again, status));
  }
  TRY(keep_handles(&run, status));
  for (int i = 0; i < node->num_outputs; i++) {
    node->output_shapes[i] = run.context.outputs[i] ? run.context.outputs[i] : &kUnknownShape;
  }
  if (node->num_out_edges > 0 && !graph->call)
    graph_forget_values(graph); /* values of consumers may have been computed from the old shapes */
  return true;
}

/* A registered shape function may try to change the graph while it runs. */
bool graph_begin_inference(Graph *graph, Status *status) {
  if (graph->is_inferring) {
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "The graph cannot be changed by a shape function, or by a kernel that it made run");
  }
  graph->is_inferring = true;
  graph->body_steps = 0;
  return true;
}

bool graph_infer_shapes(Graph *graph, Node *node, Status *status) {
  TRY(graph_check_node(graph, node, status));
  GraphMark mark = graph_mark(graph);
  TRY(graph_begin_inference(graph, status));
  bool ok = graph_run_shape_fn(graph, node, status);
  graph->is_inferring = false;
  return ok || graph_rollback(graph, mark);
}

bool graph_infer_leniently(Graph *graph, Node *node, Status *status) {
  Status failure;
  status_init(&failure);
  return graph_infer_shapes(graph, node, &failure) || failure.code != CODE_RESOURCE_EXHAUSTED ||
         status_oom(status, "shape inference");
}

void graph_require_shape_fns(Graph *graph, bool require) { graph->require_shape_fns = require; }

void graph_assume_shapes(Graph *graph) { graph->assumes_shapes = true; }

bool graph_has_assumed_shapes(const Graph *graph) { return graph->has_assumed_shapes; }

void graph_forget_shapes(Graph *graph, Node *node) {
  for (int i = 0; i < node->num_outputs; i++) node->output_shapes[i] = &kUnknownShape;
  node_clear_handles(node);
  graph_forget_values(graph);
}

ShapeHandle graph_output_shape(NodeOutput output) { return output.node->output_shapes[output.index]; }

/* --- shapes given by the caller --- */

static bool merge_shape(Graph *graph, NodeOutput output, int rank, const int64_t *dims, ShapeHandle *merged,
                        Status *status) {
  InferenceContext context = graph_shape_context(graph, output.node);
  DimHandle *handles = arena_alloc(graph->arena, (rank > 0 ? rank : 0) * (int64_t)sizeof *handles);
  if (!handles) return status_oom(status, "a shape");
  for (int i = 0; i < rank; i++) {
    if (dims[i] < UNKNOWN_DIM) {
      return status_invalid(status, "Dimension %d of a shape must be >= -1 but is %lld", i,
                            (long long)dims[i]);
    }
    TRY(dim_ok(dims[i] == UNKNOWN_DIM ? dim_unknown(&context) : dim_make(&context, dims[i]), &handles[i],
               status));
  }
  ShapeHandle given;
  TRY(shape_ok(rank == UNKNOWN_RANK ? shape_unknown(&context) : shape_of_dims(&context, handles, rank),
               &given, status));
  return shape_merge(&context, output.node->output_shapes[output.index], given, merged, status);
}

bool graph_merge_shape_proto(Graph *graph, Node *node, int i, const TensorShapeProto *proto, Status *status) {
  InferenceContext context = graph_shape_context(graph, node);
  ShapeHandle given;
  TRY(shape_from_shape_proto(&context, proto, &given, status));
  return shape_merge(&context, node->output_shapes[i], given, &node->output_shapes[i], status);
}

bool graph_set_shape(Graph *graph, NodeOutput output, int rank, const int64_t *dims, Status *status) {
  TRY(graph_check_node(graph, output.node, status));
  if (output.index < 0 || output.index >= output.node->num_outputs) {
    return status_invalid(status, "output_port '%d' is out of range, node '%s' has %d outputs", output.index,
                          output.node->name, output.node->num_outputs);
  }
  if (rank < UNKNOWN_RANK) return status_invalid(status, "Rank must be >= -1 but is %d", rank);
  GraphMark mark = graph_mark(graph);
  ShapeHandle merged;
  if (!merge_shape(graph, output, rank, dims, &merged, status)) return graph_rollback(graph, mark);
  output.node->output_shapes[output.index] = merged;
  graph_forget_values(graph); /* values that were unknown may follow from the shape */
  return true;
}
