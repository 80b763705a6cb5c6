/* Puts lists in the place of TensorArrays that a loop over their elements reads or writes:
 *
 *   array = TensorArrayScatterV3([0, .., n - 1], x)       list = TensorListFromTensor(x)
 *   round i: TensorArrayReadV3(array, i)                  round i: TensorListGetItem(list, i)
 *
 *   round i: array = TensorArrayWriteV3(array, i, y)      round i: list = TensorListSetItem(list, i, y)
 *   TensorArrayGatherV3(array, [0, .., n - 1])            TensorListStack(list)
 *
 * Loops of TensorFlow 1 over time, and its map and scan, use such arrays. Passes over loops know lists. A
 * list is a value, an array is an object that nodes change; here no node sees the difference, because the
 * loop has a round for each element, and no other nodes know the array. No node fails with a list that would
 * not fail with an array, nor the other way round: indices are numbers of rounds, and shapes are known.
 */
#ifndef TFCORE_OPTIMIZER_LIST_ARRAYS_H_
#define TFCORE_OPTIMIZER_LIST_ARRAYS_H_

#include "graph/graph.h"

/* Nodes of `keep` (may be NULL) stay, and their arrays. On error (out of memory) the graph computes the same
 * as before. Arrays that are read need the shape of x, those that are written the shape of y, so
 * graph_infer_loops runs between both. */
MUST_CHECK bool graph_list_read_arrays(Graph *graph, const NodeSet *keep, bool *changed, Status *status);
MUST_CHECK bool graph_list_written_arrays(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
