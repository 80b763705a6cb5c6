/* The structs behind the opaque types of the C API. */
#ifndef TFCORE_C_API_C_API_INTERNAL_H_
#define TFCORE_C_API_C_API_INTERNAL_H_

#include <stdatomic.h>

#include "device/device.h"
#include "graph/graph.h"
#include "runtime/partial_run.h"
#include "runtime/session.h"
#include "tensorflow/c/c_api.h"
#include "tfcore/gradient_checker.h"

typedef struct Payload {
  struct Payload *next;
  char *key, *value;
} Payload;

struct TF_Status {
  Status status;
  Payload *payloads; /* payloads of the error in `status` */
};

struct TF_Tensor {
  Tensor tensor;
};

/* The user and the sessions of the graph hold references. */
struct TF_Graph {
  Graph *graph;
  atomic_int references;
  TF_Graph *parent; /* for cond and body of a TF_NewWhile: a reference to the graph of the loop; else NULL */
  TF_Output *parent_inputs;
};

struct TF_Session {
  Session *session;
  TF_Graph *graph;
  DeviceSet *devices;
  TF_Session *previous, *next; /* in the list of all sessions (c_api_session.c) */
};

/* TF_NewSession; with a manager (not NULL) on its devices. */
TF_Session *new_session(TF_Graph *graph, const TF_SessionOptions *opts, DeviceManager *manager,
                        TF_Status *status);

/* A function outside of any graph. */
struct TF_Function {
  Arena *arena;
  FunctionDef *def;
};

/* A TF_Operation is a Node of its graph. */
static inline Node *operation_node(const TF_Operation *oper) { return (Node *)oper; }
static inline TF_Operation *node_operation(const Node *node) { return (TF_Operation *)node; }
static inline NodeOutput to_node_output(TF_Output output) {
  return (NodeOutput){operation_node(output.oper), output.index};
}
static inline TF_Output from_node_output(NodeOutput output) {
  return (TF_Output){node_operation(output.node), output.index};
}

/* Every call that reads or writes the mutable state of a graph holds the graph's lock. Calls may nest. A
 * thread never locks two graphs. */
static inline void lock_graph(const TF_Graph *graph) { graph_lock(graph->graph); }
static inline void unlock_graph(const TF_Graph *graph) { graph_unlock(graph->graph); }

/* Converts an array to NodeOutputs, with memory from `arena`. */
MUST_CHECK bool to_node_outputs(const TF_Output *outputs, int count, Arena *arena, NodeOutput **out,
                                Status *status);
/* Clears the status and its payloads. Every C API call with a status begins with this function. */
void start_status(TF_Status *status);
/* Parses a message given by the caller. INVALID_ARGUMENT "`problem`: ..." when it is malformed. */
MUST_CHECK bool parse_given(const ProtoDescriptor *descriptor, const void *bytes, size_t length,
                            const char *problem, Arena *arena, void **message, Status *status);
/* A TF_Tensor that takes the contents of `value`; NULL with status when out of memory. */
TF_Tensor *take_tensor(Tensor *value, Status *status);
/* Moves the contents of `text` into the buffer, which then owns them. */
MUST_CHECK bool fill_buffer(StrBuf *text, TF_Buffer *buffer, Status *status);
/* Serialises a message into the buffer. */
MUST_CHECK bool fill_buffer_with_message(const void *message, TF_Buffer *buffer, Status *status);
/* An empty function; NULL with status when out of memory. */
TF_Function *new_function(Status *status);
/* Gives it a copy, because parts of `def` are shared with another owner. */
MUST_CHECK bool keep_function(TF_Function *function, const FunctionDef *def, Status *status);
/* TF_GraphToFunctionWithControlOutputs without loading PART_TRAINING. */
TF_Function *function_of_graph(const TF_Graph *fn_body, const char *fn_name,
                               unsigned char append_hash_to_fn_name, int num_opers,
                               const TF_Operation *const *opers, int ninputs, const TF_Output *inputs,
                               int noutputs, const TF_Output *outputs, const char *const *output_names,
                               int ncontrol_outputs, const TF_Operation *const *control_outputs,
                               const char *const *control_output_names, const char *description,
                               TF_Status *status);
/* TF_ComputeGradientError without loading PART_TRAINING. */
void compute_gradient_error(TF_Graph *graph, const TF_Output *y, int ny, const TF_Output *x, int nx,
                            TF_Tensor *const *x_values, const TF_GradientCheckOptions *options,
                            double *max_error, TF_Status *status);
/* Checks that an output exists. */
MUST_CHECK bool check_output_index(TF_Output output, Status *status);
/* Registers the ops of this build, once. */
MUST_CHECK bool register_ops(Status *status);
void graph_reference(TF_Graph *graph);
/* Lists in `arena`, copied from what a caller passed; NULL when out of memory. */
AttrValue *attr_of_strings(Arena *arena, const void *const *values, const size_t *lengths, int count);
AttrValue *attr_of_bools(Arena *arena, const unsigned char *values, int count);
AttrValue *attr_of_types(Arena *arena, const TF_DataType *values, int count);
AttrValue *attr_of_shapes(Arena *arena, const int64_t *const *dims, const int *num_dims, int count);
/* Reads a serialised RunOptions. Its texts are in `arena`. */
MUST_CHECK bool parse_run_options(const TF_Buffer *bytes, Arena *arena, SessionRunOptions *options,
                                  bool *is_traced, Status *status);
/* TF_SessionRun in two parts: beginning the step, and running it for `slice_ms` or (0) to its end. */
MUST_CHECK bool begin_session_step(TF_Session *session, const SessionRunOptions *options,
                                   const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                                   const TF_Output *outputs, int noutputs,
                                   const TF_Operation *const *target_opers, int ntargets, SessionStep **step,
                                   Status *status);
/* The same for TF_SessionPRun. *step is NULL when no node had to run; the output values are set in that
 * case. */
MUST_CHECK bool begin_session_piece(TF_Session *session, const char *handle, const SessionRunOptions *options,
                                    const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                                    const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                                    SessionStep **step, Status *status);
/* `connected` holds pairs of outputs: readers of the second output of a pair read the first one instead. */
MUST_CHECK bool make_session_callable(TF_Session *session, const TF_Output *inputs, int ninputs,
                                      const TF_Output *outputs, int noutputs,
                                      const TF_Operation *const *target_opers, int ntargets,
                                      const TF_Output *connected, int nconnections,
                                      SessionCallable **callable, Status *status);
MUST_CHECK bool begin_callable_step(SessionCallable *callable, const SessionRunOptions *options,
                                    TF_Tensor *const *input_values, int ninputs, SessionStep **step,
                                    Status *status);
/* Frees the step unless it returns RUN_WAITING. `noutputs` is the same as when the step began. */
RunState advance_session_step(SessionStep *step, int64_t slice_ms, TF_Tensor **output_values, int noutputs,
                              Status *status);
/* A serialised RunMetadata. `trace` may be NULL. */
MUST_CHECK bool fill_buffer_with_run_metadata(StepTrace *trace, GraphDef **graphs, int num_graphs,
                                              TF_Buffer *buffer, Status *status);
/* A TF_Tensor that shares the memory of `tensor`; NULL when out of memory. */
TF_Tensor *share_tensor(const Tensor *tensor, Status *status);
/* Discards an operation under construction; NULL is fine. */
void free_description(TF_OperationDescription *desc);
/* The outputs that gradients treat as constants. */
typedef struct GradientStops {
  const TF_Output *outputs;
  int count;
} GradientStops;
/* TF_AddGradientsWithPrefix with `stops` (may be empty), except that an x that no gradient reaches gets
 * {NULL, 0} instead of failing the call. */
void add_gradients_to(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x, int nx,
                      const TF_Output *dx, const GradientStops *stops, TF_Output *dy, TF_Status *status);
/* The same, without loading PART_TRAINING. */
void add_graph_gradients(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x,
                         int nx, const TF_Output *dx, const GradientStops *stops, TF_Output *dy,
                         TF_Status *status);
/* Discards the result of a call that reports its outcome in its TF_Status. */
static inline void reported(bool ok) { (void)ok; }

#endif
