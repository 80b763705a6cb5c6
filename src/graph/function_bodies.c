/* Shapes of calls: infers the function's body with the shapes, handle data and values of the call's inputs.
 *
 * Shape functions of the body allocate in the arena of the body's graph, which is rolled back after every
 * inference. Before that, new parts of the results are copied out; handles that came from the call are
 * returned as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"

/* Deeper calls, and calls that take more steps in total, have unknown shapes. */
enum { MAX_BODY_DEPTH = 64, MAX_BODY_STEPS = 1 << 18 };

/* --- making bodies --- */

void graph_set_function_shapes(Graph *graph, FunctionBodyFn make_body) { graph->make_body = make_body; }

Graph *graph_new_body(Graph *library) {
  Graph *body = graph_new_with_ops(library->ops);
  if (!body) return NULL;
  body->library = library;
  body->versions.producer = library->versions.producer;
  body->require_shape_fns = library->require_shape_fns;
  return body;
}

void function_body_free(FunctionBody *body) {
  if (!body) return;
  graph_free(body->graph);
  mem_free(body);
}

Graph *graph_library(Graph *graph) { return graph->library ? graph->library : graph; }

int graph_arg_index(const Graph *graph, const Node *node) {
  const AttrValue *index;
  if (!graph->call || !node_is_arg(node)) return -1;
  index = node_def_attr(node->def, "index");
  return index && index->i >= 0 && index->i < graph->call->num_inputs ? (int)index->i : -1;
}

/* --- the cache of bodies --- */

void graph_drop_bodies(Graph *graph, const CachedBody *last) {
  while (graph->bodies != last) {
    CachedBody *entry = graph->bodies;
    graph->bodies = entry->previous;
    string_map_remove(&graph->body_keys, entry->key);
    function_body_free(entry->body);
    mem_free(entry->key);
    mem_free(entry);
  }
}

/* The attr values that the function's signature asks for, as a text that is the same for equal bindings. */
static bool body_key(const FunctionCall *call, StrBuf *key, Status *status) {
  const OpDef *signature = call->function->signature;
  strbuf_append(key, signature->name);
  for (size_t i = 0; i < signature->n_attr; i++) {
    strbuf_append_char(key, '\n');
    for (int j = 0; j < call->num_attrs; j++) {
      if (strcmp(call->attrs[j]->key, signature->attr[i]->name) != 0) continue;
      proto_print_text(call->attrs[j]->value, PROTO_TEXT_SHORT, key);
      break;
    }
  }
  return !key->failed || status_oom(status, "the body of a function");
}

static bool add_body(Graph *graph, const FunctionCall *call, const StrBuf *key, CachedBody **out,
                     Status *status) {
  bool ok = false;
  CachedBody *entry = mem_calloc(1, sizeof *entry);
  if (!entry) return status_oom(status, "the body of a function");
  entry->key = mem_alloc(key->length + 1);
  if (!entry->key) {
    status_oom(status, "the body of a function");
    goto done;
  }
  memcpy(entry->key, key->data, (size_t)key->length);
  entry->key[key->length] = '\0';
  TRY_DONE(graph->make_body(graph, call->function, call->attrs, call->num_attrs, &entry->body, status));
  Graph *body = entry->body->graph;
  const Walk walk = {0};
  TRY_DONE(graph_reverse_post_order(body, &walk, body->arena, &entry->order, &entry->num_nodes, status));
  TRY_DONE(string_map_set(&graph->body_keys, entry->key, entry, status));
  entry->previous = graph->bodies;
  graph->bodies = entry;
  *out = entry;
  ok = true;
done:
  if (!ok) {
    function_body_free(entry->body);
    mem_free(entry->key);
    mem_free(entry);
  }
  return ok;
}

static bool find_body(Graph *graph, const FunctionCall *call, CachedBody **out, Status *status) {
  StrBuf key = {0};
  int64_t generation = function_library_generation(graph->functions);
  if (graph->bodies_generation != generation && graph->body_depth == 0) {
    graph_drop_bodies(graph, NULL);
    graph->bodies_generation = generation;
  }
  bool ok = body_key(call, &key, status);
  if (ok) {
    *out = string_map_find(&graph->body_keys, strbuf_text(&key));
    ok = *out || add_body(graph, call, &key, out, status);
  }
  strbuf_free(&key);
  return ok;
}

/* --- the function of a call --- */

FunctionCall graph_function_call(const Graph *graph, const Node *node) {
  const FunctionCall none = {0};
  const Graph *library = graph->library ? graph->library : graph;
  if (!library->make_body || function_library_num_functions(library->functions) == 0 || !node->op)
    return none;
  const AttrValue *disabled = node_def_attr(node->def, "_disable_call_shape_inference");
  if (disabled && disabled->value_case == (int)ATTR_BOOL && disabled->b) return none;
  const NodeDef *def = node->def;
  if (node_is_function(node)) {
    const FunctionDef *function = graph_find_function(library, def->op);
    return (FunctionCall){function, (const AttrEntry *const *)def->attr, (int)def->n_attr};
  }
  if (!node_is_partitioned_call(node)) return none;
  const AttrValue *f = node_def_attr(def, "f");
  if (!f || f->value_case != (int)ATTR_FUNC || !f->func) return none;
  const FunctionDef *function = graph_find_function(library, f->func->name);
  return (FunctionCall){function, (const AttrEntry *const *)f->func->attr, (int)f->func->n_attr};
}

/* --- copying results out --- */

/* A dimension that the body made, and its copy outside. */
typedef struct MovedDim {
  DimHandle from, to;
} MovedDim;

typedef struct Mover {
  const Arena *inside;
  InferenceContext *c;
  MovedDim *dims; /* sorted by `from` when all are collected */
  int64_t num_dims, capacity;
  Status *status;
} Mover;

static int compare_dims(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)((const MovedDim *)a)->from, y = (uintptr_t)((const MovedDim *)b)->from;
  return (x > y) - (x < y);
}

static bool collect_dims(Mover *mover, ShapeHandle shape) {
  for (int32_t i = 0; i < shape_rank(shape); i++) {
    if (!arena_owns(mover->inside, shape->dims[i])) continue;
    if (!mem_grow((void **)&mover->dims, &mover->capacity, mover->num_dims + 1, sizeof *mover->dims))
      return status_oom(mover->status, "shapes of a function");
    mover->dims[mover->num_dims++] = (MovedDim){shape->dims[i], NULL};
  }
  return true;
}

/* A dimension that occurs several times is copied once. */
static bool make_dims(Mover *mover) {
  if (mover->num_dims == 0) return true;
  qsort(mover->dims, (size_t)mover->num_dims, sizeof *mover->dims, compare_dims);
  for (int64_t i = 0; i < mover->num_dims; i++) {
    MovedDim *dim = &mover->dims[i];
    if (i > 0 && dim[-1].from == dim->from) {
      dim->to = dim[-1].to;
    } else {
      TRY(dim_ok(dim_make(mover->c, dim_value(dim->from)), &dim->to, mover->status));
    }
  }
  return true;
}

static DimHandle moved_dim(const Mover *mover, DimHandle dim) {
  const MovedDim key = {dim, NULL};
  const MovedDim *found = mover->num_dims == 0 ? NULL
                                               : bsearch(&key, mover->dims, (size_t)mover->num_dims,
                                                         sizeof *mover->dims, compare_dims);
  return found ? found->to : dim;
}

static bool move_shape(const Mover *mover, ShapeHandle shape, ShapeHandle *out) {
  *out = shape;
  if (!arena_owns(mover->inside, shape)) return true;
  if (!shape_rank_known(shape)) return shape_ok(shape_unknown(mover->c), out, mover->status);
  int32_t rank = shape_rank(shape);
  DimHandle *dims = mem_calloc((int64_t)rank + 1, sizeof *dims);
  if (!dims) return status_oom(mover->status, "shapes of a function");
  for (int32_t i = 0; i < rank; i++) dims[i] = moved_dim(mover, shape->dims[i]);
  bool ok = shape_ok(shape_of_dims(mover->c, dims, rank), out, mover->status);
  mem_free(dims);
  return ok;
}

static bool move_handles(const Mover *mover, const HandleData *data, int output) {
  if (!data || !arena_owns(mover->inside, data)) {
    mover->c->output_handles[output] = data;
    return true;
  }
  ShapeAndType *entries = mem_calloc(data->count + 1, sizeof *entries);
  if (!entries) return status_oom(mover->status, "shapes of a function");
  bool ok = true;
  for (int i = 0; ok && i < data->count; i++) {
    entries[i].dtype = data->entries[i].dtype;
    ok = move_shape(mover, data->entries[i].shape, &entries[i].shape);
  }
  ok = ok && shape_set_output_handle(mover->c, output, entries, data->count, mover->status);
  mem_free(entries);
  return ok;
}

static const HandleData *handles_of(NodeOutput output) { return output.node->output_handles[output.index]; }

static NodeOutput result_of(const FunctionBody *body, int i) {
  return edge_value(body->ret_nodes[i]->inputs[0]);
}

static bool move_results(Mover *mover, const FunctionBody *body) {
  for (int i = 0; i < body->num_rets; i++) {
    const HandleData *data = handles_of(result_of(body, i));
    TRY(collect_dims(mover, graph_output_shape(result_of(body, i))));
    for (int j = 0; data && j < data->count; j++) TRY(collect_dims(mover, data->entries[j].shape));
  }
  TRY(make_dims(mover));
  for (int i = 0; i < body->num_rets; i++) {
    TRY(move_shape(mover, graph_output_shape(result_of(body, i)), &mover->c->outputs[i]));
    TRY(move_handles(mover, handles_of(result_of(body, i)), i));
  }
  return true;
}

/* --- inferring a body --- */

static bool check_counts(const FunctionBody *body, const InferenceContext *c, Status *status) {
  if (body->num_args > c->num_inputs) {
    return status_set(status, CODE_INTERNAL,
                      "Function instantiation included invalid input index: %d not in [0, %d).",
                      c->num_inputs, c->num_inputs);
  }
  if (body->num_rets > c->num_outputs) {
    return status_set(status, CODE_INTERNAL,
                      "Function instantiation included invalid output index: %d not in [0, %d).",
                      c->num_outputs, c->num_outputs);
  }
  return true;
}

static bool give_args(const FunctionBody *body, const InferenceContext *c, Status *status) {
  for (int i = 0; i < body->num_args; i++) {
    Node *arg = body->arg_nodes[i];
    arg->output_shapes[0] = c->inputs[i];
    if (!c->input_handles[i]) continue;
    arg->output_handles = arena_alloc(body->graph->arena, sizeof *arg->output_handles);
    if (!arg->output_handles) return status_oom(status, "shapes of a function");
    arg->output_handles[0] = c->input_handles[i];
  }
  return true;
}

/* *done is false when it took too many steps. */
static bool infer_nodes(Graph *library, const CachedBody *entry, bool *done, Status *status) {
  Graph *graph = entry->body->graph;
  for (int64_t i = 0; i < entry->num_nodes; i++) {
    Node *node = entry->order[i];
    *done = ++library->body_steps <= MAX_BODY_STEPS;
    if (!*done) return true;
    if (node->op && graph_arg_index(graph, node) < 0) TRY(graph_run_shape_fn(graph, node, status));
  }
  return true;
}

/* Drops all pointers into memory that is about to be released. */
static void clear_body(Graph *graph) {
  graph_forget_values(graph);
  for (int64_t id = SINK_ID + 1; id < graph->num_node_ids; id++) {
    Node *node = graph->nodes[id];
    for (int i = 0; i < node->num_outputs; i++) node->output_shapes[i] = &kUnknownShape;
    node_clear_handles(node);
  }
}

static bool run_body(Graph *library, CachedBody *entry, InferenceContext *c, Status *status) {
  Graph *graph = entry->body->graph;
  Mover mover = {.inside = graph->arena, .c = c, .status = status};
  ArenaMark mark = arena_mark(graph->arena);
  bool done = false;
  graph->call = c;
  entry->running = true;
  library->body_depth++;
  bool ok = give_args(entry->body, c, status) && infer_nodes(library, entry, &done, status);
  if (ok) ok = done ? move_results(&mover, entry->body) : shape_unknown_outputs(c, status);
  library->body_depth--;
  entry->running = false;
  graph->call = NULL;
  mem_free(mover.dims);
  clear_body(graph);
  arena_rollback(graph->arena, mark);
  return ok;
}

bool graph_infer_call(Graph *graph, const FunctionCall *call, InferenceContext *c, Status *status) {
  Graph *library = graph->library ? graph->library : graph;
  CachedBody *entry;
  if (library->body_depth >= MAX_BODY_DEPTH) return shape_unknown_outputs(c, status);
  TRY(find_body(library, call, &entry, status));
  if (entry->running) {
    return status_invalid(status, "Function '%s' calls itself: its shapes cannot follow from its body",
                          call->function->signature->name);
  }
  TRY(check_counts(entry->body, c, status));
  return run_body(library, entry, c, status);
}
