/* TensorFlow's C API: graphs, operations, gradients, sessions. Names, signatures and ownership are
 * TensorFlow's, so that a program written for TensorFlow's C library compiles and links unchanged.
 *
 * Every call that can fail takes a TF_Status last and sets it (also to OK). Strings are NUL-terminated. A
 * TF_Operation belongs to its graph and lives as long. Functions are thread-safe on different graphs; calls
 * that change the same graph must not run at the same time. */
#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_export.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed bytes. */
typedef struct TF_StringView {
  const char *data;
  size_t len;
} TF_StringView;

/* The version of TensorFlow whose behaviour is followed, and of this library. Static text. */
TF_CAPI_EXPORT extern const char *TF_Version(void);

/* ---- graphs ---- */

typedef struct TF_Graph TF_Graph;
typedef struct TF_Operation TF_Operation;
typedef struct TF_OperationDescription TF_OperationDescription;
typedef struct TF_Function TF_Function;

/* Output `index` of an operation; input `index` of one. */
typedef struct TF_Output {
  TF_Operation *oper;
  int index;
} TF_Output;
typedef struct TF_Input {
  TF_Operation *oper;
  int index;
} TF_Input;

/* NULL when out of memory. */
TF_CAPI_EXPORT extern TF_Graph *TF_NewGraph(void);
/* Frees the graph once no session uses it any more. */
TF_CAPI_EXPORT extern void TF_DeleteGraph(TF_Graph *graph);

/* `dims` of -1 are unknown sizes; num_dims -1 an unknown rank. Merges with what is known already:
 * INVALID_ARGUMENT on conflict. */
TF_CAPI_EXPORT extern void TF_GraphSetTensorShape(TF_Graph *graph, TF_Output output, const int64_t *dims,
                                                  int num_dims, TF_Status *status);
/* -1 when the rank is unknown. */
TF_CAPI_EXPORT extern int TF_GraphGetTensorNumDims(TF_Graph *graph, TF_Output output, TF_Status *status);
/* Fills `dims` (num_dims as TF_GraphGetTensorNumDims gave it), -1 for an unknown size. */
TF_CAPI_EXPORT extern void TF_GraphGetTensorShape(TF_Graph *graph, TF_Output output, int64_t *dims,
                                                  int num_dims, TF_Status *status);

/* ---- building operations ---- */

/* Begins an operation; TF_FinishOperation ends it, whatever happened in between. Errors are reported there.
 */
TF_CAPI_EXPORT extern TF_OperationDescription *TF_NewOperation(TF_Graph *graph, const char *op_type,
                                                               const char *oper_name);
TF_CAPI_EXPORT extern void TF_SetDevice(TF_OperationDescription *desc, const char *device);
TF_CAPI_EXPORT extern void TF_AddInput(TF_OperationDescription *desc, TF_Output input);
TF_CAPI_EXPORT extern void TF_AddInputList(TF_OperationDescription *desc, const TF_Output *inputs,
                                           int num_inputs);
TF_CAPI_EXPORT extern void TF_AddControlInput(TF_OperationDescription *desc, TF_Operation *input);
TF_CAPI_EXPORT extern void TF_ColocateWith(TF_OperationDescription *desc, TF_Operation *op);

TF_CAPI_EXPORT extern void TF_SetAttrString(TF_OperationDescription *desc, const char *attr_name,
                                            const void *value, size_t length);
TF_CAPI_EXPORT extern void TF_SetAttrStringList(TF_OperationDescription *desc, const char *attr_name,
                                                const void *const *values, const size_t *lengths,
                                                int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrInt(TF_OperationDescription *desc, const char *attr_name, int64_t value);
TF_CAPI_EXPORT extern void TF_SetAttrIntList(TF_OperationDescription *desc, const char *attr_name,
                                             const int64_t *values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrFloat(TF_OperationDescription *desc, const char *attr_name, float value);
TF_CAPI_EXPORT extern void TF_SetAttrFloatList(TF_OperationDescription *desc, const char *attr_name,
                                               const float *values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrBool(TF_OperationDescription *desc, const char *attr_name,
                                          unsigned char value);
TF_CAPI_EXPORT extern void TF_SetAttrBoolList(TF_OperationDescription *desc, const char *attr_name,
                                              const unsigned char *values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrType(TF_OperationDescription *desc, const char *attr_name,
                                          TF_DataType value);
TF_CAPI_EXPORT extern void TF_SetAttrTypeList(TF_OperationDescription *desc, const char *attr_name,
                                              const TF_DataType *values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrPlaceholder(TF_OperationDescription *desc, const char *attr_name,
                                                 const char *placeholder);
TF_CAPI_EXPORT extern void TF_SetAttrFuncName(TF_OperationDescription *desc, const char *attr_name,
                                              const char *value, size_t length);
TF_CAPI_EXPORT extern void TF_SetAttrShape(TF_OperationDescription *desc, const char *attr_name,
                                           const int64_t *dims, int num_dims);
TF_CAPI_EXPORT extern void TF_SetAttrShapeList(TF_OperationDescription *desc, const char *attr_name,
                                               const int64_t *const *dims, const int *num_dims,
                                               int num_shapes);
TF_CAPI_EXPORT extern void TF_SetAttrTensor(TF_OperationDescription *desc, const char *attr_name,
                                            TF_Tensor *value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorList(TF_OperationDescription *desc, const char *attr_name,
                                                TF_Tensor *const *values, int num_values, TF_Status *status);
/* A serialised AttrValue. */
TF_CAPI_EXPORT extern void TF_SetAttrValueProto(TF_OperationDescription *desc, const char *attr_name,
                                                const void *proto, size_t proto_len, TF_Status *status);

/* Adds the operation to the graph and frees `desc`. On error NULL, and the graph is as it was. */
TF_CAPI_EXPORT extern TF_Operation *TF_FinishOperation(TF_OperationDescription *desc, TF_Status *status);

/* ---- looking at operations ---- */

TF_CAPI_EXPORT extern const char *TF_OperationName(TF_Operation *oper);
TF_CAPI_EXPORT extern const char *TF_OperationOpType(TF_Operation *oper);
TF_CAPI_EXPORT extern const char *TF_OperationDevice(TF_Operation *oper);
TF_CAPI_EXPORT extern int TF_OperationNumOutputs(TF_Operation *oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationOutputType(TF_Output oper_out);
/* Outputs (or inputs) that the named output_arg (input_arg) stands for; -1 and INVALID_ARGUMENT when there is
 * none of that name. */
TF_CAPI_EXPORT extern int TF_OperationOutputListLength(TF_Operation *oper, const char *arg_name,
                                                       TF_Status *status);
TF_CAPI_EXPORT extern int TF_OperationNumInputs(TF_Operation *oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationInputType(TF_Input oper_in);
TF_CAPI_EXPORT extern int TF_OperationInputListLength(TF_Operation *oper, const char *arg_name,
                                                      TF_Status *status);
/* What feeds an input; {NULL, -1} when nothing does. */
TF_CAPI_EXPORT extern TF_Output TF_OperationInput(TF_Input oper_in);
TF_CAPI_EXPORT extern int TF_OperationOutputNumConsumers(TF_Output oper_out);
/* Fills at most max_consumers, returns how many. */
TF_CAPI_EXPORT extern int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input *consumers,
                                                      int max_consumers);
TF_CAPI_EXPORT extern int TF_OperationNumControlInputs(TF_Operation *oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlInputs(TF_Operation *oper, TF_Operation **control_inputs,
                                                       int max_control_inputs);
TF_CAPI_EXPORT extern int TF_OperationNumControlOutputs(TF_Operation *oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlOutputs(TF_Operation *oper, TF_Operation **control_outputs,
                                                        int max_control_outputs);
/* The serialised AttrValue of an attr. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrValueProto(TF_Operation *oper, const char *attr_name,
                                                         TF_Buffer *output_attr_value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationToNodeDef(TF_Operation *oper, TF_Buffer *output_node_def,
                                                 TF_Status *status);

/* NULL when there is none of that name. */
TF_CAPI_EXPORT extern TF_Operation *TF_GraphOperationByName(TF_Graph *graph, const char *oper_name);
/* Iterates: `*pos` starts at 0; NULL at the end. */
TF_CAPI_EXPORT extern TF_Operation *TF_GraphNextOperation(TF_Graph *graph, size_t *pos);

/* ---- import and export ---- */

TF_CAPI_EXPORT extern void TF_GraphToGraphDef(TF_Graph *graph, TF_Buffer *output_graph_def,
                                              TF_Status *status);
TF_CAPI_EXPORT extern void TF_GraphVersions(TF_Graph *graph, TF_Buffer *output_version_def,
                                            TF_Status *status);

typedef struct TF_ImportGraphDefOptions TF_ImportGraphDefOptions;
typedef struct TF_ImportGraphDefResults TF_ImportGraphDefResults;

TF_CAPI_EXPORT extern TF_ImportGraphDefOptions *TF_NewImportGraphDefOptions(void);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions *opts);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions *opts,
                                                             const char *prefix);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions *opts,
                                                                    const char *device);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions *opts,
                                                                    unsigned char uniquify_names);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions *opts,
                                                                     unsigned char uniquify_prefix);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions *opts,
                                                                   const char *src_name, int src_index,
                                                                   TF_Output dst);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions *opts,
                                                                          const char *src_name,
                                                                          TF_Operation *dst);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions *opts,
                                                                        TF_Operation *oper);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions *opts,
                                                                   const char *oper_name, int index);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions *opts);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions *opts,
                                                                      const char *oper_name);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions *opts);

/* Results are owned by the TF_ImportGraphDefResults. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults *results,
                                                                 int *num_outputs, TF_Output **outputs);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults *results,
                                                                    int *num_opers, TF_Operation ***opers);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults *results, int *num_missing_unused_input_mappings, const char ***src_names,
    int **src_indexes);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults *results);

/* On error the graph is as it was (and the results are NULL). `options` may be NULL. */
TF_CAPI_EXPORT extern TF_ImportGraphDefResults *TF_GraphImportGraphDefWithResults(
    TF_Graph *graph, const TF_Buffer *graph_def, const TF_ImportGraphDefOptions *options, TF_Status *status);
TF_CAPI_EXPORT extern void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph *graph,
                                                                   const TF_Buffer *graph_def,
                                                                   const TF_ImportGraphDefOptions *options,
                                                                   TF_Output *return_outputs,
                                                                   int num_return_outputs, TF_Status *status);
TF_CAPI_EXPORT extern void TF_GraphImportGraphDef(TF_Graph *graph, const TF_Buffer *graph_def,
                                                  const TF_ImportGraphDefOptions *options, TF_Status *status);

/* ---- functions ---- */

/* Makes a function of part of a graph: num_opers -1 takes all that the outputs need. `inputs` become its
 * arguments. `output_names` may be NULL. */
TF_CAPI_EXPORT extern TF_Function *TF_GraphToFunction(const TF_Graph *fn_body, const char *fn_name,
                                                      unsigned char append_hash_to_fn_name, int num_opers,
                                                      const TF_Operation *const *opers, int ninputs,
                                                      const TF_Output *inputs, int noutputs,
                                                      const TF_Output *outputs,
                                                      const char *const *output_names, const void *opts,
                                                      const char *description, TF_Status *status);
TF_CAPI_EXPORT extern const char *TF_FunctionName(TF_Function *func);
TF_CAPI_EXPORT extern void TF_FunctionToFunctionDef(TF_Function *func, TF_Buffer *output_func_def,
                                                    TF_Status *status);
TF_CAPI_EXPORT extern TF_Function *TF_FunctionImportFunctionDef(const void *proto, size_t proto_len,
                                                                TF_Status *status);
/* Copies the function, and its gradient when not NULL, into the graph. */
TF_CAPI_EXPORT extern void TF_GraphCopyFunction(TF_Graph *g, const TF_Function *func, const TF_Function *grad,
                                                TF_Status *status);
TF_CAPI_EXPORT extern int TF_GraphNumFunctions(TF_Graph *g);
TF_CAPI_EXPORT extern int TF_GraphGetFunctions(TF_Graph *g, TF_Function **funcs, int max_func,
                                               TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeleteFunction(TF_Function *func);

/* ---- gradients ---- */

/* Adds the operations that compute d(sum of y)/dx; `dx` (NULL: ones) has ny entries; `dy` gets nx outputs. */
TF_CAPI_EXPORT extern void TF_AddGradients(TF_Graph *g, TF_Output *y, int ny, TF_Output *x, int nx,
                                           TF_Output *dx, TF_Status *status, TF_Output *dy);
/* `prefix` must be unused; NULL: "gradients", "gradients_1", ... */
TF_CAPI_EXPORT extern void TF_AddGradientsWithPrefix(TF_Graph *g, const char *prefix, TF_Output *y, int ny,
                                                     TF_Output *x, int nx, TF_Output *dx, TF_Status *status,
                                                     TF_Output *dy);

/* ---- sessions ---- */

typedef struct TF_SessionOptions TF_SessionOptions;
typedef struct TF_Session TF_Session;

TF_CAPI_EXPORT extern TF_SessionOptions *TF_NewSessionOptions(void);
/* "" is this process; other targets are refused by TF_NewSession. */
TF_CAPI_EXPORT extern void TF_SetTarget(TF_SessionOptions *options, const char *target);
TF_CAPI_EXPORT extern void TF_DeleteSessionOptions(TF_SessionOptions *options);

/* NULL on error. */
TF_CAPI_EXPORT extern TF_Session *TF_NewSession(TF_Graph *graph, const TF_SessionOptions *opts,
                                                TF_Status *status);
/* Frees variables and plans; later runs fail with CANCELLED. */
TF_CAPI_EXPORT extern void TF_CloseSession(TF_Session *session, TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeleteSession(TF_Session *session, TF_Status *status);
/* Runs one step. `output_values` get new tensors that the caller deletes; on error they are NULL.
 * `run_options` and `run_metadata` may be NULL. */
TF_CAPI_EXPORT extern void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options,
                                         const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                                         const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                                         const TF_Operation *const *target_opers, int ntargets,
                                         TF_Buffer *run_metadata, TF_Status *status);

/* ---- ops ---- */

/* The serialised OpList of all registered ops. NULL when out of memory. The caller deletes it. */
TF_CAPI_EXPORT extern TF_Buffer *TF_GetAllOpList(void);
/* The serialised KernelList of all kernels, or of those of one op, whether there is such an op or not. The
 * caller deletes it; NULL on error. */
TF_CAPI_EXPORT extern TF_Buffer *TF_GetAllRegisteredKernels(TF_Status *status);
TF_CAPI_EXPORT extern TF_Buffer *TF_GetRegisteredKernelsForOp(const char *name, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
