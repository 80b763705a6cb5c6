/* Replaces division by a constant with a product with its reciprocals: vectors divide several times slower
 * than they multiply. The relative error is at most twice that of a division. TensorFlow's own optimizer does
 * the same. The division by 6 of hard swish is the common case.
 */
#ifndef TFCORE_OPTIMIZER_RECIPROCAL_FACTORS_H_
#define TFCORE_OPTIMIZER_RECIPROCAL_FACTORS_H_

#include "graph/graph.h"

/* Div and RealDiv of float and double, by constants of at most RECIPROCAL_MOST_ELEMENTS elements, all of
 * which have a normal reciprocal. Nodes of `keep` (may be NULL) and nodes with control edges stay. On error
 * (out of memory) the graph computes the same as before. */
enum { RECIPROCAL_MOST_ELEMENTS = 1 << 16 };
MUST_CHECK bool graph_multiply_by_reciprocals(Graph *graph, const NodeSet *keep, bool *changed,
                                              Status *status);

#endif
