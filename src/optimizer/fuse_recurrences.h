/* Puts one node in the place of a loop over the rows of a tensor:
 *
 *   round i: z = MatMul(h, w) + TensorListGetItem(list, i)    list = TensorListFromTensor(x)
 *            h = Tanh(z)                                      out = TensorListSetItem(out, i, h)
 *
 * becomes h, out = _FusedRecurrence(h, w, x), for as many rounds as x has rows (op/fused_op.h). A round of a
 * recurrent network takes a few microseconds, of which an executor of nodes takes a good part, and threads
 * that begin and end one loop after another take more.
 */
#ifndef TFCORE_OPTIMIZER_FUSE_RECURRENCES_H_
#define TFCORE_OPTIMIZER_FUSE_RECURRENCES_H_

#include "graph/graph.h"

/* The multiply-adds of all rounds, at most: about 10 milliseconds, for which a page would wait; and those
 * that take as long as it takes to begin a stage. */
enum { RECURRENCE_MOST_WORK = 1 << 28, RECURRENCE_STAGE_WORK = 1 << 13 };

/* Runs after graph_fuse_parts. The loop is outside of other loops, and counts from 0 by 1 to a constant. Its
 * nodes are products of matrices of a few rows, the batch, with one that is the same in all rounds, and
 * elementwise nodes on such matrices of float, all of known shapes; reads of parts of a tensor; and writes of
 * all results, or of the last one. A loop stays if a node may fail whose value no result needs, or if a
 * result may be alive without what another one needs. Nodes of `keep` (may be NULL) stay, and their loops. On
 * error (out of memory) the graph computes the same as before. */
MUST_CHECK bool graph_fuse_recurrences(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
