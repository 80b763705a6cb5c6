/* Graph: nodes, edges, and everything that is known of them: names, types, shapes, versions, functions.
 *
 * A graph owns an arena: nodes, edges, NodeDefs, shapes live there until graph_free. Ids are never reused,
 * and neither is the memory of removed nodes and edges: a pointer to one that was removed, or that belongs to
 * another living graph, is recognised by every call here and refused (INVALID_ARGUMENT; calls without a
 * status do nothing). Every call that adds something either succeeds or leaves the graph as it was, memory
 * included.
 *
 *   Graph *graph = graph_new();
 *   graph_add_operation(graph, def, inputs, 2, NULL, 0, &node, &status);
 *
 * Node 0 is `_SOURCE`, node 1 `_SINK`, edge 0 the control edge between them, as in TensorFlow. Nodes without
 * inputs get a control edge from source and nodes without consumers one to sink at the end of every import
 * (graph_fixup_source_and_sink_edges). These edges count, have ids and can be added and removed as others,
 * but they stand in two fields of their own: the lists of a node, its NodeDef and exports have none of them,
 * and the lists of source and sink are empty. The calls below do not lock: where several threads share a
 * graph, each holds graph_lock while it reads or writes it. What a node is (id, name, op, types) never
 * changes and is read without the lock.
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

/* What messages about versions call this library: the TensorFlow whose GraphDef version it is. */
#define TENSORFLOW_VERSION "2.21.0"

typedef struct Edge {
  Node *src, *dst;
  int32_t id;
  int src_output; /* CONTROL_SLOT for a control edge */
  int dst_input;  /* CONTROL_SLOT for a control edge */
  int32_t place;  /* src->out_edges[place] is this edge; not for edges of source and sink */
} Edge;

static inline bool edge_is_control(const Edge *edge) { return edge->src_output == CONTROL_SLOT; }

typedef struct WhileContext WhileContext;

struct Node {
  int32_t id;
  NodeClass node_class; /* that of `op`: graph/node_class.h */
  const char *name;
  Graph *graph; /* NULL once the node was removed: a stale pointer can be detected */
  NodeDef *def; /* complete: defaults are filled in; the input list is kept equal to the edges */
  const Op *op; /* NULL for source and sink. For a call of a function, `def` is the function's signature */
  int num_inputs, num_outputs;
  const DataType *input_types, *output_types; /* references as dtype + 100 */
  Edge **inputs; /* per data input its edge; NULL while an input is not connected */
  Edge **control_inputs;
  int32_t num_control_inputs, control_input_capacity;
  int32_t num_out_edges, out_edge_capacity;
  int32_t assigned_device;           /* index of a device name (node_assigned_device); 0: none */
  Edge **out_edges;                  /* data and control; where one is removed the last one takes its place */
  Edge *source_edge;                 /* from source, or NULL */
  Edge *sink_edge;                   /* to sink, or NULL */
  ShapeHandle *output_shapes;        /* what shape inference knows */
  const HandleData **output_handles; /* for resource outputs, else NULL entries */
};

/* One value: output `index` of a node. A NULL node means "none". */
typedef struct NodeOutput {
  Node *node;
  int index;
} NodeOutput;

/* --- a graph's life --- */

Graph *graph_new(void); /* NULL when out of memory; uses the global registry of ops */
/* The ops are borrowed: they must outlive the graph. */
Graph *graph_new_with_ops(OpRegistry *ops);
void graph_free(Graph *graph); /* NULL is fine */
OpRegistry *graph_ops(const Graph *graph);
Arena *graph_arena(Graph *graph);
const VersionDef *graph_versions(const Graph *graph);
MUST_CHECK bool graph_set_versions(Graph *graph, const VersionDef *versions, Status *status); /* copied */
/* Counts every change to what was there before (edges rewired, nodes removed, functions replaced), so that a
 * program made earlier can tell that it is stale. Adding nodes does not count. */
int64_t graph_mutation_count(const Graph *graph);

/* --- threads (graph_lock.c) --- */

/* Held by the calls of the C API, and by sessions while they check what to run and make programs and bodies
 * of functions, which can add functions to the library; not while a step runs. A thread may lock several
 * times. The lock of a body is that of its library. A thread that holds the lock takes no session's mutex,
 * because sessions lock in the opposite order. */
void graph_lock(Graph *graph);
void graph_unlock(Graph *graph);

/* --- reading --- */

int64_t graph_num_node_ids(const Graph *graph); /* ids run from 0; a removed node leaves a NULL */
int64_t graph_num_nodes(const Graph *graph);
int64_t graph_num_edges(const Graph *graph);
Node *graph_node(const Graph *graph, int64_t id);            /* NULL when removed or out of range */
Node *graph_find_node(const Graph *graph, const char *name); /* NULL when there is none; not source or sink */
/* "n", "n:1": NOT_FOUND or INVALID_ARGUMENT when there is no such output. */
MUST_CHECK bool graph_find_output(const Graph *graph, const char *name, NodeOutput *output, Status *status);
/* INVALID_ARGUMENT when the node is not (or no longer) of this graph; in TensorFlow's words. */
MUST_CHECK bool graph_check_node(const Graph *graph, const Node *node, Status *status);
/* The same for an edge. */
MUST_CHECK bool graph_check_edge(const Graph *graph, const Edge *edge, Status *status);
/* Also OUT_OF_RANGE when the node has no such output or input: "Node 'A' (type: 'OneOutput', num of outputs:
 * 1) does not have output 1". */
MUST_CHECK bool graph_check_output_tensor(const Graph *graph, const Node *node, int index, Status *status);
MUST_CHECK bool graph_check_input_tensor(const Graph *graph, const Node *node, int index, Status *status);
/* All edges by id, NULL for those that were removed; valid until the next change. The graph makes the table
 * when it is asked for the first time, and after an import. */
MUST_CHECK bool graph_edges(Graph *graph, Edge *const **edges, int64_t *count, Status *status);
int64_t graph_num_edge_ids(const Graph *graph); /* ids run from 0 */
/* *edge is NULL when there is none with the id; false only when out of memory. */
MUST_CHECK bool graph_find_edge(Graph *graph, int64_t id, Edge **edge, Status *status);
/* The nodes by name, source and sink as well; of several with one name the last. Keys live as long as the
 * graph; the map is the caller's (zero-initialised, freed with string_map_free). */
MUST_CHECK bool graph_build_name_index(const Graph *graph, StringMap *index, Status *status);
/* The edge into data input `i`, or NULL. */
static inline Edge *node_input_edge(const Node *node, int i) { return node->inputs[i]; }
static inline DataType node_output_type(NodeOutput output) { return output.node->output_types[output.index]; }
/* "{name:'n' id:2 op device:{requested: '', assigned: ''} def:{...}}" */
void node_print(const Node *node, StrBuf *out);
/* "[id=1 A:0 -> B:0]"; the ends of a removed edge are "<NULL>" */
void edge_print(const Edge *edge, StrBuf *out);

/* --- building --- */

/* Adds a node with its edges and infers its shapes. `def` (copied) has name, op, attrs and device; its input
 * list is ignored and written from `inputs` and `control_inputs` (NULL entries are errors; duplicate control
 * inputs are kept once). Defaults are filled in and everything is checked: name unused, op known, attrs,
 * number and types of inputs, shapes. Any name will do here; only the import asks for names that can be
 * written. */
MUST_CHECK bool graph_add_operation(Graph *graph, const NodeDef *def, const NodeOutput *inputs,
                                    int num_inputs, Node *const *control_inputs, int num_control_inputs,
                                    Node **node, Status *status);
/* Adds a bare node: no edges, no shape inference (its shapes are unknown); `def` is taken as it is and must
 * live in the graph's arena. Other nodes may have the same name: it stands for the first of them then. */
MUST_CHECK bool graph_add_node(Graph *graph, NodeDef *def, Node **node, Status *status);
/* Data input `dst_input` must be free and the types must agree. Two CONTROL_SLOTs: as graph_add_control_edge,
 * but *edge is the edge that was there. From source and to sink only with two CONTROL_SLOTs. */
MUST_CHECK bool graph_add_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input, Edge **edge,
                               Status *status);
/* Also writes "^src" into the NodeDef. Nothing happens (*edge NULL) when the edge is there already. */
MUST_CHECK bool graph_add_control_edge(Graph *graph, Node *src, Node *dst, Edge **edge, Status *status);
/* A control edge leaves the NodeDef as well; a data input stays named there until it is connected again, and
 * is exported by that name. */
void graph_remove_edge(Graph *graph, Edge *edge);
/* A control edge from source to every node without edges into it, and to sink from every node without edges
 * out of it. The import calls it. Looks only at nodes that are new or lost an edge since. `changed` may be
 * NULL. */
MUST_CHECK bool graph_fixup_source_and_sink_edges(Graph *graph, bool *changed, Status *status);
/* Redirects data input `dst_input` of `dst`. OUT_OF_RANGE and INVALID_ARGUMENT as TensorFlow's UpdateEdge. */
MUST_CHECK bool graph_update_edge(Graph *graph, Node *new_src, int new_output, Node *dst, int dst_input,
                                  Status *status);
/* Takes back the graph_update_edge that came last: the input reads `old` again, and the NodeDef says so in
 * the words that it had. Needs no memory. */
void graph_restore_edge(Graph *graph, NodeOutput old, char *old_text, Node *dst, int dst_input);
/* Removes the node and its edges. Not for source and sink. */
void graph_remove_node(Graph *graph, Node *node);
/* Removes all nodes; versions, functions and the counting of ids stay. */
void graph_clear(Graph *graph);
/* The next data input of a While or StatelessWhile node that is not connected (the first ones are) is
 * connected, and named in the NodeDef as "n:0" even for output 0. INTERNAL for other nodes. */
MUST_CHECK bool graph_add_while_input(Graph *graph, Node *src, int src_output, Node *dst, Edge **edge,
                                      Status *status);
/* Gives a node more inputs and outputs behind those it has, where its op takes and gives lists or is another
 * one: it keeps name, id, edges and the shapes of its outputs, so that what refers to it stays right. `def`
 * has the op and all attrs. Types that are there stay; otherwise, and when the op is not known,
 * INVALID_ARGUMENT or NOT_FOUND. *before (in the graph's arena) is what graph_shrink_node needs to make the
 * node what it was; edges from the added outputs must be gone by then. On error the node is as it was. */
typedef struct NodeBefore NodeBefore;
MUST_CHECK bool graph_extend_node(Graph *graph, Node *node, const NodeDef *def, const NodeOutput *more_inputs,
                                  int num_more_inputs, const NodeBefore **before, Status *status);
void graph_shrink_node(Graph *graph, const NodeBefore *before);
/* prefix/_0, prefix/_1, ...: counted by the graph, not compared with the names of nodes. In the graph's
 * arena; NULL when out of memory. */
const char *graph_new_name(Graph *graph, const char *prefix);
/* The first of those names that no node has: a graph that was exported and read back may have such nodes. */
const char *graph_new_free_name(Graph *graph, const char *prefix);
/* A name that no node has (it is not reserved until a node has it): `base` itself, else base_1, base_2, ...
 * Also avoids names that are a prefix scope in use. In the graph's arena; NULL when out of memory. */
const char *graph_unique_name(Graph *graph, const char *base);

/* --- copies (graph_copy.c) --- */

/* A node with the same NodeDef, assigned device and op (looked up in this graph: a function must be known
 * here), but without edges and shapes. `node` may be of another graph; its name is not made unique. */
MUST_CHECK bool graph_copy_node(Graph *graph, const Node *node, Node **copy, Status *status);
/* Copies nodes, edges, shapes and versions into a graph that has no nodes; functions that are called must be
 * there already. Ids keep their order and lose their holes. */
MUST_CHECK bool graph_copy(Graph *graph, const Graph *from, Status *status);
/* A new graph with the same functions, nodes, edges, shapes and versions. The caller's to free. */
MUST_CHECK bool graph_clone(const Graph *graph, Graph **clone, Status *status);

/* --- devices (graph_devices.c) --- */

/* The index of a device name, kept once per graph; 0 is "". */
MUST_CHECK bool graph_intern_device(Graph *graph, const char *name, int *index, Status *status);
const char *graph_device(const Graph *graph, int index); /* "" when there is no such index */
/* Where a placer has put the node: exports say so instead of the device that was asked for. "": nowhere. */
MUST_CHECK bool graph_set_assigned_device(Graph *graph, Node *node, const char *name, Status *status);
const char *node_assigned_device(const Node *node);

/* --- while loops (graph_while.c) --- */

/* A loop that was built as a whole. Arrays have num_loop_vars entries. */
struct WhileContext {
  const char *frame_name;
  int num_loop_vars;
  Node **enter_nodes, **exit_nodes;
  NodeOutput cond_output;
  NodeOutput *body_inputs, *body_outputs;
};

/* Remembers a loop (copied) for its frame name and its exit nodes. INVALID_ARGUMENT "WhileContext with frame
 * name 'f' already exists". Nodes may be removed later: they are stale then, not forgotten. */
MUST_CHECK bool graph_add_while_context(Graph *graph, const WhileContext *context, const WhileContext **added,
                                        Status *status);
const WhileContext *graph_find_while_context(const Graph *graph, const char *frame_name); /* or NULL */
const WhileContext *node_while_context(const Node *node); /* of an exit node, else NULL */

/* --- shapes (shape_refiner.c) --- */

/* From now on nothing is known of the node's outputs. */
void graph_forget_shapes(Graph *graph, Node *node);
/* Runs shape inference for a node whose inputs were inferred before. A part of an input's value that
 * inference needs is computed from constants. graph_add_operation and the import call it. */
MUST_CHECK bool graph_infer_shapes(Graph *graph, Node *node, Status *status);
/* Infers as far as it goes: what is wrong with a node shows when it runs. False only when out of memory. */
MUST_CHECK bool graph_infer_leniently(Graph *graph, Node *node, Status *status);
/* Infers a node again, as after graph_update_edge, and then the consumers of what changed. What was said by
 * graph_set_shape of a node that is inferred again is forgotten. In a loop, sizes that differ from one round
 * to the next become unknown. *refined (may be NULL) becomes true when a shape or handle data changed, and
 * stays as it is otherwise. On error all shapes are as they were: the edge is not. */
MUST_CHECK bool graph_update_shapes(Graph *graph, Node *node, bool *refined, Status *status);
/* With true, inference refuses ops that have no shape function: INVALID_ARGUMENT "No shape inference
 * function exists for op 'X', did you forget to define it?". Otherwise, and in a new graph, their
 * outputs are unknown. */
void graph_require_shape_fns(Graph *graph, bool require);
/* From here on inference says what TensorFlow says of graphs, also where that is an assumption: a loop
 * without output_shapes keeps the shapes of its inputs. In a new graph all that is inferred holds when it
 * runs. */
void graph_assume_shapes(Graph *graph);
/* Whether something was assumed: a run must not rely on the shapes of this graph then. */
bool graph_has_assumed_shapes(const Graph *graph);
/* Merges the inferred shape with what the caller knows (TF_GraphSetTensorShape). */
MUST_CHECK bool graph_set_shape(Graph *graph, NodeOutput output, int rank /* UNKNOWN_RANK */,
                                const int64_t *dims, Status *status);
ShapeHandle graph_output_shape(NodeOutput output);
/* The value of an output when it can be computed from constants alone and is not larger than 1 KB; else
 * *known = false. */
MUST_CHECK bool graph_constant_value(Graph *graph, NodeOutput output, Tensor *value, bool *known,
                                     Status *status);

/* --- shapes through calls of functions (function_bodies.c) --- */

/* A function with its attrs bound, as a graph of its own: the one form in which functions are inferred,
 * spliced, differentiated, inlined and compiled (function/function_body.h makes it). The graph knows the
 * functions of a library (graph_new_body), which must outlive it. Arguments are its `_Arg` nodes, results its
 * `_Retval` nodes, both by their attr `index`; lists are expanded. Passes may remove and replace all other
 * nodes. */
typedef struct FunctionBody {
  const char *name; /* of the function */
  Graph *graph;     /* owned; the arrays live in its arena */
  Node **arg_nodes, **ret_nodes, **control_ret_nodes;
  const DataType *arg_types, *ret_types;
  int num_args, num_rets, num_control_rets;
} FunctionBody;

void function_body_free(FunctionBody *body); /* NULL is fine */

/* Makes the body of a function of `library`, with source and sink connected. Nothing of it may point into
 * `attrs`. */
typedef bool (*FunctionBodyFn)(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                               int num_attrs, FunctionBody **body, Status *status);

/* From now on a node that calls a function of the graph (its op is the function, or it is a PartitionedCall
 * or StatefulPartitionedCall) gets the shapes that the body gives for its inputs: dimensions keep their
 * identity through it, and handle data and constants are known inside. Bodies are made once for a function
 * and its attrs. A body that calls itself, at whatever depth, is INVALID_ARGUMENT. A node with
 * `_disable_call_shape_inference`, and calls nested so deep or so often that it would take too long, have
 * unknown shapes; and so have all calls while there is no such function (NULL, as it is in a new graph). */
void graph_set_function_shapes(Graph *graph, FunctionBodyFn make_body);
/* An empty graph for a body. NULL when out of memory. */
Graph *graph_new_body(Graph *library);
/* The graph whose functions a body knows; the graph itself when it is no body. */
Graph *graph_library(Graph *graph);

/* --- functions carried by the graph (graph_functions.c; the library itself: function_library.h) --- */

/* The graph's functions; of a body those of its library. */
FunctionLibraryDefinition *graph_function_library(const Graph *graph);
/* As the calls on the library, and a graph with functions asks for consumers that know them. */
MUST_CHECK bool graph_add_function(Graph *graph, const FunctionDef *function, Status *status);
MUST_CHECK bool graph_add_function_library(Graph *graph, const FunctionDefLibrary *library, Status *status);
MUST_CHECK bool graph_add_gradient_def(Graph *graph, const char *function, const char *gradient,
                                       Status *status);
/* Shorthands for what is asked most. */
const FunctionDef *graph_find_function(const Graph *graph, const char *name); /* NULL when there is none */
int64_t graph_num_functions(const Graph *graph);
const FunctionDef *graph_function(const Graph *graph, int64_t i);
const char *graph_find_gradient_def(const Graph *graph, const char *function); /* NULL when there is none */
/* The op of that name: of the registry, or a function of this graph. */
MUST_CHECK bool graph_look_up_op(const Graph *graph, const char *name, const Op **op, Status *status);

/* function_library_has_effects of a node of a graph. */
MUST_CHECK bool node_has_effects(const Node *node, bool *effects, Status *status);

/* --- import and export (graph_import.c, graph_export.c) --- */

typedef struct ImportOptions {
  const char *prefix;                 /* "" or NULL: none */
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
  bool skip_mapped_nodes;     /* nodes of which every output is in the input map are not imported */
  bool skip_colocation_check; /* "_class" may name nodes that the GraphDef does not have */
} ImportOptions;

typedef struct ImportResults {
  NodeOutput *return_outputs; /* arrays in the arena given to graph_import */
  Node **return_nodes;
  const char **missing_unused_input_map_keys;
  int num_missing_unused_input_map_keys;
} ImportResults;

/* Imports a GraphDef; on error the graph is as it was. `def` is only read (what is kept is copied) unless
 * `take` is true: then its NodeDefs, which must live in the graph's own arena, are kept and changed (after an
 * error `def` is not to be used any more). `options` and `results` may be NULL. */
MUST_CHECK bool graph_import(Graph *graph, GraphDef *def, bool take, const ImportOptions *options,
                             Arena *arena, ImportResults *results, Status *status);
/* From bytes: parses into the graph's arena and imports. */
MUST_CHECK bool graph_import_bytes(Graph *graph, const void *bytes, size_t length,
                                   const ImportOptions *options, Arena *arena, ImportResults *results,
                                   Status *status);
/* The GraphDef of the whole graph: nodes in id order, control inputs sorted behind data inputs, functions,
 * versions. Node defs are shared. */
MUST_CHECK bool graph_to_def(const Graph *graph, Arena *arena, GraphDef **def, Status *status);

/* Only the nodes with ids from `from_id` on; the functions only if `with_library`. */
MUST_CHECK bool graph_to_def_range(const Graph *graph, int64_t from_id, bool with_library, Arena *arena,
                                   GraphDef **def, Status *status);

/* --- algorithms (graph_algorithm.c, graph_prune.c) --- */

/* A set of nodes by id: one byte a node; arrays in `arena`. */
typedef struct NodeSet {
  uint8_t *member; /* by node id */
  int64_t size;    /* graph_num_node_ids at the time */
} NodeSet;

MUST_CHECK bool node_set_new(const Graph *graph, Arena *arena, NodeSet *set, Status *status);
static inline bool node_set_has(const NodeSet *set, const Node *node) {
  return node->id < set->size && set->member[node->id];
}
/* All nodes from which one of `roots` can be reached, over data and control edges, but not through the edges
 * of fed outputs. */
MUST_CHECK bool graph_reverse_reachable(const Graph *graph, Node *const *roots, int64_t num_roots,
                                        const NodeOutput *fed, int64_t num_fed, Arena *arena, NodeSet *set,
                                        Status *status);
/* Removes every node from which none of `roots` can be reached. `any_removed` may be NULL. Edges of source
 * and sink are not made anew: see graph_fixup_source_and_sink_edges. */
MUST_CHECK bool graph_prune_for_reverse_reachability(Graph *graph, Node *const *roots, int64_t num_roots,
                                                     bool *any_removed, Status *status);
/* Nodes of `set` (NULL: all but source and sink) with every node behind its inputs; ties in id order. Edges
 * out of a NextIteration, which close loops, are not looked at. Another cycle is INVALID_ARGUMENT naming a
 * node on it. `fed` as above. */
MUST_CHECK bool graph_topological_order(const Graph *graph, const NodeSet *set, const NodeOutput *fed,
                                        int64_t num_fed, Arena *arena, Node ***order, int64_t *count,
                                        Status *status);

/* --- views of a part (graph_share.c) --- */

/* Adds the nodes of `set` and the edges between them to `graph`, an empty graph of a body (graph_new_body) of
 * the same library, which `from` must outlive: texts, attr values, shapes and handle data are shared, not
 * copied. The nodes keep the order of their ids. copies[id], NULL at entry, becomes the node for node `id` of
 * `from`. An edge for which `follow` (NULL: all) says false is left out, as is one from a node outside of the
 * set: its input is not connected. After an error the graph can only be freed. */
typedef bool (*EdgeFilter)(const void *argument, const Edge *edge);
MUST_CHECK bool graph_share_nodes(Graph *graph, const Graph *from, const NodeSet *set, EdgeFilter follow,
                                  const void *argument, Node **copies, Status *status);

#endif
