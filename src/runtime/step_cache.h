/* The programs of a session by the signatures of its steps. TensorFlow calls this the cache of executors.
 *
 *   const PreparedStep *prepared;
 *   step_cache_prepare(cache, &signature, &prepared, &status);
 *   step_cache_use(cache, prepared, &program, &status);
 *   ... step_program_begin(program, ...) ...
 *   step_program_unref(program);
 *
 * The cache looks a request up as the caller wrote it, without sorting. Requests that differ only in the
 * order of feeds and fetches share a program, whose arguments and results are sorted by name. Where the graph
 * does not know all sizes of the feeds, a request has them (StepSignature.feed_dims), and gets a program that
 * is optimized for them. Later shapes of a request share one program, so that it is compiled a few times at
 * most.
 */
#ifndef TFCORE_RUNTIME_STEP_CACHE_H_
#define TFCORE_RUNTIME_STEP_CACHE_H_

#include "runtime/client_graph.h"
#include "runtime/placed_graph.h"
#include "runtime/step_program.h"

typedef struct StepCache StepCache;

/* A request and the program that serves it. Owned by the cache. Only its program ever changes: it is compiled
 * again when the graph has changed. */
typedef struct PreparedStep {
  struct CachedProgram *cached;
  int num_feeds, num_fetches;
  const NodeOutput *feeds; /* in the caller's order */
  const int *feed_order;   /* argument i of the program is the caller's feed feed_order[i] */
  const int *fetch_order;  /* result i of the program is the caller's fetch fetch_order[i] */
} PreparedStep;

/* All borrowed; they outlive the cache. `placed` is where the nodes of `graph` are; NULL when they have been
 * assigned their devices. NULL when out of memory. */
StepCache *step_cache_new(Graph *graph, SessionDevices *devices, PlacedGraph *placed);
/* No program is in use. NULL is fine. */
void step_cache_free(StepCache *cache);

/* After this call, a request that the cache does not know, with the same or other sizes, fails with
 * FAILED_PRECONDITION "Session has been finalized.". */
void step_cache_finalize(StepCache *cache);

/* For this function and the next, the caller has locked the graph and checked `asked`
 * (step_signature_check). Errors are those of client_graph_of_step and step_program_compile; they leave the
 * cache as it was. */
MUST_CHECK bool step_cache_prepare(StepCache *cache, const StepSignature *asked,
                                   const PreparedStep **prepared, Status *status);
/* Sets *program to the program for the current graph. Release it with step_program_unref. */
MUST_CHECK bool step_cache_use(StepCache *cache, const PreparedStep *prepared, StepProgram **program,
                               Status *status);

int64_t step_cache_num_programs(const StepCache *cache);

#endif
