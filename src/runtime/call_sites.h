/* The call sites of nodes from inlined functions. Their errors read as if the functions had been called:
 * "... [[{{node check}}]]\n\t [[inner]]\n\t [[call]]". */
#ifndef TFCORE_RUNTIME_CALL_SITES_H_
#define TFCORE_RUNTIME_CALL_SITES_H_

#include "graph/graph.h"

typedef struct CallSite {
  const char *node;    /* the node's name in the function */
  const char *callers; /* the suffix of error messages, innermost call first: "\n\t [[inner]]\n\t [[call]]" */
} CallSite;

/* The call sites of one graph. Initialise with zeros and an `arena`. */
typedef struct CallSites {
  Arena *arena;
  StringMap nodes; /* from node name to CallSite */
  int64_t caller;  /* the id of the last caller, and the `callers` of its nodes */
  const char *callers;
  bool failed; /* memory ran out */
} CallSites;

/* The callback for FunctionBodySource.inlined: `added` was added for `caller`. */
void call_sites_note(CallSites *sites, const Node *caller, const Node *added);
/* The callback for FunctionBodySource.lowered: errors of `added`, and of what it calls, name `replaced`. */
void call_sites_note_lowered(CallSites *sites, const Node *replaced, const Node *added);
/* NULL for a node that no call added, and when `sites` is NULL. */
const CallSite *call_sites_find(const CallSites *sites, const char *node);
void call_sites_free(CallSites *sites);

#endif
