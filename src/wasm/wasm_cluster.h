/* Steps in which several tasks of a cluster take part: what JavaScript carries from task to task. */
#ifndef TFCORE_WASM_WASM_CLUSTER_H_
#define TFCORE_WASM_WASM_CLUSTER_H_

#include "wasm/wasm_callable.h"
#include "wasm/wasm_session.h"

/* The values of one step in one task, by their keys: see runtime/task_rendezvous.h. */
TF_CAPI_EXPORT extern TF_WasmRendezvous *TF_WasmNewRendezvous(const char *task, TF_Status *status);
/* No step uses it any more. */
TF_CAPI_EXPORT extern void TF_WasmDeleteRendezvous(TF_WasmRendezvous *rendezvous);
/* Leaves a value, which it shares, under a key. `value` is NULL for one that is dead. Errors: the status of
 * the abort. */
TF_CAPI_EXPORT extern void TF_WasmLeaveValue(TF_WasmRendezvous *rendezvous, const char *key,
                                             const TF_Tensor *value, TF_Status *status);
/* Takes the value that was left first under a key: 1, and `*value` is to be deleted, or NULL if it is dead.
 * 0: there is no value yet, or an error: the status of the abort. */
TF_CAPI_EXPORT extern int TF_WasmTakeValue(TF_WasmRendezvous *rendezvous, const char *key, TF_Tensor **value,
                                           TF_Status *status);
/* The next key that the step waits for and that another task sends, each once; an empty buffer: none. */
TF_CAPI_EXPORT extern void TF_WasmWantedKey(TF_WasmRendezvous *rendezvous, TF_Buffer *key, TF_Status *status);
/* Ends the step, and all calls for it, with an error. The first one counts. */
TF_CAPI_EXPORT extern void TF_WasmAbortRendezvous(TF_WasmRendezvous *rendezvous, TF_Code code,
                                                  const char *message);

/* Imports a GraphDef that a master made of a part of its graph: nodes may have names that begin with '_', and
 * be colocated with nodes of other parts. */
TF_CAPI_EXPORT extern void TF_WasmImportPart(TF_Graph *graph, const void *graph_def, size_t length,
                                             TF_Status *status);

/* The session, which has run nothing yet, places nodes on `count` devices of other tasks, too. */
TF_CAPI_EXPORT extern void TF_WasmJoinDevices(TF_Session *session, const char *const *names,
                                              const int64_t *incarnations, int count, TF_Status *status);

/* What other tasks have to run of a callable's steps while the graph does not change: a graph for each of
 * their devices. */
typedef struct TF_WasmRemoteGraphs TF_WasmRemoteGraphs;
TF_CAPI_EXPORT extern TF_WasmRemoteGraphs *TF_WasmNewRemoteGraphs(TF_WasmCallable *callable,
                                                                  TF_Status *status);
TF_CAPI_EXPORT extern void TF_WasmDeleteRemoteGraphs(TF_WasmRemoteGraphs *graphs); /* NULL is fine */
TF_CAPI_EXPORT extern int TF_WasmRemoteGraphCount(const TF_WasmRemoteGraphs *graphs);
/* The device's full name; lives as long as `graphs`. */
TF_CAPI_EXPORT extern const char *TF_WasmRemoteGraphDevice(const TF_WasmRemoteGraphs *graphs, int index);
/* A serialised GraphDef. */
TF_CAPI_EXPORT extern void TF_WasmRemoteGraphDef(const TF_WasmRemoteGraphs *graphs, int index,
                                                 TF_Buffer *graph_def, TF_Status *status);

#endif
