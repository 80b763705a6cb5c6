/* Graph: nodes and edges with their names, types, shapes, versions and functions.
 *
 * A graph owns an arena: nodes, edges, NodeDefs and shapes live there until graph_free. Neither ids nor the
 * memory of removed nodes and edges are reused. So every call recognises a pointer to a removed node, or to
 * one of another living graph, and refuses it (INVALID_ARGUMENT; calls without a status do nothing). Every
 * call that adds something either succeeds or leaves the graph unchanged, memory included.
 *
 *   Graph *graph = graph_new();
 *   graph_add_operation(graph, def, inputs, 2, NULL, 0, &node, &status);
 *
 * Node 0 is `_SOURCE`, node 1 `_SINK`, edge 0 the control edge between them, as in TensorFlow. Every import
 * ends by adding a control edge from source to nodes without inputs, and one to sink from nodes without
 * consumers (graph_fixup_source_and_sink_edges). These edges are counted, have ids and can be added and
 * removed like others, but a node keeps them in two separate fields: they do not appear in its lists, its
 * NodeDef or exports, and the lists of source and sink are empty. The calls below do not lock: threads that
 * share a graph hold graph_lock while they read or write it. The id, name, op and types of a node never
 * change and may be read without the lock.
 */
#ifndef TFCORE_GRAPH_GRAPH_H_
#define TFCORE_GRAPH_GRAPH_H_

#include "base/string_map.h"
#include "graph/function_library.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

typedef struct Graph Graph;
typedef struct Node Node;

enum {
  CONTROL_SLOT = -1,
  SOURCE_ID = 0,
  SINK_ID = 1,
  GRAPH_DEF_PRODUCER = 2314,
  GRAPH_DEF_MIN_CONSUMER_FUNCTIONS = 12
};

/* The TensorFlow whose GraphDef version this library implements, for messages about versions. */
#define TENSORFLOW_VERSION "2.21.0"

typedef struct Edge {
  Node *src, *dst;
  int32_t id;
  int src_output; /* CONTROL_SLOT for a control edge */
  int dst_input;  /* CONTROL_SLOT for a control edge */
  int32_t place;  /* src->out_edges[place] is this edge; unused for edges of source and sink */
} Edge;

static inline bool edge_is_control(const Edge *edge) { return edge->src_output == CONTROL_SLOT; }

typedef struct WhileContext WhileContext;

struct Node {
  int32_t id;
  NodeClass node_class; /* the class of `op`: graph/node_class.h */
  const char *name;
  Graph *graph; /* NULL once the node was removed, which identifies stale pointers */
  NodeDef *def; /* with all defaults filled in; the input list always matches the edges */
  const Op *op; /* NULL for source and sink. For a function call, op->def is the function's signature */
  int num_inputs, num_outputs;
  const DataType *input_types, *output_types; /* references as dtype + 100 */
  Edge **inputs; /* the edge of each data input; NULL while the input is not connected */
  Edge **control_inputs;
  int32_t num_control_inputs, control_input_capacity;
  int32_t num_out_edges, out_edge_capacity;
  int32_t assigned_device;           /* index of a device name (node_assigned_device); 0: none */
  Edge **out_edges;                  /* data and control, unordered: the last one fills the place of a removed
                                      * one */
  Edge *source_edge;                 /* the edge from source, or NULL */
  Edge *sink_edge;                   /* the edge to sink, or NULL */
  ShapeHandle *output_shapes;        /* as inferred */
  const HandleData **output_handles; /* of resource outputs; NULL for others */
};

/* One value: output `index` of a node. A NULL node means that there is no value. */
typedef struct NodeOutput {
  Node *node;
  int index;
} NodeOutput;

/* The value that a data edge carries; no value for NULL, an input that has no edge yet. */
static inline NodeOutput edge_value(const Edge *edge) {
  return edge ? (NodeOutput){edge->src, edge->src_output} : (NodeOutput){NULL, 0};
}

/* --- creating and freeing --- */

Graph *graph_new(void); /* NULL when out of memory; uses the global registry of ops */
/* The ops are borrowed: they must outlive the graph. */
Graph *graph_new_with_ops(OpRegistry *ops);
void graph_free(Graph *graph); /* NULL is fine */
OpRegistry *graph_ops(const Graph *graph);
Arena *graph_arena(Graph *graph);
const VersionDef *graph_versions(const Graph *graph);
MUST_CHECK bool graph_set_versions(Graph *graph, const VersionDef *versions, Status *status); /* copied */
/* Counts the changes to existing parts (rewired edges, removed nodes, replaced functions), so that a program
 * can tell that it is stale. Adding nodes does not count. */
int64_t graph_mutation_count(const Graph *graph);

/* --- threads (graph_lock.c) --- */

/* Held by the calls of the C API, and by sessions while they check requests and compile programs and function
 * bodies, which may add functions to the library; not held while a step runs. The lock is recursive. A body
 * shares the lock of its library. A thread that holds the lock must not lock a session, because sessions lock
 * in the opposite order. */
void graph_lock(Graph *graph);
void graph_unlock(Graph *graph);

/* --- lookup --- */

int64_t graph_num_node_ids(const Graph *graph); /* one more than the highest id; removed nodes count */
int64_t graph_num_nodes(const Graph *graph);
int64_t graph_num_edges(const Graph *graph);
Node *graph_node(const Graph *graph, int64_t id);            /* NULL when removed or out of range */
Node *graph_find_node(const Graph *graph, const char *name); /* NULL if not found; does not find source and
                                                              * sink */
/* Parses "n" or "n:1". NOT_FOUND or INVALID_ARGUMENT when there is no such output. */
MUST_CHECK bool graph_find_output(const Graph *graph, const char *name, NodeOutput *output, Status *status);
/* INVALID_ARGUMENT, in TensorFlow's words, when the node does not belong to this graph or was removed. */
MUST_CHECK bool graph_check_node(const Graph *graph, const Node *node, Status *status);
/* The same for an edge. */
MUST_CHECK bool graph_check_edge(const Graph *graph, const Edge *edge, Status *status);
/* Also OUT_OF_RANGE when the node has no such output or input: "Node 'A' (type: 'OneOutput', num of outputs:
 * 1) does not have output 1". */
MUST_CHECK bool graph_check_output_tensor(const Graph *graph, const Node *node, int index, Status *status);
MUST_CHECK bool graph_check_input_tensor(const Graph *graph, const Node *node, int index, Status *status);
/* All edges by id, NULL for removed ones; valid until the next change. The first call makes the table, and so
 * does the first call after an import. */
MUST_CHECK bool graph_edges(Graph *graph, Edge *const **edges, int64_t *count, Status *status);
int64_t graph_num_edge_ids(const Graph *graph); /* one more than the highest id */
/* *edge is NULL when there is no edge with the id; false only when out of memory. */
MUST_CHECK bool graph_find_edge(Graph *graph, int64_t id, Edge **edge, Status *status);
/* Adds all nodes, including source and sink, to a map by name. If several have one name, the last one counts.
 * Keys live as long as the graph. The caller owns the map (zero-initialised, freed with string_map_free). */
MUST_CHECK bool graph_build_name_index(const Graph *graph, StringMap *index, Status *status);
/* The edge into data input `i`, or NULL. */
static inline Edge *node_input_edge(const Node *node, int i) { return node->inputs[i]; }
/* All incoming edges in one numbering: the data inputs, NULL for unconnected ones, then the control
 * inputs. */
static inline int64_t node_num_in_edges(const Node *node) {
  return (int64_t)node->num_inputs + node->num_control_inputs;
}
static inline Edge *node_in_edge(const Node *node, int64_t i) {
  return i < node->num_inputs ? node->inputs[i] : node->control_inputs[i - node->num_inputs];
}
static inline DataType node_output_type(NodeOutput output) { return output.node->output_types[output.index]; }
/* "{name:'n' id:2 op device:{requested: '', assigned: ''} def:{...}}" */
void node_print(const Node *node, StrBuf *out);
/* "[id=1 A:0 -> B:0]"; a removed edge prints "<NULL>" for its ends */
void edge_print(const Edge *edge, StrBuf *out);

/* --- building --- */

/* Adds a node with its edges and infers its shapes. `def` (copied) has name, op, attrs and device; its input
 * list is ignored and written from `inputs` and `control_inputs` (NULL entries are errors; duplicate control
 * inputs are kept once). Fills in defaults and checks everything: name unused, op known, attrs, number and
 * types of inputs, shapes. Any name is accepted; only the import requires names that a GraphDef can
 * contain. */
MUST_CHECK bool graph_add_operation(Graph *graph, const NodeDef *def, const NodeOutput *inputs,
                                    int num_inputs, Node *const *control_inputs, int num_control_inputs,
                                    Node **node, Status *status);
/* Adds a node without edges and without shape inference (its shapes are unknown). `def` is used as it is and
 * must be allocated in the graph's arena. The name may be in use: it then still refers to the first node that
 * has it. */
MUST_CHECK bool graph_add_node(Graph *graph, NodeDef *def, Node **node, Status *status);
/* Data input `dst_input` must be unconnected and the types must agree. Two CONTROL_SLOTs: as
 * graph_add_control_edge, except that *edge receives an existing edge. Edges from source and to sink are
 * always control edges. */
MUST_CHECK bool graph_add_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input, Edge **edge,
                               Status *status);
/* Also writes "^src" into the NodeDef. If the edge exists, nothing changes and *edge is NULL. */
MUST_CHECK bool graph_add_control_edge(Graph *graph, Node *src, Node *dst, Edge **edge, Status *status);
/* Removing a control edge also removes it from the NodeDef. The NodeDef of a data input keeps the name, which
 * exports use, until the input is connected again. */
void graph_remove_edge(Graph *graph, Edge *edge);
/* Adds a control edge from source to every node without incoming edges, and to sink from every node without
 * outgoing edges. The import calls it. Looks only at nodes that are new or lost an edge since the last call.
 * `changed` may be NULL. */
MUST_CHECK bool graph_fixup_source_and_sink_edges(Graph *graph, bool *changed, Status *status);
/* Redirects data input `dst_input` of `dst`. OUT_OF_RANGE and INVALID_ARGUMENT as in TensorFlow's
 * UpdateEdge. */
MUST_CHECK bool graph_update_edge(Graph *graph, Node *new_src, int new_output, Node *dst, int dst_input,
                                  Status *status);
/* Undoes the last graph_update_edge: the input reads `old` again, and the NodeDef has its old input string.
 * Allocates nothing. */
void graph_restore_edge(Graph *graph, NodeOutput old, char *old_text, Node *dst, int dst_input);
/* Removes the node and its edges. Refuses source and sink. */
void graph_remove_node(Graph *graph, Node *node);
/* Removes all nodes; versions and functions stay, and ids continue to count up. */
void graph_clear(Graph *graph);
/* Connects the next unconnected data input of a While or StatelessWhile node (the first inputs are always
 * connected). The NodeDef names it "n:0" even for output 0. INTERNAL for other nodes. */
MUST_CHECK bool graph_add_while_input(Graph *graph, Node *src, int src_output, Node *dst, Edge **edge,
                                      Status *status);
/* Appends inputs and outputs to a node, which may get another op: its op must have list arguments, or a new
 * op is given. The node keeps its name, id, edges and output shapes, so references to it stay valid. `def`
 * has the op and all attrs. Existing types must stay the same; otherwise, and when the op is unknown,
 * INVALID_ARGUMENT or NOT_FOUND. *before (in the graph's arena) lets graph_shrink_node restore the node; by
 * then the added outputs must have no edges. On error the node is unchanged. */
typedef struct NodeBefore NodeBefore;
MUST_CHECK bool graph_extend_node(Graph *graph, Node *node, const NodeDef *def, const NodeOutput *more_inputs,
                                  int num_more_inputs, const NodeBefore **before, Status *status);
void graph_shrink_node(Graph *graph, const NodeBefore *before);
/* The nodes of the extensions that were not undone, oldest first: one for each extension. NULL behind the
 * last one. */
Node *graph_extended_node(const Graph *graph, int64_t index);
/* Extends a node as its counterpart in another copy of the graph was: `def` is the NodeDef of that one, and
 * names the inputs that the node does not have yet. INVALID_ARGUMENT also when that one has nothing more. On
 * error the node is unchanged. */
MUST_CHECK bool graph_follow_extension(Graph *graph, Node *node, const NodeDef *def, Status *status);
/* prefix/_0, prefix/_1, ...: numbered by the graph, without comparing with existing names. In the graph's
 * arena; NULL when out of memory. */
const char *graph_new_name(Graph *graph, const char *prefix);
/* The same, skipping names in use: a graph that was exported and imported again may have such nodes. */
const char *graph_new_free_name(Graph *graph, const char *prefix);
/* A free name (which is not reserved): `base` itself, else base_1, base_2, ... Also avoids names that are the
 * scope of other nodes. In the graph's arena; NULL when out of memory. */
const char *graph_unique_name(Graph *graph, const char *base);

/* --- copies (graph_copy.c) --- */

/* A node with the same NodeDef, assigned device and op (looked up in this graph, which must know the function
 * if it is one), but without edges and shapes. `node` may be of another graph; its name is not made
 * unique. */
MUST_CHECK bool graph_copy_node(Graph *graph, const Node *node, Node **copy, Status *status);
/* Copies nodes, edges, shapes and versions into a graph without nodes, which must have the functions that the
 * nodes call. Ids keep their order and lose their gaps. */
MUST_CHECK bool graph_copy(Graph *graph, const Graph *from, Status *status);
/* A new graph with the same functions, nodes, edges, shapes and versions. The caller frees it. */
MUST_CHECK bool graph_clone(const Graph *graph, Graph **clone, Status *status);

/* --- devices (graph_devices.c) --- */

/* The index of a device name, stored once per graph; 0 is "". */
MUST_CHECK bool graph_intern_device(Graph *graph, const char *name, int *index, Status *status);
const char *graph_device(const Graph *graph, int index); /* "" when there is no such index */
/* Sets the device that a placer chose: exports have it in place of the requested device. "": none. */
MUST_CHECK bool graph_set_assigned_device(Graph *graph, Node *node, const char *name, Status *status);
const char *node_assigned_device(const Node *node);

/* --- while loops (graph_while.c) --- */

/* A loop that was built by TF_FinishWhile. Arrays have num_loop_vars entries. */
struct WhileContext {
  const char *frame_name;
  int num_loop_vars;
  Node **enter_nodes, **exit_nodes;
  NodeOutput cond_output;
  NodeOutput *body_inputs, *body_outputs;
};

/* Records a loop (copied) by its frame name and exit nodes. INVALID_ARGUMENT "WhileContext with frame name
 * 'f' already exists". If its nodes are removed, the record stays and has stale pointers. */
MUST_CHECK bool graph_add_while_context(Graph *graph, const WhileContext *context, const WhileContext **added,
                                        Status *status);
const WhileContext *graph_find_while_context(const Graph *graph, const char *frame_name); /* NULL if there is
                                                                                           * none */
const WhileContext *node_while_context(const Node *node); /* of an exit node, else NULL */

/* --- shapes (shape_refiner.c) --- */

/* Makes all output shapes unknown. */
void graph_forget_shapes(Graph *graph, Node *node);
/* Infers the node's shapes; its inputs must have been inferred. Input values that the shape function needs
 * are computed from constants. graph_add_operation and the import call it. */
MUST_CHECK bool graph_infer_shapes(Graph *graph, Node *node, Status *status);
/* Infers as far as possible: errors of a node appear when it runs. False only when out of memory. */
MUST_CHECK bool graph_infer_leniently(Graph *graph, Node *node, Status *status);
/* Infers what depends on the variables of loops again (loop_shapes.c), so that a variable has the shape that
 * enters the loop if every round keeps it. Shapes given to those nodes by graph_set_shape are lost. */
MUST_CHECK bool graph_infer_loops(Graph *graph, Status *status);
/* Infers a node again, as after graph_update_edge, and then the consumers of what changed. Shapes given to
 * those nodes by graph_set_shape are lost. In a loop, sizes that differ between iterations become unknown.
 * *refined (may be NULL) becomes true when a shape or handle data changed, and is not written otherwise. On
 * error all shapes are restored, but not the edge. */
MUST_CHECK bool graph_update_shapes(Graph *graph, Node *node, bool *refined, Status *status);
/* Whether inference refuses ops without a shape function: INVALID_ARGUMENT "No shape inference function
 * exists for op 'X', did you forget to define it?". When off, as in a new graph, their outputs are
 * unknown. */
void graph_require_shape_fns(Graph *graph, bool require);
/* From now on inference gives TensorFlow's answers, even where these are assumptions: a loop without
 * output_shapes keeps the shapes of its inputs. In a new graph, all inferred shapes hold at run time. */
void graph_assume_shapes(Graph *graph);
/* Whether inference made an assumption; then a run must not rely on the shapes of this graph. */
bool graph_has_assumed_shapes(const Graph *graph);
/* Whether a node of the graph, or one that has been removed, asks for a device. */
bool graph_requests_devices(const Graph *graph);
/* Merges the caller's shape into the inferred one (TF_GraphSetTensorShape). */
MUST_CHECK bool graph_set_shape(Graph *graph, NodeOutput output, int rank /* UNKNOWN_RANK */,
                                const int64_t *dims, Status *status);
ShapeHandle graph_output_shape(NodeOutput output);
/* The value of an output if it follows from constants alone and has at most 1 KB; else *known = false. */
MUST_CHECK bool graph_constant_value(Graph *graph, NodeOutput output, Tensor *value, bool *known,
                                     Status *status);

/* --- shapes through calls of functions (function_bodies.c) --- */

/* A function with bound attrs, as a graph. It is the one form in which functions are inferred, spliced,
 * differentiated, inlined and compiled (function/function_body.h makes it). The graph (graph_new_body) uses
 * the functions of a library, which must outlive it. Arguments are its `_Arg` nodes, results its `_Retval`
 * nodes, both by their attr `index`; lists are expanded. Passes may remove and replace all other nodes. */
typedef struct FunctionBody {
  const char *name; /* the function's name */
  Graph *graph;     /* owned; the arrays live in its arena */
  Node **arg_nodes, **ret_nodes, **control_ret_nodes;
  const DataType *arg_types, *ret_types;
  int num_args, num_rets, num_control_rets;
} FunctionBody;

void function_body_free(FunctionBody *body); /* NULL is fine */

/* Makes the body of a function of `library`, with source and sink connected. The body must not point into
 * `attrs`. */
typedef bool (*FunctionBodyFn)(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                               int num_attrs, FunctionBody **body, Status *status);

/* Sets the function that makes bodies for shape inference. From then on a node that calls a function of the
 * graph (its op is the function, or it is a PartitionedCall or StatefulPartitionedCall) gets the shapes that
 * the body has for its inputs: dimensions keep their identity through the call, and handle data and constants
 * are known inside. A body is made once for a function and its attrs. Recursion is INVALID_ARGUMENT. Shapes
 * are unknown for a node with `_disable_call_shape_inference`, for calls nested too deep or too often, and
 * for all calls while no function is set (NULL, as in a new graph). */
void graph_set_function_shapes(Graph *graph, FunctionBodyFn make_body);
/* An empty graph for a body. NULL when out of memory. */
Graph *graph_new_body(Graph *library);
/* The graph whose functions a body uses; for other graphs the graph itself. */
Graph *graph_library(Graph *graph);

/* --- functions carried by the graph (graph_functions.c; the library itself: function_library.h) --- */

/* The graph's functions; for a body those of its library. */
FunctionLibraryDefinition *graph_function_library(const Graph *graph);
/* As the calls on the library. A graph with functions also raises its min_consumer to a version that knows
 * functions. */
MUST_CHECK bool graph_add_function(Graph *graph, const FunctionDef *function, Status *status);
MUST_CHECK bool graph_add_function_library(Graph *graph, const FunctionDefLibrary *library, Status *status);
MUST_CHECK bool graph_add_gradient_def(Graph *graph, const char *function, const char *gradient,
                                       Status *status);
/* Shorthands for common lookups. */
const FunctionDef *graph_find_function(const Graph *graph, const char *name); /* NULL if not found */
int64_t graph_num_functions(const Graph *graph);
const FunctionDef *graph_function(const Graph *graph, int64_t i);
const char *graph_find_gradient_def(const Graph *graph, const char *function); /* NULL if not found */
/* The op of that name, from the registry or a function of this graph. */
MUST_CHECK bool graph_look_up_op(const Graph *graph, const char *name, const Op **op, Status *status);

/* function_library_has_effects for a node of the graph. */
MUST_CHECK bool node_has_effects(const Node *node, bool *effects, Status *status);
/* Whether kernels hold state that the node changes: it is, or calls, a stateful op with outputs that has no
 * resource among its inputs, such as a random generator. All calls of a function share that state. */
MUST_CHECK bool node_keeps_state(const Node *node, bool *keeps, Status *status);

/* --- import and export (graph_import.c, graph_export.c) --- */

typedef struct ImportOptions {
  const char *prefix;                 /* may be NULL or "" */
  const char *const *input_map_keys;  /* "n", "n:1", "^n" */
  const NodeOutput *input_map_values; /* index CONTROL_SLOT for "^n" */
  int num_input_map;
  Node *const *control_dependencies;
  int num_control_dependencies;
  const char *const *return_outputs; /* "n:1", names as in the GraphDef */
  int num_return_outputs;
  const char *const *return_nodes;
  int num_return_nodes;
  bool uniquify_names, uniquify_prefix;
  const char *default_device;
  bool skip_mapped_nodes;     /* nodes whose outputs are all in the input map are not imported */
  bool skip_colocation_check; /* "_class" may name nodes that the GraphDef does not have */
  bool internal_names;        /* names may begin with '_', as those that partitioning makes */
} ImportOptions;

typedef struct ImportResults {
  NodeOutput *return_outputs; /* arrays in the arena given to graph_import */
  Node **return_nodes;
  const char **missing_unused_input_map_keys;
  int num_missing_unused_input_map_keys;
} ImportResults;

/* Imports a GraphDef; on error the graph is unchanged. `def` is only read (what is kept is copied), unless
 * `take` is true: then its NodeDefs, which must be allocated in the graph's own arena, are kept and changed,
 * and `def` must not be used after an error. `options` and `results` may be NULL. */
MUST_CHECK bool graph_import(Graph *graph, GraphDef *def, bool take, const ImportOptions *options,
                             Arena *arena, ImportResults *results, Status *status);
/* The same from bytes, parsed into the graph's arena. */
MUST_CHECK bool graph_import_bytes(Graph *graph, const void *bytes, size_t length,
                                   const ImportOptions *options, Arena *arena, ImportResults *results,
                                   Status *status);
/* The GraphDef of the whole graph: nodes in id order, control inputs sorted after data inputs, functions,
 * versions. NodeDefs are shared. */
MUST_CHECK bool graph_to_def(const Graph *graph, Arena *arena, GraphDef **def, Status *status);

/* Only nodes with ids from `from_id` on; with functions only if `with_library`. */
MUST_CHECK bool graph_to_def_range(const Graph *graph, int64_t from_id, bool with_library, Arena *arena,
                                   GraphDef **def, Status *status);

/* --- algorithms (graph_algorithm.c, graph_prune.c) --- */

/* A set of nodes by id: one byte a node; arrays in `arena`. */
typedef struct NodeSet {
  uint8_t *member; /* by node id */
  int64_t size;    /* graph_num_node_ids when it was made */
} NodeSet;

MUST_CHECK bool node_set_new(const Graph *graph, Arena *arena, NodeSet *set, Status *status);
static inline bool node_set_has(const NodeSet *set, const Node *node) {
  return node->id < set->size && set->member[node->id];
}
/* All nodes from which a path of data and control edges leads to one of `roots`, without edges of fed
 * outputs. */
MUST_CHECK bool graph_reverse_reachable(const Graph *graph, Node *const *roots, int64_t num_roots,
                                        const NodeOutput *fed, int64_t num_fed, Arena *arena, NodeSet *set,
                                        Status *status);
/* Removes every node from which no path leads to one of `roots`. `any_removed` may be NULL. Does not restore
 * edges of source and sink: see graph_fixup_source_and_sink_edges. */
MUST_CHECK bool graph_prune_for_reverse_reachability(Graph *graph, Node *const *roots, int64_t num_roots,
                                                     bool *any_removed, Status *status);
/* The nodes of `set` (NULL: all but source and sink) in topological order; ties in id order. Edges out of a
 * NextIteration, which close loops, are ignored. Another cycle is INVALID_ARGUMENT naming a node on it. `fed`
 * as above. */
MUST_CHECK bool graph_topological_order(const Graph *graph, const NodeSet *set, const NodeOutput *fed,
                                        int64_t num_fed, Arena *arena, Node ***order, int64_t *count,
                                        Status *status);

/* --- copies that share (graph_share.c) --- */

/* Adds the nodes of `set` and the edges between them to `graph`, an empty body graph (graph_new_body) of the
 * same library. Texts, attr values, shapes and handle data are shared, so `from` must outlive `graph`. The
 * nodes keep the order of their ids. copies[id], NULL at entry, receives the copy of node `id` of `from`.
 * Edges for which `follow` (NULL: all) returns false, and edges from nodes outside of the set, are left out:
 * their inputs are not connected. After an error the graph can only be freed. */
typedef bool (*EdgeFilter)(const void *argument, const Edge *edge);
MUST_CHECK bool graph_share_nodes(Graph *graph, const Graph *from, const NodeSet *set, EdgeFilter follow,
                                  const void *argument, Node **copies, Status *status);
/* The same for the nodes of a list, in its order: they get ids in that order. */
MUST_CHECK bool graph_share_in_order(Graph *graph, Node *const *nodes, int64_t count, EdgeFilter follow,
                                     const void *argument, Node **copies, Status *status);

#endif
