/* Moves products of loops in front of them:
 *
 *   round i: y = MatMul(TensorListGetItem(list, i), w)        list = TensorListFromTensor(x)
 *
 * becomes
 *
 *   round i: y = TensorListGetItem(products, i)     products = TensorListFromTensor(BatchMatMulV2(x, w))
 *
 * if list and w are the same in every round. A recurrent network multiplies its inputs with the same weights
 * in each step. One product of all of them reads the weights once, and has rows enough for all threads. A
 * bias that every round adds to y moves along.
 */
#ifndef TFCORE_OPTIMIZER_HOIST_PRODUCTS_H_
#define TFCORE_OPTIMIZER_HOIST_PRODUCTS_H_

#include "graph/graph.h"

/* The products take memory for all rounds: at most so many times the memory of x. */
enum { HOIST_MOST_GROWTH = 16 };

/* Of float or double, where static shapes show that neither list nor product can fail. Nodes of `keep` (may
 * be NULL) and nodes with control edges stay. On error (out of memory) the graph computes the same as before.
 */
MUST_CHECK bool graph_hoist_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
