/* What the files of the import share: the state of one import, and its phases. */
#ifndef TFCORE_GRAPH_IMPORT_INTERNAL_H_
#define TFCORE_GRAPH_IMPORT_INTERNAL_H_

#include "graph/graph_internal.h"

/* Where an input of a NodeDef comes from: a node of the GraphDef, or an entry of the input map. */
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

/* An edge of a loop that is added when its source exists. */
typedef struct BackEdge {
  int32_t source; /* index in the GraphDef */
  int output;
  Node *dst;
  int dst_input;    /* or CONTROL_SLOT */
  int64_t position; /* in the input list of dst's NodeDef */
} BackEdge;

/* One input of the node that is being made. */
typedef struct Input {
  Node *node;     /* NULL: a back edge from `source` */
  int32_t source; /* index in the GraphDef, or -1 for a node that was there before */
  int index;
  char *text;
} Input;

typedef struct Import {
  Graph *graph;
  const GraphDef *def;
  const ImportOptions *options;
  bool take;
  Status *status;

  int64_t count;    /* of NodeDefs */
  int64_t first_id; /* ids below are of nodes that were there before */
  int64_t created;  /* new nodes so far: graph->nodes[first_id ...] */
  int64_t processed;
  int producer; /* of the GraphDef */

  StringMap names;      /* of the GraphDef, to index + 1 */
  StringMap prefixes;   /* "a", "a/b" for names of the GraphDef; only when names are made unique */
  char *prefix;         /* "" or ends with '/'; in the graph's arena */
  char *default_device; /* in the graph's arena, or NULL */

  MapEntry *map;
  StringMap map_names; /* to index + 1 in `map` */

  InputRef *refs;     /* of all NodeDefs, one after the other */
  int32_t *first_ref; /* per NodeDef, and one more */
  int32_t *consumers; /* of all NodeDefs, one after the other: indexes of NodeDefs */
  int32_t *first_consumer;
  int32_t *pending;
  IdSet ready;
  Node **nodes;  /* per NodeDef; NULL while it does not exist */
  bool *renamed; /* per NodeDef: its name was made unique */
  int32_t *seen; /* per NodeDef: last node (index + 1) that has it as a control input */

  Input *inputs; /* of the node being made */
  int64_t num_inputs, input_capacity;
  int64_t num_edges; /* made so far */
  BackEdge *back_edges;
  int64_t num_back_edges, back_edge_capacity;
} Import;

bool import_is_merge(const NodeDef *def);
bool import_is_next_iteration(const NodeDef *def);

/* import_index.c: names, map and inputs are checked and indexed; nothing of the graph changes. */
MUST_CHECK bool import_check_versions(const GraphDef *def, Status *status);
MUST_CHECK bool import_index_nodes(Import *import);
MUST_CHECK bool import_index_map(Import *import);
MUST_CHECK bool import_check_names(Import *import);
MUST_CHECK bool import_index_inputs(Import *import);
void import_free_index(Import *import);
/* The map's entry for output `index` of `name`, or NULL. */
MapEntry *import_find_mapped(const Import *import, const char *name, size_t length, int index);

/* import_inputs.c: the inputs of node `i`, resolved into import->inputs: mapped ones replaced, duplicate
 * control inputs dropped, control dependencies added. */
MUST_CHECK bool import_collect_inputs(Import *import, int64_t i);

/* import_convert.c: makes the nodes, each behind its inputs. */
MUST_CHECK bool import_convert(Import *import);
MUST_CHECK bool import_back_edges(Import *import);
MUST_CHECK bool import_rename_colocation(Import *import);
/* A name of the GraphDef is in use there, for a node or a scope. Indexed only when names are made unique. */
bool import_name_in_def(const Import *import, const char *name);
/* The name that node `i` of the GraphDef gets when it is not made unique. */
char *import_prefixed(Import *import, const char *name);

#endif
