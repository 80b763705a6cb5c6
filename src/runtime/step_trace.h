/* StepTrace: what a step ran and when, as TensorFlow's StepStats.
 *
 *   StepTrace *trace = step_trace_new();
 *   SessionRunOptions options = {.trace = trace};
 *   ... run a step with these options ...
 *   step_trace_stats(trace, &stats, &status);   one record for each node that ran
 *   step_trace_free(trace);
 *
 * Records are in the order in which nodes ended, by device. A called function's nodes precede the node that
 * called it. Constants, arguments and results have records, as in TensorFlow; Identity, Enter, Switch and
 * the like, and what sends values between devices, have none.
 */
#ifndef TFCORE_RUNTIME_STEP_TRACE_H_
#define TFCORE_RUNTIME_STEP_TRACE_H_

#include "graph/graph.h"
#include "op/step.h"
#include "proto/step_stats_protos.h"

/* As in TensorFlow, further records are dropped. */
enum { TRACE_MOST_RECORDS = 1 << 20 };
/* The name of the one allocator. */
#define TRACE_ALLOCATOR "cpu"

/* NULL when out of memory. */
StepTrace *step_trace_new(void);
void step_trace_free(StepTrace *trace); /* NULL is fine */
/* The records so far, borrowed. RESOURCE_EXHAUSTED when one could not be added. No step is adding others. */
MUST_CHECK bool step_trace_stats(StepTrace *trace, const StepStats **stats, Status *status);

/* --- recording: on any thread --- */

/* When a node was ready, began, and its kernel began and ended. Nanoseconds of base/clock.h. */
typedef struct TraceTimes {
  int64_t scheduled, began, op_began, op_ended;
} TraceTimes;

/* Until step_trace_unlock, records can be added, in memory of the arena. */
void step_trace_lock(StepTrace *trace);
void step_trace_unlock(StepTrace *trace);
Arena *step_trace_arena(const StepTrace *trace);
/* The moment as microseconds since 1970. */
int64_t step_trace_micros(const StepTrace *trace, int64_t nanoseconds);
/* The record of a node that has just ended in this step; NULL: the source of a run. The label begins with
 * `memory`. NULL when there is no room for it. */
NodeExecStats *step_trace_add(const Step *step, const Node *node, const TraceTimes *times,
                              const char *memory);
/* Adds an output to the record; `value` is not empty. */
OutputStats *step_trace_add_output(StepTrace *trace, NodeExecStats *record, int slot, const Tensor *value);
/* The caller ran out of memory. */
void step_trace_fail(StepTrace *trace);

#endif
