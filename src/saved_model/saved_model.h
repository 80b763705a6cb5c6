/* SavedModels: <dir>/saved_model.pb (or .pbtxt) has graphs with signatures, each under a set of tags;
 * <dir>/variables/ is a checkpoint (checkpoint/bundle.h), and <dir>/assets/ has files that the graph reads.
 *
 *   MetaGraphDef *meta;
 *   SavedModelPart part;
 *   saved_model_read(dir, tags, num_tags, arena, &meta, &status);
 *   saved_model_known_part(meta->graph_def, ops, arena, &part, &status);
 *   graph_import(graph, part.graph, false, NULL, arena, NULL, &status);
 *   saved_model_start(session, graph, meta, &part, dir, NULL, &status);
 *
 * Errors have TensorFlow's codes and words.
 */
#ifndef TFCORE_SAVED_MODEL_SAVED_MODEL_H_
#define TFCORE_SAVED_MODEL_SAVED_MODEL_H_

#include "proto/saved_model_protos.h"
#include "runtime/session.h"

/* Reads the MetaGraph with exactly these tags, in any order; repeated tags count once. It is in `arena`.
 * NOT_FOUND when there is no such file or MetaGraph; DATA_LOSS for a malformed file. */
MUST_CHECK bool saved_model_read(const char *dir, const char *const *tags, int num_tags, Arena *arena,
                                 MetaGraphDef **meta, Status *status);

/* The part of a graph whose ops are registered. */
typedef struct SavedModelPart {
  GraphDef *graph;   /* shares its nodes with the whole graph */
  StringMap omitted; /* from the name of a node that was left out to the unknown op that it needs; the caller
                      * frees it */
} SavedModelPart;

/* Leaves out the nodes of unknown ops, those that call functions with such nodes, and all that need them, so
 * that a model loads whose unused parts have unknown ops. The arena gets the GraphDef; texts are borrowed. */
MUST_CHECK bool saved_model_known_part(const GraphDef *whole, OpRegistry *ops, Arena *arena,
                                       SavedModelPart *part, Status *status);

/* Restores the variables, if the model has some, and runs the operation that initialises the model; both are
 * fed with the paths of the assets. `graph` is that of the session, into which `part` was imported. `options`
 * apply to both steps; NULL: none. */
MUST_CHECK bool saved_model_start(Session *session, Graph *graph, const MetaGraphDef *meta,
                                  const SavedModelPart *part, const char *dir,
                                  const SessionRunOptions *options, Status *status);

#endif
