/* Declarations shared by the files of graph/: the structs behind the handles, marks for rolling back, and the
 * parts of an operation that can fail, separated from the parts that cannot. */
#ifndef TFCORE_GRAPH_GRAPH_INTERNAL_H_
#define TFCORE_GRAPH_GRAPH_INTERNAL_H_

#include "base/sync.h"
#include "graph/function_library_internal.h"
#include "graph/graph.h"

/* A value or partial shape that was computed for shape inference, or the fact that it is unknown. Entries are
 * allocated in the graph's arena and linked newest first, so that rolling back the arena can drop exactly the
 * newer ones. */
typedef enum ValueState { VALUE_PENDING, VALUE_UNKNOWN, VALUE_KNOWN } ValueState;

typedef struct CachedValue {
  struct CachedValue *previous;
  Node *node;
  bool is_partial_shape;
  ValueState state;
  Tensor *outputs;           /* if known: one per output of the node */
  ShapeHandle partial_shape; /* of output 0; NULL when unknown */
} CachedValue;

typedef struct NodeEntry {
  Node node; /* first: a Node is its NodeEntry */
  CachedValue *value, *partial_shape;
  char **own_inputs; /* the NodeDef's input list once the graph has allocated it, with this capacity */
  int32_t input_capacity;
  uint32_t visit;        /* for walks: equal to graph->visit when the walk has visited the node */
  int32_t while_context; /* index + 1 of the loop of which the node is an exit; 0: none */
  bool loose_controls;   /* the NodeDef came with control inputs that may have no edges (yet) */
} NodeEntry;

static inline NodeEntry *node_entry(Node *node) { return (NodeEntry *)node; }

/* Arrays with the arguments of one shape inference; reused for all nodes. */
typedef struct RefinerScratch {
  char *memory;
  int64_t capacity;
} RefinerScratch;

/* A body in the graph's cache, made when shape inference first needs it (function_bodies.c). On the heap and
 * linked newest first, so that rolling back drops exactly the newer ones. */
typedef struct CachedBody {
  struct CachedBody *previous;
  char *key;
  FunctionBody *body;
  Node **order; /* topological, ignoring the edges that close loops */
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
  Node **extended; /* see graph_extended_node */
  int64_t num_extended, extended_capacity;
  Edge **edges; /* by id, NULL for removed ones; the table is NULL until an edge is looked up by id */
  int64_t edge_capacity;
  int64_t fixed_until;  /* all nodes with smaller ids have the edges from source and to sink that they need */
  StringMap names;      /* to the node of that name with the smallest id; without source and sink */
  StringMap duplicates; /* from the name of several nodes to their number (int64_t in the arena) */
  int64_t name_counter; /* for graph_new_name */
  VersionDef versions;

  /* "a" and "a/b" for a node a/b/c. Built when a name must first be made unique, for the nodes with ids below
   * prefixes_until. */
  StringMap prefixes;
  int64_t prefixes_until;
  StringMap suffixes; /* from a base name to k: base_1 ... base_k are in use */

  FunctionLibraryDefinition *functions; /* in the graph's arena; a body has no functions */

  bool requests_devices; /* a node that was added asked for a device */
  const char **devices;  /* by index; 0 is "" */
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

  /* Function calls. */
  FunctionBodyFn make_body;
  CachedBody *bodies;
  StringMap body_keys;       /* to CachedBody */
  int64_t bodies_generation; /* the library's generation when the bodies were made */
  int body_depth;            /* the nesting depth of bodies under inference */
  int64_t body_steps;        /* nodes of bodies inferred so far for the outermost node */
  /* For the graph of a body: the graph whose functions it uses, and, during inference, the call that its
   * arguments come from. */
  Graph *library;
  InferenceContext *call;
  const HandleData *no_handles[SHARED_HANDLES]; /* all NULL: shared by the nodes without handle data */
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
/* Releases the arena's memory, and drops the cached values and the bodies, made since the mark. Returns
 * false. */
bool graph_rollback(Graph *graph, GraphMark mark);
/* Drops cached values, after a change to nodes or shapes. */
void graph_forget_values(Graph *graph);

/* Begins a walk: afterwards no node is marked with graph->visit. */
void graph_new_visit(Graph *graph);

/* --- adding nodes (graph_edit.c) --- */

/* Reserves `count` more entries in the table of ids. */
MUST_CHECK bool graph_reserve_nodes(Graph *graph, int64_t count, Status *status);
/* A node with types, slots and unknown shapes, but without id and edges. The graph's tables do not contain
 * it. */
MUST_CHECK bool graph_make_node(Graph *graph, NodeDef *def, const Op *op, Node **node, Status *status);
/* The same with the op and types of another node, to which `def` must correspond; NULL when out of memory. */
Node *graph_make_twin(Graph *graph, NodeDef *def, const Node *like);
/* Gives a complete node its id and adds it to the tables. The entry and the name must have been reserved. */
void graph_insert_node(Graph *graph, Node *node);
/* "_SOURCE" and "_SINK" */
bool graph_is_reserved_name(const char *name);
/* Reserves more out edges of `node`; the existing ones are kept when memory runs out. */
MUST_CHECK bool node_reserve_out_edges(Graph *graph, Node *node, int64_t more, Status *status);
/* A source's list of edges before one was appended. Restore in reverse order. */
typedef struct OutEdges {
  Edge **edges;
  int64_t count, capacity;
} OutEdges;
MUST_CHECK bool node_append_out_edge(Graph *graph, Edge *edge, OutEdges *before, Status *status);
/* The space must have been reserved. */
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
/* "n", "n:2" or "^n" in the graph's arena; `always_index` writes "n:0" as well. */
MUST_CHECK bool graph_input_text(Graph *graph, const Node *src, int index, bool always_index, char **text,
                                 Status *status);

/* graph_add_operation (graph_operation.c) for a NodeDef without inputs in the graph's arena. The node
 * consumes it; after an error it must not be used any more. */
MUST_CHECK bool graph_take_operation(Graph *graph, NodeDef *def, const NodeOutput *inputs, int num_inputs,
                                     Node *const *control_inputs, int num_control_inputs, Node **node,
                                     Status *status);

/* --- edges (graph_edge.c) --- */

/* Reserves `more` ids for edges, and their entries in the table of ids if it exists. */
MUST_CHECK bool graph_reserve_edge_ids(Graph *graph, int64_t more, Status *status);
/* Appends an edge to the lists of its ends, which have space, and gives it an id. */
void graph_connect(Graph *graph, Edge *edge);
/* graph_add_edge for data; with `always_index` the NodeDef says "n:0" even for output 0. */
MUST_CHECK bool graph_add_data_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input,
                                    bool always_index, Edge **edge, Status *status);
/* Gives an edge that is in its lists an id, and counts it. */
void graph_number_edge(Graph *graph, Edge *edge);
/* Uncounts an edge that was removed from all lists; pointers to it become stale. */
void graph_retire_edge(Graph *graph, Edge *edge);
/* Frees the table of ids; it is made again on demand. */
void graph_drop_edge_ids(Graph *graph);
/* All edges by id, in heap memory that the caller frees; NULL when out of memory. */
Edge **graph_collect_edges(const Graph *graph);
static inline bool edge_is_special(const Edge *edge) {
  return edge->src->id == SOURCE_ID || edge->dst->id == SINK_ID;
}
/* The edge between two nodes, one of which is source or sink; or NULL. */
Edge *graph_special_edge(Node *src, Node *dst);
/* If the edge exists, *out is not written. */
MUST_CHECK bool graph_add_special_edge(Graph *graph, Node *src, Node *dst, Edge **out, Status *status);
void graph_remove_special_edge(Graph *graph, Edge *edge);
/* The node lost an edge: graph_fixup_source_and_sink_edges must look at it again. */
static inline void graph_unfix_node(Graph *graph, const Node *node) {
  if (node->id > SINK_ID && node->id < graph->fixed_until) graph->fixed_until = node->id;
}

/* --- names (graph_names.c) --- */

/* Adds the node to, or removes it from, the nodes of its name. */
MUST_CHECK bool graph_register_name(Graph *graph, Node *node, Status *status);
void graph_unregister_name(Graph *graph, Node *node);
/* A name was removed: it, and the scopes that contain it, may be free now. */
void graph_forget_free_names(Graph *graph, const char *removed);
/* Whether several nodes have the name. */
bool graph_name_is_ambiguous(const Graph *graph, const char *name);

/* Adds the prefixes of nodes that were added since the last call. */
MUST_CHECK bool graph_index_prefixes(Graph *graph, Status *status);
/* Whether a node has the name, or names begin with it and '/'. Prefixes must be up to date. */
bool graph_name_in_use(const Graph *graph, const char *name);

/* --- functions (graph_functions.c) --- */

/* Adds without copying; both must be allocated in the graph's arena. */
MUST_CHECK bool graph_take_function(Graph *graph, FunctionDef *function, Status *status);
/* The numbers of functions and gradients, for rolling back. */
typedef struct FunctionMark {
  FunctionLibraryMark library;
  const CachedBody *bodies; /* later bodies may call functions that are dropped */
} FunctionMark;
FunctionMark graph_function_mark(const Graph *graph);
void graph_drop_functions(Graph *graph, FunctionMark mark);

/* --- values (constant_value.c, partial_shape.c) --- */

/* The value of an output if it follows from constants; borrowed from the cache, NULL when unknown. */
MUST_CHECK bool graph_cached_constant(Graph *graph, NodeOutput output, const Tensor **value, Status *status);
/* The value of an integer vector as a shape whose sizes may be unknown; NULL when nothing is known. */
MUST_CHECK bool graph_partial_shape(Graph *graph, NodeOutput output, ShapeHandle *shape, Status *status);
/* Merges a shape given by a GraphDef for output `i` into the inferred one. */
MUST_CHECK bool graph_merge_shape_proto(Graph *graph, Node *node, int i, const TensorShapeProto *proto,
                                        Status *status);
/* A context for making shapes outside of shape functions. */
InferenceContext graph_shape_context(Graph *graph, const Node *node);
/* Sets is_inferring, which the caller resets. FAILED_PRECONDITION when inference is already running. */
MUST_CHECK bool graph_begin_inference(Graph *graph, Status *status);
/* graph_infer_shapes without rolling back on errors. */
MUST_CHECK bool graph_run_shape_fn(Graph *graph, Node *node, Status *status);
/* Clears the handle data of all outputs. */
void node_clear_handles(Node *node);

/* --- calls of functions (function_bodies.c) --- */

/* The function that a node calls, if its shapes are inferred from the body. */
typedef struct FunctionCall {
  const FunctionDef *function; /* NULL if there is none */
  const AttrEntry *const *attrs;
  int num_attrs;
} FunctionCall;
FunctionCall graph_function_call(const Graph *graph, const Node *node);
/* Infers the body for the call's inputs and sets the call's outputs. */
MUST_CHECK bool graph_infer_call(Graph *graph, const FunctionCall *call, InferenceContext *c, Status *status);
/* Drops the bodies made after `last`; NULL drops all. */
void graph_drop_bodies(Graph *graph, const CachedBody *last);
/* The index of the call's input that a node of the body represents; -1 if it is no argument, or no call is
 * being inferred. */
int graph_arg_index(const Graph *graph, const Node *node);

/* --- a set of small integers with their minimum (id_set.c) --- */

enum { ID_SET_LEVELS = 6 };
typedef struct IdSet {
  uint64_t *levels[ID_SET_LEVELS]; /* a bit of level k + 1 is set when the word of level k has a set bit */
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
