/* Graph: nodes, edges, and everything that is known of them: names, types, shapes, versions, functions.
 *
 * A graph owns an arena: nodes, edges, NodeDefs, shapes live there until graph_free. Ids are never reused.
 * Every call that adds something either succeeds or leaves the graph as it was, memory included.
 *
 *   Graph *graph = graph_new();
 *   graph_add_operation(graph, def, inputs, 2, NULL, 0, &node, &status);
 *
 * Node 0 is `_SOURCE`, node 1 `_SINK`, edge 0 the control edge between them, as in TensorFlow. Other edges
 * from source and to sink are not made: nothing reads them. Not thread-safe: one writer, and no reader while
 * it writes.
 */
#ifndef TFCORE_GRAPH_GRAPH_H_
#define TFCORE_GRAPH_GRAPH_H_

#include "base/string_map.h"
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
  int64_t id;
  Node *src;
  int src_output; /* CONTROL_SLOT for a control edge */
  Node *dst;
  int dst_input; /* CONTROL_SLOT for a control edge */
} Edge;

static inline bool edge_is_control(const Edge *edge) { return edge->src_output == CONTROL_SLOT; }

struct Node {
  int64_t id;
  const char *name;
  Graph *graph; /* NULL once the node was removed: a stale pointer can be detected */
  NodeDef *def; /* complete: defaults are filled in; the input list is kept equal to the edges */
  const Op *op; /* NULL for source and sink. For a call of a function, `def` is the function's signature */
  int num_inputs, num_outputs;
  const DataType *input_types, *output_types; /* references as dtype + 100 */
  Edge **inputs; /* per data input its edge; NULL while an input is not connected */
  Edge **control_inputs;
  int64_t num_control_inputs, control_input_capacity;
  Edge **out_edges; /* data and control, in order of insertion */
  int64_t num_out_edges, out_edge_capacity;
  ShapeHandle *output_shapes;        /* what shape inference knows */
  const HandleData **output_handles; /* for resource outputs, else NULL entries */
};

/* One value: output `index` of a node. A NULL node means "none". */
typedef struct NodeOutput {
  Node *node;
  int index;
} NodeOutput;

/* --- a graph's life --- */

Graph *graph_new(void);        /* NULL when out of memory */
void graph_free(Graph *graph); /* NULL is fine */
Arena *graph_arena(Graph *graph);
const VersionDef *graph_versions(const Graph *graph);
/* Counts every change to nodes that were there before (edges rewired, nodes removed), so that a plan made
 * earlier can tell that it is stale. Adding nodes does not count. */
int64_t graph_mutation_count(const Graph *graph);

/* --- reading --- */

int64_t graph_num_node_ids(const Graph *graph); /* ids run from 0; a removed node leaves a NULL */
int64_t graph_num_nodes(const Graph *graph);
int64_t graph_num_edges(const Graph *graph);
Node *graph_node(const Graph *graph, int64_t id);            /* NULL when removed or out of range */
Node *graph_find_node(const Graph *graph, const char *name); /* NULL when there is none; not source or sink */
/* "n", "n:1": NOT_FOUND or INVALID_ARGUMENT when there is no such output. */
MUST_CHECK bool graph_find_output(const Graph *graph, const char *name, NodeOutput *output, Status *status);
/* INVALID_ARGUMENT when the node is not (or no longer) of this graph. */
MUST_CHECK bool graph_check_node(const Graph *graph, const Node *node, Status *status);
/* The edge into data input `i`, or NULL. */
static inline Edge *node_input_edge(const Node *node, int i) { return node->inputs[i]; }
static inline DataType node_output_type(NodeOutput output) { return output.node->output_types[output.index]; }
/* "{name:'n' id:2 op device:{requested: '', assigned: ''} def:{...}}" */
void node_print(const Node *node, StrBuf *out);

/* --- building --- */

/* Adds a node with its edges and infers its shapes. `def` (copied) has name, op, attrs and device; its input
 * list is ignored and written from `inputs` and `control_inputs` (NULL entries are errors; duplicate control
 * inputs are kept once). Defaults are filled in and everything is checked: name valid and unused, op known,
 * attrs, number and types of inputs, shapes. */
MUST_CHECK bool graph_add_operation(Graph *graph, const NodeDef *def, const NodeOutput *inputs,
                                    int num_inputs, Node *const *control_inputs, int num_control_inputs,
                                    Node **node, Status *status);
/* Adds a bare node: no edges, no shape inference (its shapes are unknown); `def` is taken as it is and must
 * live in the graph's arena. */
MUST_CHECK bool graph_add_node(Graph *graph, NodeDef *def, Node **node, Status *status);
/* Data input `dst_input` must be free and the types must agree. Two CONTROL_SLOTs: as graph_add_control_edge,
 * but *edge is the edge that was there. */
MUST_CHECK bool graph_add_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input, Edge **edge,
                               Status *status);
/* Also writes "^src" into the NodeDef. Nothing happens (*edge NULL) when the edge is there already. */
MUST_CHECK bool graph_add_control_edge(Graph *graph, Node *src, Node *dst, Edge **edge, Status *status);
void graph_remove_edge(Graph *graph, Edge *edge);
/* Redirects data input `dst_input` of `dst`. OUT_OF_RANGE and INVALID_ARGUMENT as TensorFlow's UpdateEdge. */
MUST_CHECK bool graph_update_edge(Graph *graph, Node *new_src, int new_output, Node *dst, int dst_input,
                                  Status *status);
/* Removes the node and its edges. Not for source and sink. */
void graph_remove_node(Graph *graph, Node *node);
/* A name that no node has (it is not reserved until a node has it): `base` itself, else base_1, base_2, ...
 * Also avoids names that are a prefix scope in use. In the graph's arena; NULL when out of memory. */
const char *graph_unique_name(Graph *graph, const char *base);

/* --- shapes (shape_refiner.c) --- */

/* Runs shape inference for a node whose inputs were inferred before. A part of an input's value that
 * inference needs is computed from constants. graph_add_operation and the import call it. */
MUST_CHECK bool graph_infer_shapes(Graph *graph, Node *node, Status *status);
/* Merges the inferred shape with what the caller knows (TF_GraphSetTensorShape). */
MUST_CHECK bool graph_set_shape(Graph *graph, NodeOutput output, int rank /* UNKNOWN_RANK */,
                                const int64_t *dims, Status *status);
ShapeHandle graph_output_shape(NodeOutput output);
/* The value of an output when it can be computed from constants alone and is not larger than 1 KB; else
 * *known = false. */
MUST_CHECK bool graph_constant_value(Graph *graph, NodeOutput output, Tensor *value, bool *known,
                                     Status *status);

/* --- functions carried by the graph (graph_functions.c). Semantics of the library are in function/. --- */

/* Copies the function in; its name becomes an op of this graph. INVALID_ARGUMENT when another function or an
 * op has that name. */
MUST_CHECK bool graph_add_function(Graph *graph, const FunctionDef *function, Status *status);
const FunctionDef *graph_find_function(const Graph *graph, const char *name); /* NULL when there is none */
int64_t graph_num_functions(const Graph *graph);
const FunctionDef *graph_function(const Graph *graph, int64_t i);
MUST_CHECK bool graph_add_gradient_def(Graph *graph, const char *function, const char *gradient,
                                       Status *status);
const char *graph_find_gradient_def(const Graph *graph, const char *function); /* NULL when there is none */
/* The op of that name: of the registry, or a function of this graph. */
MUST_CHECK bool graph_look_up_op(const Graph *graph, const char *name, const Op **op, Status *status);

/* True for the op of a function: its `def` is the function's signature and it has no kernels. */
bool graph_op_is_function(const Op *op);

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

/* --- algorithms (graph_algorithm.c) --- */

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
/* Nodes of `set` (NULL: all but source and sink) with every node behind its inputs; ties in id order. A cycle
 * is INVALID_ARGUMENT naming a node on it. `fed` as above. */
MUST_CHECK bool graph_topological_order(const Graph *graph, const NodeSet *set, const NodeOutput *fed,
                                        int64_t num_fed, Arena *arena, Node ***order, int64_t *count,
                                        Status *status);

#endif
