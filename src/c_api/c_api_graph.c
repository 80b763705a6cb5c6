/* Graphs: creating and deleting them, shapes, and queries of operations. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "function/function_body.h"
#include "ops/op_table.h"
#include "tensorflow/c/c_api_experimental.h"

const char *TF_Version(void) { return TENSORFLOW_VERSION "-tfcore-0.1.0"; }

bool register_ops(Status *status) {
  return op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, status);
}

TF_Graph *TF_NewGraph(void) {
  Status status;
  status_init(&status);
  TF_Graph *graph = mem_calloc(1, sizeof *graph);
  if (!graph) return NULL;
  graph->graph = register_ops(&status) ? graph_new() : NULL;
  if (!graph->graph) {
    mem_free(graph);
    return NULL;
  }
  graph_set_function_shapes(graph->graph, function_body_new_without_shapes);
  graph_require_shape_fns(graph->graph, true);
  graph_assume_shapes(graph->graph);
  atomic_init(&graph->references, 1);
  return graph;
}

void graph_reference(TF_Graph *graph) { atomic_fetch_add(&graph->references, 1); }

void TF_DeleteGraph(TF_Graph *graph) {
  if (!graph || atomic_fetch_sub(&graph->references, 1) != 1) return;
  graph_free(graph->graph);
  mem_free(graph);
}

bool to_node_outputs(const TF_Output *outputs, int count, Arena *arena, NodeOutput **out, Status *status) {
  *out = arena_calloc(arena, count, sizeof **out);
  if (!*out) return status_oom(status, "outputs");
  for (int i = 0; i < count; i++) (*out)[i] = to_node_output(outputs[i]);
  return true;
}

bool check_output_index(TF_Output output, Status *status) {
  if (!output.oper) return status_invalid(status, "Node is null");
  const Node *node = operation_node(output.oper);
  if (output.index >= 0 && output.index < node->num_outputs) return true;
  return status_set(status, CODE_OUT_OF_RANGE,
                    "Node '%s' (type: '%s', num of outputs: %d) does not have output %d", node->name,
                    node->def->op, node->num_outputs, output.index);
}

/* ---- shapes ---- */

void TF_GraphSetTensorShape(TF_Graph *graph, TF_Output output, const int64_t *dims, int num_dims,
                            TF_Status *status) {
  start_status(status);
  if (!check_output_index(output, &status->status)) return;
  lock_graph(graph);
  reported(graph_set_shape(graph->graph, to_node_output(output), num_dims, dims, &status->status));
  unlock_graph(graph);
}

void TF_SetRequireShapeInferenceFns(TF_Graph *graph, bool require) {
  lock_graph(graph);
  graph_require_shape_fns(graph->graph, require);
  unlock_graph(graph);
}

/* The graph must be locked, because inference may replace the output's shape. */
static ShapeHandle known_shape(TF_Graph *graph, TF_Output output, Status *status) {
  if (!check_output_index(output, status) ||
      !graph_check_node(graph->graph, operation_node(output.oper), status))
    return NULL;
  return graph_output_shape(to_node_output(output));
}

static int rank_of(ShapeHandle shape) { return shape && shape_rank_known(shape) ? shape_rank(shape) : -1; }

int TF_GraphGetTensorNumDims(TF_Graph *graph, TF_Output output, TF_Status *status) {
  start_status(status);
  lock_graph(graph);
  int rank = rank_of(known_shape(graph, output, &status->status));
  unlock_graph(graph);
  return rank;
}

static bool read_shape(ShapeHandle shape, int64_t *dims, int num_dims, Status *status) {
  if (rank_of(shape) != num_dims)
    return status_invalid(status, "Expected rank is %d but actual rank is %d", num_dims, rank_of(shape));
  for (int i = 0; i < num_dims; i++) dims[i] = dim_value(shape->dims[i]);
  return true;
}

void TF_GraphGetTensorShape(TF_Graph *graph, TF_Output output, int64_t *dims, int num_dims,
                            TF_Status *status) {
  start_status(status);
  lock_graph(graph);
  ShapeHandle shape = known_shape(graph, output, &status->status);
  if (status->status.code == CODE_OK) reported(read_shape(shape, dims, num_dims, &status->status));
  unlock_graph(graph);
}

/* ---- operations ---- */

const char *TF_OperationName(TF_Operation *oper) { return operation_node(oper)->name; }

const char *TF_OperationOpType(TF_Operation *oper) { return operation_node(oper)->def->op; }

const char *TF_OperationDevice(TF_Operation *oper) { return operation_node(oper)->def->device; }

int TF_OperationNumOutputs(TF_Operation *oper) { return operation_node(oper)->num_outputs; }

TF_DataType TF_OperationOutputType(TF_Output oper_out) {
  const Node *node = operation_node(oper_out.oper);
  bool exists = oper_out.index >= 0 && oper_out.index < node->num_outputs;
  return (TF_DataType)(exists ? node->output_types[oper_out.index] : DT_INVALID);
}

int TF_OperationNumInputs(TF_Operation *oper) { return operation_node(oper)->num_inputs; }

TF_DataType TF_OperationInputType(TF_Input oper_in) {
  const Node *node = operation_node(oper_in.oper);
  bool exists = oper_in.index >= 0 && oper_in.index < node->num_inputs;
  return (TF_DataType)(exists ? node->input_types[oper_in.index] : DT_INVALID);
}

static int arg_length(TF_Operation *oper, const char *arg_name, bool outputs, Status *status) {
  status_init(status);
  const Node *node = operation_node(oper);
  const OpDef *def = node->op->def;
  Arena *arena = arena_new();
  int *starts, length = -1;
  if (!arena) {
    status_oom(status, "an argument's range");
  } else if (node_def_arg_ranges(node->def, def, outputs, arena, &starts, status)) {
    size_t num_args = outputs ? def->n_output_arg : def->n_input_arg;
    for (size_t i = 0; i < num_args && length < 0; i++) {
      const ArgDef *arg = outputs ? def->output_arg[i] : def->input_arg[i];
      if (strcmp(arg->name, arg_name) == 0) length = starts[i + 1] - starts[i];
    }
    if (length < 0) status_invalid(status, "%s arg '%s' not found", outputs ? "Output" : "Input", arg_name);
  }
  arena_free(arena);
  return length;
}

int TF_OperationOutputListLength(TF_Operation *oper, const char *arg_name, TF_Status *status) {
  return arg_length(oper, arg_name, true, &status->status);
}

int TF_OperationInputListLength(TF_Operation *oper, const char *arg_name, TF_Status *status) {
  return arg_length(oper, arg_name, false, &status->status);
}

TF_Output TF_OperationInput(TF_Input oper_in) {
  const Node *node = operation_node(oper_in.oper);
  const Edge *edge =
      oper_in.index >= 0 && oper_in.index < node->num_inputs ? node_input_edge(node, oper_in.index) : NULL;
  return edge ? (TF_Output){node_operation(edge->src), edge->src_output} : (TF_Output){NULL, -1};
}

void TF_OperationAllInputs(TF_Operation *oper, TF_Output *inputs, int max_inputs) {
  int count = operation_node(oper)->num_inputs;
  for (int i = 0; i < count && i < max_inputs; i++) inputs[i] = TF_OperationInput((TF_Input){oper, i});
}

/* An operation's list of outgoing edges grows when another thread adds a consumer. */
static const Node *lock_consumers(const TF_Operation *oper) {
  const Node *node = operation_node(oper);
  graph_lock(node->graph);
  return node;
}

int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input *consumers, int max_consumers) {
  const Node *node = lock_consumers(oper_out.oper);
  int count = 0;
  for (int64_t i = 0; i < node->num_out_edges && count < max_consumers; i++) {
    const Edge *edge = node->out_edges[i];
    if (!edge_is_control(edge) && edge->src_output == oper_out.index) {
      consumers[count++] = (TF_Input){node_operation(edge->dst), edge->dst_input};
    }
  }
  graph_unlock(node->graph);
  return count;
}

int TF_OperationOutputNumConsumers(TF_Output oper_out) {
  const Node *node = lock_consumers(oper_out.oper);
  int count = 0;
  for (int64_t i = 0; i < node->num_out_edges; i++) {
    count += !edge_is_control(node->out_edges[i]) && node->out_edges[i]->src_output == oper_out.index;
  }
  graph_unlock(node->graph);
  return count;
}

int TF_OperationNumControlInputs(TF_Operation *oper) { return (int)operation_node(oper)->num_control_inputs; }

int TF_OperationGetControlInputs(TF_Operation *oper, TF_Operation **control_inputs, int max_control_inputs) {
  const Node *node = operation_node(oper);
  int count = 0;
  for (; count < node->num_control_inputs && count < max_control_inputs; count++) {
    control_inputs[count] = node_operation(node->control_inputs[count]->src);
  }
  return count;
}

int TF_OperationGetControlOutputs(TF_Operation *oper, TF_Operation **control_outputs,
                                  int max_control_outputs) {
  const Node *node = lock_consumers(oper);
  int count = 0;
  for (int64_t i = 0; i < node->num_out_edges && count < max_control_outputs; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge_is_control(edge)) control_outputs[count++] = node_operation(edge->dst);
  }
  graph_unlock(node->graph);
  return count;
}

int TF_OperationNumControlOutputs(TF_Operation *oper) {
  const Node *node = lock_consumers(oper);
  int count = 0;
  for (int64_t i = 0; i < node->num_out_edges; i++) count += edge_is_control(node->out_edges[i]);
  graph_unlock(node->graph);
  return count;
}

void TF_OperationToNodeDef(TF_Operation *oper, TF_Buffer *output_node_def, TF_Status *status) {
  start_status(status);
  reported(fill_buffer_with_message(operation_node(oper)->def, output_node_def, &status->status));
}

TF_Operation *TF_GraphOperationByName(TF_Graph *graph, const char *oper_name) {
  lock_graph(graph);
  Node *node = graph_find_node(graph->graph, oper_name);
  unlock_graph(graph);
  return node_operation(node);
}

TF_Operation *TF_GraphNextOperation(TF_Graph *graph, size_t *pos) {
  lock_graph(graph);
  size_t id = *pos > SINK_ID ? *pos : SINK_ID + 1;
  size_t end = (size_t)graph_num_node_ids(graph->graph);
  while (id < end && !graph_node(graph->graph, (int64_t)id)) id++;
  *pos = id < end ? id + 1 : end;
  Node *node = id < end ? graph_node(graph->graph, (int64_t)id) : NULL;
  unlock_graph(graph);
  return node_operation(node);
}

/* ---- ops ---- */

void TF_GraphGetOpDef(TF_Graph *graph, const char *op_name, TF_Buffer *output_op_def, TF_Status *status) {
  start_status(status);
  const Op *op;
  lock_graph(graph);
  if (graph_look_up_op(graph->graph, op_name, &op, &status->status))
    reported(fill_buffer_with_message(op->def, output_op_def, &status->status));
  unlock_graph(graph);
}

int TF_OpIsStateful(const char *op_type, TF_Status *status) {
  start_status(status);
  const Op *op;
  bool found = register_ops(&status->status) &&
               op_registry_look_up(op_registry_global(), op_type, &op, &status->status);
  return found && op->def->is_stateful;
}

TF_Buffer *TF_GetAllOpList(void) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  TF_Buffer *buffer = TF_NewBuffer();
  OpList *list;
  bool ok = arena && buffer && register_ops(&status) &&
            op_registry_export(op_registry_global(), false, arena, &list, &status) &&
            fill_buffer_with_message(list, buffer, &status);
  arena_free(arena);
  if (ok) return buffer;
  TF_DeleteBuffer(buffer);
  return NULL;
}
