/* Declarations shared by the files of the import: its state and its phases. */
#ifndef TFCORE_GRAPH_IMPORT_INTERNAL_H_
#define TFCORE_GRAPH_IMPORT_INTERNAL_H_

#include "graph/graph_internal.h"

/* The source of a NodeDef's input: a node of the GraphDef, or an entry of the input map. */
typedef struct InputRef {
  int32_t source; /* >= 0: index in the GraphDef; < 0: -1 - index of the input map */
  int32_t index;  /* output, or CONTROL_SLOT */
} InputRef;

typedef struct MapEntry {
  Str name; /* of the key */
  int index;
  NodeOutput value;
  int32_t next; /* another entry for the same name, or -1 */
  bool used;
} MapEntry;

/* A loop's back edge, added when its source exists. */
typedef struct BackEdge {
  int32_t source; /* index in the GraphDef */
  int output;
  Node *dst;
  int dst_input;    /* or CONTROL_SLOT */
  int64_t position; /* in the input list of dst's NodeDef */
} BackEdge;

/* One input of the node under construction. */
typedef struct Input {
  Node *node;     /* NULL: a back edge from `source` */
  int32_t source; /* index in the GraphDef, or -1 for a node that existed before */
  int index;
  char *text;
} Input;

typedef struct Import {
  Graph *graph;
  const GraphDef *def;
  const ImportOptions *options;
  bool take;
  Status *status;

  int64_t count;    /* number of NodeDefs */
  int64_t first_id; /* nodes with ids below it existed before */
  int64_t created;  /* new nodes so far: graph->nodes[first_id ...] */
  int64_t processed;
  int producer; /* the GraphDef's producer version */

  StringMap names;      /* from names of the GraphDef to index + 1 */
  StringMap prefixes;   /* "a", "a/b" for names of the GraphDef; only with uniquify_names */
  char *prefix;         /* "" or ends with '/'; in the graph's arena */
  char *default_device; /* in the graph's arena, or NULL */

  MapEntry *map;
  StringMap map_names; /* to index + 1 in `map` */

  InputRef *refs;     /* of all NodeDefs, concatenated */
  int32_t *first_ref; /* per NodeDef, plus an end */
  int32_t *consumers; /* of all NodeDefs, concatenated: indexes of NodeDefs */
  int32_t *first_consumer;
  int32_t *pending;
  IdSet ready;
  Node **nodes;  /* per NodeDef; NULL until it is made */
  bool *renamed; /* per NodeDef: its name was made unique */
  int32_t *seen; /* per NodeDef: last node (index + 1) that has it as a control input */

  Input *inputs; /* of the node under construction */
  int64_t num_inputs, input_capacity;
  int64_t num_edges; /* added so far */
  BackEdge *back_edges;
  int64_t num_back_edges, back_edge_capacity;
} Import;

bool import_is_merge(const NodeDef *def);
bool import_is_next_iteration(const NodeDef *def);

/* import_index.c: checks and indexes names, map and inputs; does not change the graph's contents. */
MUST_CHECK bool import_check_versions(const GraphDef *def, Status *status);
MUST_CHECK bool import_index_nodes(Import *import);
MUST_CHECK bool import_index_map(Import *import);
MUST_CHECK bool import_check_names(Import *import);
MUST_CHECK bool import_index_inputs(Import *import);
void import_free_index(Import *import);
/* The input map's entry for output `index` of `name`, or NULL. */
MapEntry *import_find_mapped(const Import *import, const char *name, size_t length, int index);

/* import_inputs.c: resolves the inputs of node `i` into import->inputs: replaces mapped ones, drops duplicate
 * control inputs, adds control dependencies. */
MUST_CHECK bool import_collect_inputs(Import *import, int64_t i);

/* import_convert.c: makes the nodes, each after its inputs. */
MUST_CHECK bool import_convert(Import *import);
MUST_CHECK bool import_back_edges(Import *import);
MUST_CHECK bool import_rename_colocation(Import *import);
/* Whether the GraphDef uses the name for a node or a scope. Indexed only with uniquify_names. */
bool import_name_in_def(const Import *import, const char *name);
/* The name of node `i` of the GraphDef after the import, unless it is made unique. */
char *import_prefixed(Import *import, const char *name);

#endif
