/* Where the nodes of inlined functions come from, so that their errors read as if the functions had been
 * called: "... [[{{node check}}]]\n\t [[inner]]\n\t [[call]]". */
#ifndef TFCORE_RUNTIME_CALL_SITES_H_
#define TFCORE_RUNTIME_CALL_SITES_H_

#include "graph/graph.h"

typedef struct CallSite {
  const char *node;    /* the node's name in the function */
  const char *callers; /* what an error adds, the innermost call first: "\n\t [[inner]]\n\t [[call]]" */
} CallSite;

/* Of the nodes of one graph. All zero but for `arena`: none yet. */
typedef struct CallSites {
  Arena *arena;
  StringMap nodes; /* by name, to CallSite */
  int64_t caller;  /* the id of the last call, and what its nodes have as callers */
  const char *callers;
  bool failed; /* memory ran out */
} CallSites;

/* For FunctionBodySource.inlined: `added` was added for `caller`. */
void call_sites_note(CallSites *sites, const Node *caller, const Node *added);
/* NULL for a node that was there before, and when `sites` is NULL. */
const CallSite *call_sites_find(const CallSites *sites, const char *node);
void call_sites_free(CallSites *sites);

#endif
