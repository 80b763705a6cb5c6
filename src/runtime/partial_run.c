#include "runtime/partial_run.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "graph/node_class.h"
#include "runtime/partial_units.h"
#include "runtime/session_internal.h"

/* The value of an argument of the private graph: a feed, or a result of an earlier piece. */
typedef struct KeptValue {
  Node *arg;
  Tensor value;
} KeptValue;

/* The piece that is running or being prepared. */
typedef struct Piece {
  Arena *arena;
  bool *feeds, *fetches; /* per feed and fetch of the setup: whether this piece feeds or fetches it */
  uint8_t *waits_for;    /* per node id: whether the node depends on a feed of a later piece */
  uint8_t *runs;         /* per node id: whether the node runs in this piece */
  NodeOutput *outputs;   /* the outputs that later pieces read */
  int num_outputs;
  int num_asked, *asked; /* fetch i of the piece is fetch asked[i] of the setup */
} Piece;

struct PartialRun {
  const PartialRunFunctions *functions;
  Session *session;
  PartialRun *previous, *next;
  Arena *arena;
  char *handle;
  FunctionBody *body; /* the private graph; a result reads an argument as soon as it has been computed */
  StepCache *cache;   /* the programs of the private graph */
  PartialUnits units;
  int64_t *control_ids; /* of the control results: nodes that have run are gone */
  StepSignature setup;  /* of the session's graph */
  bool *fed, *fetched;
  KeptValue *kept;
  int64_t num_kept, kept_capacity;
  Piece *piece; /* NULL: no piece is running */
};

static bool oom(Status *status) { return status_oom(status, "a partial run"); }

static void end(PartialRun *run) {
  Session *session = run->session;
  if (run->previous) {
    run->previous->next = run->next;
  } else if (session->partial_runs == run) {
    session->partial_runs = run->next;
  }
  if (run->next) run->next->previous = run->previous;
  for (int64_t i = 0; i < run->num_kept; i++) tensor_clear(&run->kept[i].value);
  mem_free(run->kept);
  step_cache_free(run->cache);
  function_body_free(run->body);
  if (run->piece) arena_free(run->piece->arena);
  arena_free(run->arena); /* holds the run itself */
}

/* --- setup --- */

static void write_names(const NodeOutput *outputs, int count, StrBuf *out) {
  for (int i = 0; i < count; i++)
    strbuf_printf(out, "%s%s:%d", i > 0 ? "," : "", outputs[i].node->name, outputs[i].index);
}

/* What the setup asked for, and a number. */
static bool write_handle(PartialRun *run, Status *status) {
  const StepSignature *signature = &run->setup;
  StrBuf text = {0};
  write_names(signature->feeds, signature->num_feeds, &text);
  strbuf_append(&text, "->");
  write_names(signature->fetches, signature->num_fetches, &text);
  for (int i = 0; i < signature->num_targets; i++)
    strbuf_printf(&text, "%s%s", i > 0 ? "," : "/", signature->targets[i]->name);
  strbuf_printf(&text, ";%lld", (long long)run->session->num_partial_runs++);
  bool ok = strbuf_ok(&text, status);
  if (ok) run->handle = arena_strdup(run->arena, strbuf_text(&text));
  strbuf_free(&text);
  return ok && (run->handle || oom(status));
}

static bool set_up(PartialRun *run, const StepSignature *signature, Status *status) {
  Session *session = run->session;
  TRY(session_take_graph(session, status));
  TRY(step_signature_copy(signature, run->arena, &run->setup, status));
  run->setup.any_shapes = true;
  run->fed = arena_calloc(run->arena, signature->num_feeds, sizeof *run->fed);
  run->fetched = arena_calloc(run->arena, signature->num_fetches, sizeof *run->fetched);
  if (!run->fed || !run->fetched) return oom(status);
  TRY(placed_graph_client(&session->placed, session->graph, &run->setup, &run->body, status));
  run->control_ids = arena_calloc(run->arena, run->body->num_control_rets, sizeof *run->control_ids);
  if (!run->control_ids) return oom(status);
  for (int i = 0; i < run->body->num_control_rets; i++)
    run->control_ids[i] = run->body->control_ret_nodes[i]->id;
  run->cache = step_cache_new(run->body->graph, session->devices, NULL);
  return (run->cache || oom(status)) && partial_units_of(run->body->graph, run->arena, &run->units, status) &&
         write_handle(run, status);
}

/* --- the feeds and fetches of a piece --- */

static PartialRun *find_run(const Session *session, const char *handle) {
  PartialRun *run = session->partial_runs;
  while (run && strcmp(run->handle, handle) != 0) run = run->next;
  return run;
}

static int position_of(NodeOutput output, const NodeOutput *outputs, int count) {
  for (int i = 0; i < count; i++) {
    if (outputs[i].node == output.node && outputs[i].index == output.index) return i;
  }
  return -1;
}

static bool check_given(const PartialRun *run, Piece *piece, const NodeOutput *feeds, int num_feeds,
                        Status *status) {
  for (int i = 0; i < num_feeds; i++) {
    int at = position_of(feeds[i], run->setup.feeds, run->setup.num_feeds);
    if (at < 0)
      return status_invalid(status, "The feed %s:%d was not specified in partial_run_setup.",
                            feeds[i].node->name, feeds[i].index);
    if (run->fed[at] || piece->feeds[at])
      return status_invalid(status, "The feed %s:%d has already been fed.", feeds[i].node->name,
                            feeds[i].index);
    piece->feeds[at] = true;
  }
  return true;
}

static bool check_asked(const PartialRun *run, Piece *piece, const NodeOutput *fetches, int num_fetches,
                        Status *status) {
  for (int i = 0; i < num_fetches; i++) {
    int at = position_of(fetches[i], run->setup.fetches, run->setup.num_fetches);
    if (at < 0)
      return status_invalid(status, "The fetch %s:%d was not specified in partial_run_setup.",
                            fetches[i].node->name, fetches[i].index);
    if (run->fetched[at] || piece->fetches[at])
      return status_invalid(status, "The fetch %s:%d has already been fetched.", fetches[i].node->name,
                            fetches[i].index);
    piece->fetches[at] = true;
    piece->asked[i] = at;
  }
  piece->num_asked = num_fetches;
  return true;
}

/* --- the nodes that a piece runs --- */

static void wait_for(const PartialRun *run, Piece *piece, int64_t id, int64_t *queue, int64_t *num_queued) {
  for (int64_t at = id; !piece->waits_for[at];) {
    piece->waits_for[at] = 1;
    queue[(*num_queued)++] = at;
    if (at < run->units.size) at = run->units.next[at];
  }
}

/* Marks the nodes that depend on feed `i`. */
static void mark_waiting(const PartialRun *run, Piece *piece, int i, int64_t *queue) {
  int64_t num_queued = 0;
  wait_for(run, piece, run->body->arg_nodes[i]->id, queue, &num_queued);
  for (int64_t k = 0; k < num_queued; k++) {
    const Node *node = graph_node(run->body->graph, queue[k]);
    for (int32_t e = 0; node && e < node->num_out_edges; e++) {
      if (node->out_edges[e]->dst->id != SINK_ID)
        wait_for(run, piece, node->out_edges[e]->dst->id, queue, &num_queued);
    }
  }
}

static bool find_waiting(const PartialRun *run, Piece *piece, Status *status) {
  int64_t *queue = arena_calloc(piece->arena, graph_num_node_ids(run->body->graph), sizeof *queue);
  if (!queue) return oom(status);
  for (int i = 0; i < run->setup.num_feeds; i++) {
    if (run->fed[i] || piece->feeds[i]) continue;
    mark_waiting(run, piece, i, queue);
    for (int k = 0; k < run->setup.num_fetches; k++) {
      if (piece->fetches[k] && piece->waits_for[run->body->ret_nodes[k]->id])
        return status_invalid(status,
                              "Fetch %s:%d can't be computed from the feeds that have been fed so far.",
                              run->setup.feeds[i].node->name, run->setup.feeds[i].index);
    }
  }
  return true;
}

/* The output of a variable cannot be kept as a value: each piece that uses the variable looks it up. */
static bool stays(const Node *node) { return node_is_boundary(node) || node->node_class == NODE_VARIABLE; }

static void find_nodes(const PartialRun *run, Piece *piece) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(run->body->graph); id++) {
    const Node *node = graph_node(run->body->graph, id);
    piece->runs[id] = node && !stays(node) && !piece->waits_for[id];
  }
}

static bool is_read_later(const Piece *piece, const Edge *edge) {
  return edge->dst->id != SINK_ID && !piece->runs[edge->dst->id];
}

static bool find_outputs(const PartialRun *run, Piece *piece, Status *status) {
  int64_t capacity = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(run->body->graph); id++) {
    if (!piece->runs[id]) continue;
    Node *node = graph_node(run->body->graph, id);
    int first = piece->num_outputs;
    for (int32_t e = 0; e < node->num_out_edges; e++) {
      const Edge *edge = node->out_edges[e];
      NodeOutput output = {node, edge->src_output};
      if (edge_is_control(edge) || !is_read_later(piece, edge) ||
          position_of(output, piece->outputs + first, piece->num_outputs - first) >= 0)
        continue;
      if (piece->num_outputs == capacity) {
        NodeOutput *grown = arena_calloc(piece->arena, 2 * capacity + 8, sizeof *grown);
        if (!grown) return oom(status);
        if (capacity > 0) memcpy(grown, piece->outputs, (size_t)capacity * sizeof *grown);
        piece->outputs = grown;
        capacity = 2 * capacity + 8;
      }
      piece->outputs[piece->num_outputs++] = output;
    }
  }
  return true;
}

/* Whether a later piece waits for the node without reading it. */
static bool is_awaited(const Piece *piece, const Node *node) {
  for (int32_t e = 0; e < node->num_out_edges; e++) {
    if (edge_is_control(node->out_edges[e]) && is_read_later(piece, node->out_edges[e])) return true;
  }
  return false;
}

/* Describes the piece as a step of the private graph. */
static bool make_signature(const PartialRun *run, Piece *piece, StepSignature *signature,
                           const Tensor ***values, Status *status) {
  int64_t ids = graph_num_node_ids(run->body->graph);
  NodeOutput *feeds = arena_calloc(piece->arena, run->num_kept, sizeof *feeds);
  Node **targets = arena_calloc(piece->arena, ids + run->body->num_control_rets, sizeof *targets);
  *values = arena_calloc(piece->arena, run->num_kept, sizeof **values);
  if (!feeds || !targets || !*values) return oom(status);
  *signature = (StepSignature){.feeds = feeds,
                               .fetches = piece->outputs,
                               .num_fetches = piece->num_outputs,
                               .targets = targets,
                               .any_shapes = true};
  for (int64_t i = 0; i < run->num_kept; i++) {
    const KeptValue *kept = &run->kept[i];
    bool is_read = false;
    for (int32_t e = 0; e < kept->arg->num_out_edges; e++)
      is_read |= piece->runs[kept->arg->out_edges[e]->dst->id];
    if (!is_read) continue;
    (*values)[signature->num_feeds] = &kept->value;
    feeds[signature->num_feeds++] = (NodeOutput){kept->arg, 0};
  }
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = piece->runs[id] ? graph_node(run->body->graph, id) : NULL;
    if (node && is_awaited(piece, node)) targets[signature->num_targets++] = node;
  }
  for (int i = 0; i < run->body->num_control_rets; i++) {
    Node *node = graph_node(run->body->graph, run->control_ids[i]);
    if (node && piece->runs[node->id]) targets[signature->num_targets++] = node;
  }
  return true;
}

/* --- the values for later pieces --- */

static bool keep(PartialRun *run, Node *arg, const Tensor *value, Status *status) {
  if (!mem_grow((void **)&run->kept, &run->kept_capacity, run->num_kept + 1, sizeof *run->kept))
    return oom(status);
  run->kept[run->num_kept] = (KeptValue){.arg = arg};
  return tensor_assign(&run->kept[run->num_kept++].value, value, status);
}

/* Adds an argument with the value of `output`. The nodes of later pieces read it instead of `output`. */
static bool replace(PartialRun *run, const Piece *piece, NodeOutput output, const Tensor *value,
                    Status *status) {
  NodeBuilder b;
  Node *arg;
  Graph *graph = run->body->graph;
  node_builder(&b, graph, "_Arg", graph_unique_name(graph, output.node->name));
  node_builder_type(&b, "T", node_output_type(output));
  node_builder_int(&b, "index", run->num_kept);
  TRY(node_builder_finish_bare(&b, &arg, status));
  for (int32_t e = 0; e < output.node->num_out_edges;) {
    const Edge *edge = output.node->out_edges[e];
    if (edge->src_output != output.index || !is_read_later(piece, edge)) {
      e++;
      continue;
    }
    Node *reader = edge->dst;
    int input = edge->dst_input;
    Edge *added;
    graph_remove_edge(graph, output.node->out_edges[e]);
    TRY(graph_add_edge(graph, arg, 0, reader, input, &added, status));
  }
  return keep(run, arg, value, status);
}

static bool leave(PartialRun *run, const PreparedStep *prepared, const Tensor *results, Status *status) {
  const Piece *piece = run->piece;
  int64_t ids = graph_num_node_ids(run->body->graph);
  for (int i = 0; i < piece->num_outputs; i++)
    TRY(replace(run, piece, piece->outputs[prepared->fetch_order[i]], &results[i], status));
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    if (piece->runs[id]) graph_remove_node(run->body->graph, graph_node(run->body->graph, id));
  }
  return true;
}

/* Sets `value` to the kept value that result `i` of the private graph reads. */
static bool give(const PartialRun *run, int i, Tensor *value, Status *status) {
  const Node *source = node_input_edge(run->body->ret_nodes[i], 0)->src;
  for (int64_t k = 0; k < run->num_kept; k++) {
    if (run->kept[k].arg == source) return tensor_assign(value, &run->kept[k].value, status);
  }
  return status_set(status, CODE_INTERNAL, "Fetch %s:%d was not computed", run->setup.fetches[i].node->name,
                    run->setup.fetches[i].index);
}

static bool has_ended(const PartialRun *run) {
  bool all = true;
  for (int i = 0; i < run->setup.num_feeds; i++) all &= run->fed[i];
  for (int i = 0; i < run->setup.num_fetches; i++) all &= run->fetched[i];
  return all;
}

/* Sets the fetch values when the nodes of the piece have run. */
static bool finish_piece(PartialRun *run, Tensor *fetch_values, Status *status) {
  const Piece *piece = run->piece;
  bool ok = true;
  for (int i = 0; ok && i < piece->num_asked; i++) {
    ok = give(run, piece->asked[i], &fetch_values[i], status);
    run->fetched[piece->asked[i]] = true;
  }
  for (int i = 0; !ok && i < piece->num_asked; i++) tensor_clear(&fetch_values[i]);
  arena_free(piece->arena);
  run->piece = NULL;
  return ok;
}

static bool take(PartialRun *run, const PreparedStep *prepared, Tensor *results, Tensor *fetch_values,
                 Status *status) {
  graph_lock(run->session->graph);
  bool ok = leave(run, prepared, results, status) && finish_piece(run, fetch_values, status);
  for (int i = 0; i < prepared->num_fetches; i++) tensor_clear(&results[i]);
  graph_unlock(run->session->graph);
  return ok;
}

/* --- pieces --- */

static bool new_piece(PartialRun *run, int num_fetches, Status *status) {
  int64_t ids = graph_num_node_ids(run->body->graph);
  Arena *arena = arena_new();
  Piece *piece = arena ? arena_calloc(arena, 1, sizeof *piece) : NULL;
  if (piece) {
    piece->arena = arena;
    piece->feeds = arena_calloc(arena, run->setup.num_feeds, sizeof *piece->feeds);
    piece->fetches = arena_calloc(arena, run->setup.num_fetches, sizeof *piece->fetches);
    piece->asked = arena_calloc(arena, num_fetches, sizeof *piece->asked);
    piece->waits_for = arena_calloc(arena, ids, sizeof *piece->waits_for);
    piece->runs = arena_calloc(arena, ids, sizeof *piece->runs);
  }
  if (piece && piece->feeds && piece->fetches && piece->asked && piece->waits_for && piece->runs) {
    run->piece = piece;
    return true;
  }
  arena_free(arena);
  return oom(status);
}

static bool plan_piece(PartialRun *run, const StepSignature *asked, Status *status) {
  Piece *piece = run->piece;
  TRY(check_given(run, piece, asked->feeds, asked->num_feeds, status));
  TRY(check_asked(run, piece, asked->fetches, asked->num_fetches, status));
  TRY(find_waiting(run, piece, status));
  find_nodes(run, piece);
  return find_outputs(run, piece, status);
}

static bool keep_feeds(PartialRun *run, const StepSignature *asked, const Tensor *const *values,
                       Status *status) {
  for (int i = 0; i < asked->num_feeds; i++) {
    int at = position_of(asked->feeds[i], run->setup.feeds, run->setup.num_feeds);
    TRY(keep(run, run->body->arg_nodes[at], values[i], status));
  }
  for (int i = 0; i < run->setup.num_feeds; i++) run->fed[i] |= run->piece->feeds[i];
  return true;
}

static bool check_values(const Session *session, const StepSignature *asked, const Tensor *const *values,
                         Status *status) {
  for (int i = 0; i < asked->num_feeds; i++)
    TRY(session_check_value(session, asked->feeds[i], i, values[i], status));
  return true;
}

/* From this call on, a failure ends the partial run. */
static bool start_piece(PartialRun *run, const SessionRunOptions *options, const StepSignature *asked,
                        const Tensor *const *values, Tensor *fetch_values, SessionStep **step,
                        Status *status) {
  StepSignature signature;
  const Tensor **kept_values;
  const PreparedStep *prepared;
  TRY(keep_feeds(run, asked, values, status));
  TRY(make_signature(run, run->piece, &signature, &kept_values, status));
  if (signature.num_fetches + signature.num_targets == 0) return finish_piece(run, fetch_values, status);
  TRY(step_cache_prepare(run->cache, &signature, &prepared, status));
  TRY(session_begin_prepared(run->session, run->cache, prepared, options, kept_values, step, status));
  (*step)->partial_run = run;
  return true;
}

static bool begin_piece(PartialRun *run, const SessionRunOptions *options, const StepSignature *asked,
                        const Tensor *const *values, Tensor *fetch_values, SessionStep **step,
                        Status *status) {
  if (run->piece)
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "A piece of the partial run is under way; it has to end before the next begins.");
  TRY(step_signature_check(asked, run->session->graph, status));
  TRY(new_piece(run, asked->num_fetches, status));
  if (!plan_piece(run, asked, status) || !check_values(run->session, asked, values, status)) {
    arena_free(run->piece->arena);
    run->piece = NULL;
    return false;
  }
  bool ok = start_piece(run, options, asked, values, fetch_values, step, status);
  if (!ok || (!*step && has_ended(run))) end(run);
  return ok;
}

/* --- for sessions --- */

static const PartialRunFunctions kFunctions = {take, has_ended, end};

bool session_setup_partial_run(Session *session, const StepSignature *signature, const char **handle,
                               Status *status) {
  TRY(session_lock(session, status));
  graph_lock(session->graph);
  Arena *arena = arena_new();
  PartialRun *run = arena ? arena_calloc(arena, 1, sizeof *run) : NULL;
  bool ok = run || oom(status);
  if (ok) {
    run->functions = &kFunctions;
    run->session = session;
    run->arena = arena;
    ok = set_up(run, signature, status);
    if (ok) {
      run->next = session->partial_runs;
      if (run->next) run->next->previous = run;
      session->partial_runs = run;
      *handle = run->handle;
    } else {
      end(run);
    }
  } else {
    arena_free(arena);
  }
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}

bool session_begin_piece(Session *session, const char *handle, const SessionRunOptions *options,
                         const NodeOutput *feeds, const Tensor *const *feed_values, int num_feeds,
                         const NodeOutput *fetches, int num_fetches, Tensor *fetch_values, SessionStep **step,
                         Status *status) {
  const StepSignature asked = {.feeds = feeds,
                               .num_feeds = num_feeds,
                               .fetches = fetches,
                               .num_fetches = num_fetches};
  *step = NULL;
  TRY(session_lock(session, status));
  graph_lock(session->graph);
  PartialRun *run = find_run(session, handle);
  bool ok = run ? begin_piece(run, options, &asked, feed_values, fetch_values, step, status)
                : status_invalid(status, "Must run 'setup' before performing partial runs!");
  graph_unlock(session->graph);
  session_unlock(session);
  return ok;
}
