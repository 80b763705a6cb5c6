/* What the graph's own files share: the structs behind the handles, marks to roll back to, and the parts of
 * an operation that can fail separated from the parts that cannot. */
#ifndef TFCORE_GRAPH_GRAPH_INTERNAL_H_
#define TFCORE_GRAPH_GRAPH_INTERNAL_H_

#include "base/sync.h"
#include "graph/function_library_internal.h"
#include "graph/graph.h"

/* A value or partial shape that was computed for shape inference, or the knowledge that there is none.
 * Entries live in the graph's arena, newest first in one list, so that rolling back the arena can drop
 * exactly those made since. */
typedef enum ValueState { VALUE_PENDING, VALUE_UNKNOWN, VALUE_KNOWN } ValueState;

typedef struct CachedValue {
  struct CachedValue *previous;
  Node *node;
  bool is_partial_shape;
  ValueState state;
  Tensor *outputs;           /* when known: one per output of the node */
  ShapeHandle partial_shape; /* of output 0, NULL when nothing is known */
} CachedValue;

typedef struct NodeEntry {
  Node node; /* first: a Node is its NodeEntry */
  CachedValue *value, *partial_shape;
  char **own_inputs; /* the NodeDef's input list once the graph has made room in it, with this capacity */
  int32_t input_capacity;
  uint32_t visit;        /* scratch of whoever walks: equal to graph->visit when seen in this walk */
  int32_t while_context; /* index + 1 of the loop that the node is an exit of; 0: none */
  bool loose_controls;   /* the NodeDef came with control inputs, for which there may be no edges (yet) */
} NodeEntry;

static inline NodeEntry *node_entry(Node *node) { return (NodeEntry *)node; }

/* Arrays that hold one shape inference's arguments; reused from node to node. */
typedef struct RefinerScratch {
  char *memory;
  int64_t capacity;
} RefinerScratch;

/* A body in the graph's cache, made when shape inference first needs it (function_bodies.c). On the heap:
 * newest first in one list, so that rolling back drops exactly those made since. */
typedef struct CachedBody {
  struct CachedBody *previous;
  char *key;
  FunctionBody *body;
  Node **order; /* every node behind its inputs, but for loops */
  int64_t num_nodes;
  bool running;
} CachedBody;

enum { SHARED_HANDLES = 16 };

struct Graph {
  Arena *arena;
  OpRegistry *ops;
  Node **nodes; /* by id */
  int64_t num_node_ids, node_capacity;
  int64_t num_nodes, num_edges, next_edge_id;
  int64_t mutations;
  uint32_t visit;
  Edge **edges; /* by id, NULL for removed ones; the table itself is NULL until somebody asks for an edge by
                   id */
  int64_t edge_capacity;
  int64_t
      fixed_until; /* nodes with smaller ids have edges in and out, from source and to sink where needed */
  StringMap names; /* to Node, the one with the smallest id; without source and sink */
  StringMap duplicates; /* names of several nodes, to how many they are (int64_t in the arena) */
  int64_t name_counter; /* of graph_new_name */
  VersionDef versions;

  /* "a" and "a/b" for a node a/b/c; built when a name must be made unique, for the nodes with ids below
   * prefixes_until. */
  StringMap prefixes;
  int64_t prefixes_until;
  StringMap suffixes; /* from a base name to k: base_1 ... base_k are taken */

  FunctionLibraryDefinition *functions; /* in the graph's arena; none are in that of a body */

  const char **devices; /* by index; 0 is "" */
  int64_t num_devices, device_capacity;
  StringMap device_indices; /* to index */
  WhileContext **while_contexts;
  int64_t num_while_contexts, while_context_capacity;
  StringMap frame_names; /* to WhileContext */

  CachedValue *cached_values;
  RefinerScratch scratch;
  bool is_inferring; /* a shape function, or a kernel that computes a value for one, is running */
  bool require_shape_fns;
  bool assumes_shapes, has_assumed_shapes;

  /* Calls of functions. */
  FunctionBodyFn make_body;
  CachedBody *bodies;
  StringMap body_keys;       /* to CachedBody */
  int64_t bodies_generation; /* of the functions that they were made of */
  int body_depth;            /* how many bodies are being inferred, one in another */
  int64_t body_steps;        /* nodes of bodies inferred for the node that the caller asked for */
  /* In the graph of a body: whose functions it knows, and the call that its arguments come from, while it is
   * inferred. */
  Graph *library;
  InferenceContext *call;
  const HandleData *no_handles[SHARED_HANDLES]; /* all NULL: shared by the nodes that have no handle data */
  Mutex lock;                                   /* recursive */
  bool has_lock;
};

extern const ShapeValue kUnknownShape;

/* --- the lock (graph_lock.c) --- */

MUST_CHECK bool graph_lock_init(Graph *graph);
void graph_lock_destroy(Graph *graph);

/* --- marks --- */

typedef struct GraphMark {
  ArenaMark arena;
  CachedValue *cached_values;
  CachedBody *bodies;
} GraphMark;

static inline GraphMark graph_mark(const Graph *graph) {
  return (GraphMark){arena_mark(graph->arena), graph->cached_values, graph->bodies};
}
/* Gives back the arena's memory, the cached values and the bodies made since. Returns false. */
bool graph_rollback(Graph *graph, GraphMark mark);
/* Drops cached values because nodes or shapes changed. */
void graph_forget_values(Graph *graph);

/* Begins a walk: no node is marked with graph->visit. */
void graph_new_visit(Graph *graph);

/* --- making nodes (graph_edit.c) --- */

/* Room for `count` more nodes in the table of ids. */
MUST_CHECK bool graph_reserve_nodes(Graph *graph, int64_t count, Status *status);
/* A node that the graph does not know yet: types, slots and unknown shapes are there; no id, no edges. */
MUST_CHECK bool graph_make_node(Graph *graph, NodeDef *def, const Op *op, Node **node, Status *status);
/* The same with the op and the types of another node, which `def` must give as well; NULL when out of
 * memory. */
Node *graph_make_twin(Graph *graph, NodeDef *def, const Node *like);
/* Gives a node that is complete its id and its place; room and name are there. */
void graph_insert_node(Graph *graph, Node *node);
/* "_SOURCE" and "_SINK" */
bool graph_is_reserved_name(const char *name);
/* Room for more out edges of `node`; what it had before is kept when memory runs out. */
MUST_CHECK bool node_reserve_out_edges(Graph *graph, Node *node, int64_t more, Status *status);
/* A source's list of edges as it was before one was appended. Restoring goes in reverse order. */
typedef struct OutEdges {
  Edge **edges;
  int64_t count, capacity;
} OutEdges;
MUST_CHECK bool node_append_out_edge(Graph *graph, Edge *edge, OutEdges *before, Status *status);
/* There must be room. */
static inline void node_put_out_edge(Edge *edge) {
  Node *src = edge->src;
  edge->place = src->num_out_edges;
  src->out_edges[src->num_out_edges++] = edge;
}
void node_restore_out_edges(Node *src, const OutEdges *before);
/* "Input 0 of node c was passed int32 from b:0 incompatible with expected float." */
MUST_CHECK bool graph_check_edge_types(const Node *src, int src_output, const Node *dst, int dst_input,
                                       Status *status);
/* OUT_OF_RANGE "Node 'A' (type: 'OneOutput', num of outputs: 1) does not have output 1" */
MUST_CHECK bool graph_check_output(const Node *node, int index, Status *status);
/* "n", "n:2", "^n" in the graph's arena; `always_index` writes "n:0" as well. */
MUST_CHECK bool graph_input_text(Graph *graph, const Node *src, int index, bool always_index, char **text,
                                 Status *status);

/* graph_add_operation (graph_operation.c) for a NodeDef without inputs that is in the graph's arena: the node
 * takes it over. After an error it must not be used any more. */
MUST_CHECK bool graph_take_operation(Graph *graph, NodeDef *def, const NodeOutput *inputs, int num_inputs,
                                     Node *const *control_inputs, int num_control_inputs, Node **node,
                                     Status *status);

/* --- edges (graph_edge.c) --- */

/* There are `more` ids for edges, and room for them in the table of ids if there is one. */
MUST_CHECK bool graph_reserve_edge_ids(Graph *graph, int64_t more, Status *status);
/* Puts an edge into the lists of its ends, which have room, and gives it an id. */
void graph_connect(Graph *graph, Edge *edge);
/* graph_add_edge for data; the NodeDef says "n:0" even for output 0 if `always_index`. */
MUST_CHECK bool graph_add_data_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input,
                                    bool always_index, Edge **edge, Status *status);
/* An edge that is in place gets its id and counts. */
void graph_number_edge(Graph *graph, Edge *edge);
/* The edge has left all lists: it does not count any more, and pointers to it are stale. */
void graph_retire_edge(Graph *graph, Edge *edge);
/* The table of ids goes; it is made again when it is needed. */
void graph_drop_edge_ids(Graph *graph);
/* All edges by id in memory of the heap, which is the caller's; NULL when out of memory. */
Edge **graph_collect_edges(const Graph *graph);
static inline bool edge_is_special(const Edge *edge) {
  return edge->src->id == SOURCE_ID || edge->dst->id == SINK_ID;
}
/* The edge between two nodes of which one is source or sink, or NULL. */
Edge *graph_special_edge(Node *src, Node *dst);
/* *out stays as it was when the edge is there already. */
MUST_CHECK bool graph_add_special_edge(Graph *graph, Node *src, Node *dst, Edge **out, Status *status);
void graph_remove_special_edge(Graph *graph, Edge *edge);
/* The node lost an edge: it is looked at again by the next graph_fixup_source_and_sink_edges. */
static inline void graph_unfix_node(Graph *graph, const Node *node) {
  if (node->id > SINK_ID && node->id < graph->fixed_until) graph->fixed_until = node->id;
}

/* --- names (graph_names.c) --- */

/* A node joins or leaves those that its name stands for. */
MUST_CHECK bool graph_register_name(Graph *graph, Node *node, Status *status);
void graph_unregister_name(Graph *graph, Node *node);
/* A name is gone: it, and scopes in front of it, may be free now. */
void graph_forget_free_names(Graph *graph, const char *removed);
/* Several nodes have the name. */
bool graph_name_is_ambiguous(const Graph *graph, const char *name);

/* Brings the set of prefixes up to date with all nodes. */
MUST_CHECK bool graph_index_prefixes(Graph *graph, Status *status);
/* A node has the name, or names begin with it and '/'. Prefixes must be indexed. */
bool graph_name_in_use(const Graph *graph, const char *name);

/* --- functions (graph_functions.c) --- */

/* Adds without copying; both must live in the graph's arena. */
MUST_CHECK bool graph_take_function(Graph *graph, FunctionDef *function, Status *status);
/* How many functions and gradients there are, to come back to. */
typedef struct FunctionMark {
  FunctionLibraryMark library;
  const CachedBody *bodies; /* later ones may call functions that are dropped */
} FunctionMark;
FunctionMark graph_function_mark(const Graph *graph);
void graph_drop_functions(Graph *graph, FunctionMark mark);

/* --- values (constant_value.c, partial_shape.c) --- */

/* The value of an output when it can be computed from constants; borrowed from the cache, NULL when
 * unknown. */
MUST_CHECK bool graph_cached_constant(Graph *graph, NodeOutput output, const Tensor **value, Status *status);
/* The value of an integer vector as a shape whose sizes may be unknown; NULL when nothing is known of it. */
MUST_CHECK bool graph_partial_shape(Graph *graph, NodeOutput output, ShapeHandle *shape, Status *status);
/* Merges a shape that a GraphDef gives for output `i` with what was inferred. */
MUST_CHECK bool graph_merge_shape_proto(Graph *graph, Node *node, int i, const TensorShapeProto *proto,
                                        Status *status);
/* A context for making shapes outside of a shape function. */
InferenceContext graph_shape_context(Graph *graph, const Node *node);
/* Shapes are being inferred until is_inferring is set back; FAILED_PRECONDITION when they are already. */
MUST_CHECK bool graph_begin_inference(Graph *graph, Status *status);
/* graph_infer_shapes without coming back from errors. */
MUST_CHECK bool graph_run_shape_fn(Graph *graph, Node *node, Status *status);
/* No output of the node has handle data. */
void node_clear_handles(Node *node);

/* --- calls of functions (function_bodies.c) --- */

/* The function that a node calls, when its shapes are to follow from the body. */
typedef struct FunctionCall {
  const FunctionDef *function; /* NULL: none */
  const AttrEntry *const *attrs;
  int num_attrs;
} FunctionCall;
FunctionCall graph_function_call(const Graph *graph, const Node *node);
/* Infers the body for the call's inputs and sets its outputs. */
MUST_CHECK bool graph_infer_call(Graph *graph, const FunctionCall *call, InferenceContext *c, Status *status);
/* Drops the bodies made after `last`; NULL drops all. */
void graph_drop_bodies(Graph *graph, const CachedBody *last);
/* Which input of the call that is inferred a node of its body stands for; -1: none, or no call is
 * inferred. */
int graph_arg_index(const Graph *graph, const Node *node);

/* --- a set of small integers that gives its smallest member (id_set.c) --- */

enum { ID_SET_LEVELS = 6 };
typedef struct IdSet {
  uint64_t *levels[ID_SET_LEVELS]; /* a bit of level k + 1 tells whether a word of level k has any bit */
  int num_levels;
} IdSet;
MUST_CHECK bool id_set_init(IdSet *set, int64_t size, Status *status);
void id_set_free(IdSet *set);
void id_set_add(IdSet *set, int64_t id);
/* Removes the smallest member; -1 when the set is empty. */
int64_t id_set_take_first(IdSet *set);

/* --- loops (graph_while.c) --- */

void graph_forget_while_contexts(Graph *graph);

#endif
