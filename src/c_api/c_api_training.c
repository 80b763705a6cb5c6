/* The calls that need PART_TRAINING, which they load. */
#include "c_api/c_api_internal.h"
#include "op/engine_parts.h"
#include "tensorflow/c/c_api_experimental.h"

void add_gradients_to(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x, int nx,
                      const TF_Output *dx, const GradientStops *stops, TF_Output *dy, TF_Status *status) {
  start_status(status);
  if (engine_part_need(PART_TRAINING, &status->status))
    add_graph_gradients(g, prefix, y, ny, x, nx, dx, stops, dy, status);
}

void TF_AddGradientsWithPrefix(TF_Graph *g, const char *prefix, TF_Output *y, int ny, TF_Output *x, int nx,
                               TF_Output *dx, TF_Status *status, TF_Output *dy) {
  add_gradients_to(g, prefix, y, ny, x, nx, dx, NULL, dy, status);
}

void TF_AddGradients(TF_Graph *g, TF_Output *y, int ny, TF_Output *x, int nx, TF_Output *dx,
                     TF_Status *status, TF_Output *dy) {
  add_gradients_to(g, NULL, y, ny, x, nx, dx, NULL, dy, status);
}

void TF_ComputeGradientError(TF_Graph *graph, const TF_Output *y, int ny, const TF_Output *x, int nx,
                             TF_Tensor *const *x_values, const TF_GradientCheckOptions *options,
                             double *max_error, TF_Status *status) {
  start_status(status);
  if (engine_part_need(PART_TRAINING, &status->status))
    compute_gradient_error(graph, y, ny, x, nx, x_values, options, max_error, status);
}

TF_Function *TF_GraphToFunctionWithControlOutputs(
    const TF_Graph *fn_body, const char *fn_name, unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation *const *opers, int ninputs, const TF_Output *inputs, int noutputs,
    const TF_Output *outputs, const char *const *output_names, int ncontrol_outputs,
    const TF_Operation *const *control_outputs, const char *const *control_output_names,
    const TF_FunctionOptions *opts, const char *description, TF_Status *status) {
  (void)opts;
  start_status(status);
  if (!engine_part_need(PART_TRAINING, &status->status)) return NULL;
  return function_of_graph(fn_body, fn_name, append_hash_to_fn_name, num_opers, opers, ninputs, inputs,
                           noutputs, outputs, output_names, ncontrol_outputs, control_outputs,
                           control_output_names, description, status);
}

TF_Function *TF_GraphToFunction(const TF_Graph *fn_body, const char *fn_name,
                                unsigned char append_hash_to_fn_name, int num_opers,
                                const TF_Operation *const *opers, int ninputs, const TF_Output *inputs,
                                int noutputs, const TF_Output *outputs, const char *const *output_names,
                                const TF_FunctionOptions *opts, const char *description, TF_Status *status) {
  return TF_GraphToFunctionWithControlOutputs(fn_body, fn_name, append_hash_to_fn_name, num_opers, opers,
                                              ninputs, inputs, noutputs, outputs, output_names, 0, NULL, NULL,
                                              opts, description, status);
}
