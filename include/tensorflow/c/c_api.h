/* TensorFlow's C API: graphs, operations, gradients, sessions. Names, signatures and ownership are
 * TensorFlow's, so that a program written for TensorFlow's C library compiles and links unchanged.
 *
 * Not included: TF_GraphImportGraphDefWithResultsNoSerialization, which takes an object of C++. Servers, and
 * libraries and file systems that are loaded at run time, give UNIMPLEMENTED.
 *
 * Every call that can fail takes a TF_Status last and sets it (also to OK). Strings are NUL-terminated. A
 * TF_Operation belongs to its graph and lives as long.
 *
 * Threads. Several threads may use one graph at the same time: add and look up operations, import, add
 * gradients and functions, make sessions and run them. Each call locks the graph while it reads or writes it;
 * steps run outside that lock. The steps of one session run one after the other. As in TensorFlow, two kinds
 * of use are not protected:
 * - an operation that one thread edits (TF_UpdateEdge, TF_SetAttr, TF_ClearAttr, TF_SetRequestedDevice,
 *   TF_AddOperationControlInput, TF_RemoveAllControlInputs, TF_AddWhileInputHack) from another one that looks
 *   at its inputs, attrs or device, or runs it;
 * - any other object (a TF_OperationDescription, TF_Status, TF_Buffer, TF_Function, options, results)
 *   that two threads use at once, and any object that one thread deletes while another uses it.
 */
#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_export.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed bytes. */
typedef struct TF_StringView {
  const char *data;
  size_t len;
} TF_StringView;

/* TensorFlow's version whose behaviour this library follows, and this library's version. Static text. */
TF_CAPI_EXPORT extern const char *TF_Version(void);

/* Replaces `to` by the tensor of a serialised TensorProto. */
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer *from, TF_Tensor *to, TF_Status *status);

/* ---- graphs ---- */

typedef struct TF_Graph TF_Graph;
typedef struct TF_Operation TF_Operation;
typedef struct TF_OperationDescription TF_OperationDescription;
typedef struct TF_Function TF_Function;
/* No options exist yet; pass NULL. */
typedef struct TF_FunctionOptions TF_FunctionOptions;

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
/* Frees the graph when no session uses it any more. */
TF_CAPI_EXPORT extern void TF_DeleteGraph(TF_Graph *graph);

/* `dims` of -1 are unknown sizes; num_dims -1 is an unknown rank. Merges with the known shape:
 * INVALID_ARGUMENT on conflict. */
TF_CAPI_EXPORT extern void TF_GraphSetTensorShape(TF_Graph *graph, TF_Output output, const int64_t *dims,
                                                  const int num_dims, TF_Status *status);
/* -1 when the rank is unknown. */
TF_CAPI_EXPORT extern int TF_GraphGetTensorNumDims(TF_Graph *graph, TF_Output output, TF_Status *status);
/* Fills `dims` (num_dims from TF_GraphGetTensorNumDims), -1 for an unknown size. */
TF_CAPI_EXPORT extern void TF_GraphGetTensorShape(TF_Graph *graph, TF_Output output, int64_t *dims,
                                                  int num_dims, TF_Status *status);

/* ---- building operations ---- */

/* Begins an operation; TF_FinishOperation ends it in any case, and reports the errors. */
TF_CAPI_EXPORT extern TF_OperationDescription *TF_NewOperation(TF_Graph *graph, const char *op_type,
                                                               const char *oper_name);
/* The same, because a thread that holds a graph's lock can take it again. */
TF_CAPI_EXPORT extern TF_OperationDescription *TF_NewOperationLocked(TF_Graph *graph, const char *op_type,
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
/* Serialised TensorShapeProtos. */
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProto(TF_OperationDescription *desc, const char *attr_name,
                                                      const void *proto, size_t proto_len, TF_Status *status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProtoList(TF_OperationDescription *desc,
                                                          const char *attr_name, const void *const *protos,
                                                          const size_t *proto_lens, int num_shapes,
                                                          TF_Status *status);
TF_CAPI_EXPORT extern void TF_SetAttrTensor(TF_OperationDescription *desc, const char *attr_name,
                                            TF_Tensor *value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorList(TF_OperationDescription *desc, const char *attr_name,
                                                TF_Tensor *const *values, int num_values, TF_Status *status);
/* A serialised AttrValue. */
TF_CAPI_EXPORT extern void TF_SetAttrValueProto(TF_OperationDescription *desc, const char *attr_name,
                                                const void *proto, size_t proto_len, TF_Status *status);

/* Adds the operation to the graph and frees `desc`. On error it returns NULL, and the graph is unchanged. Any
 * unused name is valid; but a GraphDef can only be imported if its names match
 * [A-Za-z0-9.][A-Za-z0-9_.\-/]*. */
TF_CAPI_EXPORT extern TF_Operation *TF_FinishOperation(TF_OperationDescription *desc, TF_Status *status);
TF_CAPI_EXPORT extern TF_Operation *TF_FinishOperationLocked(TF_OperationDescription *desc,
                                                             TF_Status *status);

/* ---- queries of operations ---- */

TF_CAPI_EXPORT extern const char *TF_OperationName(TF_Operation *oper);
TF_CAPI_EXPORT extern const char *TF_OperationOpType(TF_Operation *oper);
TF_CAPI_EXPORT extern const char *TF_OperationDevice(TF_Operation *oper);
TF_CAPI_EXPORT extern int TF_OperationNumOutputs(TF_Operation *oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationOutputType(TF_Output oper_out);
/* The number of outputs (or inputs) of the named output_arg (input_arg); -1 and INVALID_ARGUMENT if there is
 * none of that name. */
TF_CAPI_EXPORT extern int TF_OperationOutputListLength(TF_Operation *oper, const char *arg_name,
                                                       TF_Status *status);
TF_CAPI_EXPORT extern int TF_OperationNumInputs(TF_Operation *oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationInputType(TF_Input oper_in);
TF_CAPI_EXPORT extern int TF_OperationInputListLength(TF_Operation *oper, const char *arg_name,
                                                      TF_Status *status);
/* The source of an input; {NULL, -1} if it is not connected. */
TF_CAPI_EXPORT extern TF_Output TF_OperationInput(TF_Input oper_in);
/* The sources of the inputs, at most max_inputs of them. */
TF_CAPI_EXPORT extern void TF_OperationAllInputs(TF_Operation *oper, TF_Output *inputs, int max_inputs);
TF_CAPI_EXPORT extern int TF_OperationOutputNumConsumers(TF_Output oper_out);
/* Fills at most max_consumers entries; returns their number. */
TF_CAPI_EXPORT extern int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input *consumers,
                                                      int max_consumers);
TF_CAPI_EXPORT extern int TF_OperationNumControlInputs(TF_Operation *oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlInputs(TF_Operation *oper, TF_Operation **control_inputs,
                                                       int max_control_inputs);
TF_CAPI_EXPORT extern int TF_OperationNumControlOutputs(TF_Operation *oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlOutputs(TF_Operation *oper, TF_Operation **control_outputs,
                                                        int max_control_outputs);
/* The type and size of an attr's value, which tell how much memory the calls below need. */
typedef struct TF_AttrMetadata {
  unsigned char is_list;
  int64_t list_size; /* -1 if it is not a list */
  /* Of the value, or of each in the list; for an empty list as the op declares. */
  TF_AttrType type;
  /* For a string its bytes; for a shape its rank, -1 if unknown; for lists of these the sum, where an unknown
   * rank counts 0; otherwise -1. */
  int64_t total_size;
} TF_AttrMetadata;

TF_CAPI_EXPORT extern TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation *oper, const char *attr_name,
                                                                  TF_Status *status);
/* The value of an attr, or as much of it as fits: max_length bytes, max_values values of a list, num_dims
 * sizes. INVALID_ARGUMENT if the attr has another type. Strings are not NUL-terminated. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrString(TF_Operation *oper, const char *attr_name, void *value,
                                                     size_t max_length, TF_Status *status);
/* `values` point into `storage`, which must have space for the bytes of all of them, else
 * INVALID_ARGUMENT. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrStringList(TF_Operation *oper, const char *attr_name,
                                                         void **values, size_t *lengths, int max_values,
                                                         void *storage, size_t storage_size,
                                                         TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrInt(TF_Operation *oper, const char *attr_name, int64_t *value,
                                                  TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrIntList(TF_Operation *oper, const char *attr_name,
                                                      int64_t *values, int max_values, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloat(TF_Operation *oper, const char *attr_name, float *value,
                                                    TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloatList(TF_Operation *oper, const char *attr_name,
                                                        float *values, int max_values, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBool(TF_Operation *oper, const char *attr_name,
                                                   unsigned char *value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBoolList(TF_Operation *oper, const char *attr_name,
                                                       unsigned char *values, int max_values,
                                                       TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrType(TF_Operation *oper, const char *attr_name,
                                                   TF_DataType *value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTypeList(TF_Operation *oper, const char *attr_name,
                                                       TF_DataType *values, int max_values,
                                                       TF_Status *status);
/* -1 for an unknown size; nothing is written for an unknown rank. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrShape(TF_Operation *oper, const char *attr_name, int64_t *value,
                                                    int num_dims, TF_Status *status);
/* `dims` point into `storage`, which must have space for storage_size sizes; num_dims of -1 is an unknown
 * rank. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrShapeList(TF_Operation *oper, const char *attr_name,
                                                        int64_t **dims, int *num_dims, int num_shapes,
                                                        int64_t *storage, int storage_size,
                                                        TF_Status *status);
/* Serialised TensorShapeProtos. The list's buffers are new; the caller deletes them. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProto(TF_Operation *oper, const char *attr_name,
                                                               TF_Buffer *value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProtoList(TF_Operation *oper, const char *attr_name,
                                                                   TF_Buffer **values, int max_values,
                                                                   TF_Status *status);
/* New tensors, which the caller deletes; NULL on error. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensor(TF_Operation *oper, const char *attr_name,
                                                     TF_Tensor **value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorList(TF_Operation *oper, const char *attr_name,
                                                         TF_Tensor **values, int max_values,
                                                         TF_Status *status);
/* The names of all attrs, in a fixed order. */
TF_CAPI_EXPORT extern int TF_OperationGetNumAttrs(TF_Operation *oper);
/* -1 if there is no attr `i`. */
TF_CAPI_EXPORT extern int TF_OperationGetAttrNameLength(TF_Operation *oper, int i);
/* Writes TF_OperationGetAttrNameLength bytes, without a NUL. OUT_OF_RANGE if there is no attr `i`. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrName(TF_Operation *oper, int i, char *output,
                                                   TF_Status *status);
/* The serialised AttrValue of an attr. */
TF_CAPI_EXPORT extern void TF_OperationGetAttrValueProto(TF_Operation *oper, const char *attr_name,
                                                         TF_Buffer *output_attr_value, TF_Status *status);
TF_CAPI_EXPORT extern void TF_OperationToNodeDef(TF_Operation *oper, TF_Buffer *output_node_def,
                                                 TF_Status *status);

/* NULL if the graph has no operation of that name. */
TF_CAPI_EXPORT extern TF_Operation *TF_GraphOperationByName(TF_Graph *graph, const char *oper_name);
/* Iterates: `*pos` starts at 0; NULL at the end. */
TF_CAPI_EXPORT extern TF_Operation *TF_GraphNextOperation(TF_Graph *graph, size_t *pos);

/* ---- changes of operations, as used by TensorFlow's Python ---- */

/* Disconnects an input and connects it to `new_src`. Shapes of its consumers are inferred again. */
TF_CAPI_EXPORT extern void TF_UpdateEdge(TF_Graph *graph, TF_Output new_src, TF_Input dst, TF_Status *status);
/* Both do nothing if an operation does not belong to the graph. */
TF_CAPI_EXPORT extern void TF_AddOperationControlInput(TF_Graph *graph, TF_Operation *op,
                                                       TF_Operation *input);
TF_CAPI_EXPORT extern void TF_RemoveAllControlInputs(TF_Graph *graph, TF_Operation *op);
/* Replaces an attr's value by a serialised AttrValue. The operation's types and shapes, which were derived
 * from its attrs when it was added, do not change. */
TF_CAPI_EXPORT extern void TF_SetAttr(TF_Graph *graph, TF_Operation *op, const char *attr_name,
                                      TF_Buffer *attr_value_proto, TF_Status *status);
TF_CAPI_EXPORT extern void TF_ClearAttr(TF_Graph *graph, TF_Operation *op, const char *attr_name,
                                        TF_Status *status);
TF_CAPI_EXPORT extern void TF_SetRequestedDevice(TF_Graph *graph, TF_Operation *op, const char *device);
/* Connects the next input of a While operation whose attrs were changed to have more inputs. */
TF_CAPI_EXPORT extern void TF_AddWhileInputHack(TF_Graph *graph, TF_Output new_src, TF_Operation *dst,
                                                TF_Status *status);

/* Whether adding an operation requires its op to have a shape function. True by default. */
TF_CAPI_EXPORT extern void TF_SetRequireShapeInferenceFns(TF_Graph *graph, bool require);

/* ---- import and export ---- */

TF_CAPI_EXPORT extern void TF_GraphToGraphDef(TF_Graph *graph, TF_Buffer *output_graph_def,
                                              TF_Status *status);
/* The serialised OpDef of an op, or the signature of one of the graph's functions. NOT_FOUND if there is no
 * such op. */
TF_CAPI_EXPORT extern void TF_GraphGetOpDef(TF_Graph *graph, const char *op_name, TF_Buffer *output_op_def,
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

/* The TF_ImportGraphDefResults own the results. */
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults *results,
                                                                 int *num_outputs, TF_Output **outputs);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults *results,
                                                                    int *num_opers, TF_Operation ***opers);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults *results, int *num_missing_unused_input_mappings, const char ***src_names,
    int **src_indexes);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults *results);

/* On error the graph is unchanged (and the results are NULL). `options` may be NULL. */
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

/* Makes a function of a part of a graph. `inputs` become its arguments. num_opers -1 selects all operations
 * of the graph that are not inputs. A lower number (an extension of this library) selects only those that the
 * outputs need. If `output_names` is NULL, results are named after their operations. Results, arguments and
 * operations take their names in this order; a name in use gets a suffix _0, _1, ... The shape of an input
 * operation, and its attrs that begin with '_', go into the function's arg_attr. With
 * `append_hash_to_fn_name`, TensorFlow's hash of the function is appended to the name. */
TF_CAPI_EXPORT extern TF_Function *TF_GraphToFunction(
    const TF_Graph *fn_body, const char *fn_name, unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation *const *opers, int ninputs, const TF_Output *inputs, int noutputs,
    const TF_Output *outputs, const char *const *output_names, const TF_FunctionOptions *opts,
    const char *description, TF_Status *status);
/* Also with operations that run in every call, whether a result needs them or not. `control_output_names` are
 * their names in the FunctionDef; NULL: the names of the operations. */
TF_CAPI_EXPORT extern TF_Function *TF_GraphToFunctionWithControlOutputs(
    const TF_Graph *fn_body, const char *fn_name, unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation *const *opers, int ninputs, const TF_Output *inputs, int noutputs,
    const TF_Output *outputs, const char *const *output_names, int ncontrol_outputs,
    const TF_Operation *const *control_outputs, const char *const *control_output_names,
    const TF_FunctionOptions *opts, const char *description, TF_Status *status);
TF_CAPI_EXPORT extern const char *TF_FunctionName(TF_Function *func);
TF_CAPI_EXPORT extern void TF_FunctionToFunctionDef(TF_Function *func, TF_Buffer *output_func_def,
                                                    TF_Status *status);
TF_CAPI_EXPORT extern TF_Function *TF_FunctionImportFunctionDef(const void *proto, size_t proto_len,
                                                                TF_Status *status);
/* An attr of the function itself, a serialised AttrValue. */
TF_CAPI_EXPORT extern void TF_FunctionSetAttrValueProto(TF_Function *func, const char *attr_name,
                                                        const void *proto, size_t proto_len,
                                                        TF_Status *status);
TF_CAPI_EXPORT extern void TF_FunctionGetAttrValueProto(TF_Function *func, const char *attr_name,
                                                        TF_Buffer *output_attr_value, TF_Status *status);
/* Copies the function, and its gradient when not NULL, into the graph. */
TF_CAPI_EXPORT extern void TF_GraphCopyFunction(TF_Graph *g, const TF_Function *func, const TF_Function *grad,
                                                TF_Status *status);
TF_CAPI_EXPORT extern int TF_GraphNumFunctions(TF_Graph *g);
TF_CAPI_EXPORT extern int TF_GraphGetFunctions(TF_Graph *g, TF_Function **funcs, int max_func,
                                               TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeleteFunction(TF_Function *func);

/* ---- loops ---- */

/* A loop that is being built. Each graph has a placeholder for each variable of the loop; the caller adds
 * what computes the condition, a scalar bool, and the next values, and sets the fields that are not const. */
typedef struct TF_WhileParams {
  const int ninputs; /* variables */
  TF_Graph *const cond_graph;
  const TF_Output *const cond_inputs;
  TF_Output cond_output;
  TF_Graph *const body_graph;
  const TF_Output *const body_inputs;
  TF_Output *const body_outputs;
  const char *name; /* unique; the new operations are named name/... */
} TF_WhileParams;

/* Begins a loop in `g` whose variables begin with the values of `inputs`, which are copied. When it succeeds
 * either TF_FinishWhile or TF_AbortWhile must follow; when it fails neither may. INVALID_ARGUMENT without
 * inputs. */
TF_CAPI_EXPORT extern TF_WhileParams TF_NewWhile(TF_Graph *g, TF_Output *inputs, int ninputs,
                                                 TF_Status *status);
/* Adds the loop to the graph: Enter, Merge, LoopCond, Switch, Identity, NextIteration, Exit, and copies of
 * the two graphs. `outputs` gets the `ninputs` results of the loop. `params` is no longer valid, even after
 * an error. INVALID_ARGUMENT when a field is not set, a value is of another graph, or types do not agree;
 * these errors leave the graph as it was. */
TF_CAPI_EXPORT extern void TF_FinishWhile(const TF_WhileParams *params, TF_Status *status,
                                          TF_Output *outputs);
TF_CAPI_EXPORT extern void TF_AbortWhile(const TF_WhileParams *params);

/* ---- gradients ---- */

/* Adds the operations that compute d(sum of y)/dx; `dx` (NULL: ones) has ny entries; `dy` receives nx
 * outputs, {NULL, 0} where the path ends at an op whose result counts as constant (Shape, Equal,
 * StopGradient, ...). NOT_FOUND if the path leads through an op without gradient (ArgMax, Unique, ...). */
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
/* "" is this process; TF_NewSession refuses other targets. */
TF_CAPI_EXPORT extern void TF_SetTarget(TF_SessionOptions *options, const char *target);
/* A serialised ConfigProto; INVALID_ARGUMENT if it is malformed. What counts:
 * intra_op_parallelism_threads, in the first session: how many threads the process works with;
 * device_count { "CPU": n }: the session has n devices, else 1. NOT_FOUND from TF_NewSession when n < 1;
 * allow_soft_placement: a device type or id that there is not is ignored instead of refused;
 * log_device_placement: lines of the log say where each node is placed;
 * operation_timeout_in_ms; graph_options.optimizer_options.opt_level L0: nothing is optimized. */
TF_CAPI_EXPORT extern void TF_SetConfig(TF_SessionOptions *options, const void *proto, size_t proto_len,
                                        TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeleteSessionOptions(TF_SessionOptions *options);

/* NULL on error. */
TF_CAPI_EXPORT extern TF_Session *TF_NewSession(TF_Graph *graph, const TF_SessionOptions *opts,
                                                TF_Status *status);
/* Frees variables and programs; later runs fail with CANCELLED. */
/* Closes all sessions of the target that `opt` names, and with them their variables and queues, whatever
 * their containers are. */
TF_CAPI_EXPORT extern void TF_Reset(const TF_SessionOptions *opt, const char **containers, int ncontainers,
                                    TF_Status *status);
TF_CAPI_EXPORT extern void TF_CloseSession(TF_Session *session, TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeleteSession(TF_Session *session, TF_Status *status);
/* Takes in operations that were added since the last call. Steps do that themselves. FAILED_PRECONDITION when
 * the ConfigProto declared the graph static. */
TF_CAPI_EXPORT extern void TF_ExtendSession(TF_Session *session, TF_Status *status);
/* Runs one step. `output_values` receive new tensors that the caller deletes; on error they are NULL.
 * `run_options` (a serialised RunOptions, whose fields are ignored) and `run_metadata` (empty; receives an
 * empty RunMetadata, whether the step succeeds or not) may be NULL. Feeds may have any shape. */
TF_CAPI_EXPORT extern void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options,
                                         const TF_Output *inputs, TF_Tensor *const *input_values, int ninputs,
                                         const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                                         const TF_Operation *const *target_opers, int ntargets,
                                         TF_Buffer *run_metadata, TF_Status *status);

/* A partial run: a step that is fed and fetched in pieces. `inputs`, `outputs` and `target_opers` are all
 * that its pieces will feed, fetch and run. *handle is deleted with TF_DeletePRunHandle. */
TF_CAPI_EXPORT extern void TF_SessionPRunSetup(TF_Session *session, const TF_Output *inputs, int ninputs,
                                               const TF_Output *outputs, int noutputs,
                                               const TF_Operation *const *target_opers, int ntargets,
                                               const char **handle, TF_Status *status);
/* One piece: runs what depends on no input that is still to come, and has not run before. INVALID_ARGUMENT
 * for what the setup did not name or an earlier piece was given, for an output that cannot be computed yet,
 * and when the partial run has ended: all is fed and fetched, or a piece has failed. Targets are those of the
 * setup. */
TF_CAPI_EXPORT extern void TF_SessionPRun(TF_Session *session, const char *handle, const TF_Output *inputs,
                                          TF_Tensor *const *input_values, int ninputs,
                                          const TF_Output *outputs, TF_Tensor **output_values, int noutputs,
                                          const TF_Operation *const *target_opers, int ntargets,
                                          TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeletePRunHandle(const char *handle);

/* Loads a SavedModel: its graph into `graph`, which must be empty, and a session with its variables restored
 * and its initialising operation run. `tags` (in any order) choose one of its graphs. `run_options` (a
 * serialised RunOptions; may be NULL) apply to these steps. `meta_graph_def` (may be NULL) gets the
 * serialised MetaGraphDef. Nodes that need an op which is not registered are not imported; it is an error
 * only if restoring or initialising needs them. On error the result is NULL and `graph` is empty. */
TF_NATIVE_EXPORT extern TF_Session *TF_LoadSessionFromSavedModel(
    const TF_SessionOptions *session_options, const TF_Buffer *run_options, const char *export_dir,
    const char *const *tags, int tags_len, TF_Graph *graph, TF_Buffer *meta_graph_def, TF_Status *status);

/* ---- sessions without a graph, from before TF_Graph ----
 *
 * They have a graph of their own, which TF_ExtendGraph grows, and name operations ("n") and outputs ("n:0";
 * "n" is the first one). For the rest, as the calls for TF_Session. */
typedef struct TF_DeprecatedSession TF_DeprecatedSession;

TF_NATIVE_EXPORT extern TF_DeprecatedSession *TF_NewDeprecatedSession(const TF_SessionOptions *options,
                                                                      TF_Status *status);
TF_NATIVE_EXPORT extern void TF_CloseDeprecatedSession(TF_DeprecatedSession *session, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_DeleteDeprecatedSession(TF_DeprecatedSession *session, TF_Status *status);
/* Adds the nodes of a serialised GraphDef, which may have edges from those that are there. */
TF_NATIVE_EXPORT extern void TF_ExtendGraph(TF_DeprecatedSession *session, const void *proto,
                                            size_t proto_len, TF_Status *status);
/* Deletes the tensors in `inputs`, also on error. */
TF_NATIVE_EXPORT extern void TF_Run(TF_DeprecatedSession *session, const TF_Buffer *run_options,
                                    const char **input_names, TF_Tensor **inputs, int ninputs,
                                    const char **output_names, TF_Tensor **outputs, int noutputs,
                                    const char **target_oper_names, int ntargets, TF_Buffer *run_metadata,
                                    TF_Status *status);
TF_NATIVE_EXPORT extern void TF_PRunSetup(TF_DeprecatedSession *session, const char **input_names,
                                          int ninputs, const char **output_names, int noutputs,
                                          const char **target_oper_names, int ntargets, const char **handle,
                                          TF_Status *status);
TF_NATIVE_EXPORT extern void TF_PRun(TF_DeprecatedSession *session, const char *handle,
                                     const char **input_names, TF_Tensor **inputs, int ninputs,
                                     const char **output_names, TF_Tensor **outputs, int noutputs,
                                     const char **target_oper_names, int ntargets, TF_Status *status);

/* The devices of a session: its CPUs, in the order of their ids. The caller deletes the list, which may
 * outlive the session. */
typedef struct TF_DeviceList TF_DeviceList;
TF_CAPI_EXPORT extern TF_DeviceList *TF_SessionListDevices(TF_Session *session, TF_Status *status);
TF_NATIVE_EXPORT extern TF_DeviceList *TF_DeprecatedSessionListDevices(TF_DeprecatedSession *session,
                                                                       TF_Status *status);
TF_CAPI_EXPORT extern void TF_DeleteDeviceList(TF_DeviceList *list);
TF_CAPI_EXPORT extern int TF_DeviceListCount(const TF_DeviceList *list);
/* "/job:localhost/replica:0/task:0/device:CPU:0". NULL, -1 or 0 with INVALID_ARGUMENT for an invalid index,
 * here and below. Owned by the list. */
TF_CAPI_EXPORT extern const char *TF_DeviceListName(const TF_DeviceList *list, int index, TF_Status *status);
TF_CAPI_EXPORT extern const char *TF_DeviceListType(const TF_DeviceList *list, int index, TF_Status *status);
/* The memory limit of the device. */
TF_CAPI_EXPORT extern int64_t TF_DeviceListMemoryBytes(const TF_DeviceList *list, int index,
                                                       TF_Status *status);
TF_CAPI_EXPORT extern uint64_t TF_DeviceListIncarnation(const TF_DeviceList *list, int index,
                                                        TF_Status *status);

/* The value of an output that depends only on constants: returns 1, and the caller deletes the result. 0 if
 * it depends on more, or if computing it failed. */
TF_CAPI_EXPORT extern unsigned char TF_TryEvaluateConstant(TF_Graph *graph, TF_Output output,
                                                           TF_Tensor **result, TF_Status *status);

/* ---- libraries of ops ---- */

/* Libraries of ops are written against TensorFlow's C++ interface, which this library does not have; ops and
 * kernels in C are registered by the program itself (ops.h, kernels.h). */
typedef struct TF_Library TF_Library;

/* NULL with UNIMPLEMENTED, or NOT_FOUND if there is no such file. */
TF_NATIVE_EXPORT extern TF_Library *TF_LoadLibrary(const char *library_filename, TF_Status *status);
/* An empty buffer. */
TF_NATIVE_EXPORT extern TF_Buffer TF_GetOpList(TF_Library *lib_handle);
/* NULL is fine. */
TF_NATIVE_EXPORT extern void TF_DeleteLibraryHandle(TF_Library *lib_handle);

/* UNIMPLEMENTED. */
TF_NATIVE_EXPORT extern void TF_RegisterFilesystemPlugin(const char *plugin_filename, TF_Status *status);

/* ---- servers ---- */

/* A session runs in the process of its caller, so there are no servers: NULL with UNIMPLEMENTED, and the same
 * status from the calls for one. */
typedef struct TF_Server TF_Server;
TF_NATIVE_EXPORT extern TF_Server *TF_NewServer(const void *proto, size_t proto_len, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_ServerStart(TF_Server *server, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_ServerStop(TF_Server *server, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_ServerJoin(TF_Server *server, TF_Status *status);
/* NULL. */
TF_NATIVE_EXPORT extern const char *TF_ServerTarget(TF_Server *server);
TF_NATIVE_EXPORT extern void TF_DeleteServer(TF_Server *server);

/* ---- the log ---- */

/* Lines of the log, such as what the op Print writes, go to the listeners from now on, instead of stderr. A
 * listener may be called from any thread, and must not call this library. */
TF_NATIVE_EXPORT extern void TF_RegisterLogListener(void (*listener)(const char *));

/* ---- ops ---- */

/* The serialised OpList of all registered ops. NULL when out of memory. The caller deletes it. */
TF_CAPI_EXPORT extern TF_Buffer *TF_GetAllOpList(void);
/* The serialised KernelList of all kernels, or of the kernels of one op, which need not exist. The caller
 * deletes it; NULL on error. */
TF_CAPI_EXPORT extern TF_Buffer *TF_GetAllRegisteredKernels(TF_Status *status);
TF_CAPI_EXPORT extern TF_Buffer *TF_GetRegisteredKernelsForOp(const char *name, TF_Status *status);

/* ---- ApiDefs ----
 *
 * An ApiDef tells programs that write client libraries how to present an op: names, the order of arguments,
 * defaults, texts. */
typedef struct TF_ApiDefMap TF_ApiDefMap;

/* The ApiDefs that follow from the ops of a serialised OpList. NULL on error. */
TF_NATIVE_EXPORT extern TF_ApiDefMap *TF_NewApiDefMap(TF_Buffer *op_list_buffer, TF_Status *status);
TF_NATIVE_EXPORT extern void TF_DeleteApiDefMap(TF_ApiDefMap *apimap);
/* Puts the fields that `text` sets, an ApiDefs message in text format, into the ApiDefs of its ops; other ops
 * are passed over. A text may have several lines: `summary: <<END`, the lines, and a line END.
 * INVALID_ARGUMENT "1(5): ..." for a malformed text; FAILED_PRECONDITION for arguments and attrs that the op
 * does not have, in which case the changes before that one stay, and after TF_ApiDefMapGet was called. */
TF_NATIVE_EXPORT extern void TF_ApiDefMapPut(TF_ApiDefMap *api_def_map, const char *text, size_t text_len,
                                             TF_Status *status);
/* The serialised ApiDef of an op, with new names in backquotes in its texts. The caller deletes it. NULL,
 * without an error, for an op that is not in the map. */
TF_NATIVE_EXPORT extern TF_Buffer *TF_ApiDefMapGet(TF_ApiDefMap *api_def_map, const char *name,
                                                   size_t name_len, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
