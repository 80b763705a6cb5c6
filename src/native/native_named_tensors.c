/* Queues of a graph that programs reach by number, through nodes with agreed names. */
#include <stdio.h>

#include "c_api/c_api_internal.h"
#include "tensorflow/c/c_api_experimental.h"

static TF_Operation *find(const TF_Session *session, const char *prefix, int id) {
  char name[64];
  snprintf(name, sizeof name, "%s%d", prefix, id);
  return TF_GraphOperationByName(session->graph, name);
}

TF_Tensor *TF_DequeueNamedTensor(TF_Session *session, int tensor_id, TF_Status *status) {
  TF_Output output = {find(session, "fifo_queue_dequeue_", tensor_id), 0};
  TF_Tensor *result = NULL;
  start_status(status);
  if (output.oper) TF_SessionRun(session, NULL, NULL, NULL, 0, &output, &result, 1, NULL, 0, NULL, status);
  else status_set(&status->status, CODE_INTERNAL, "Unable to find the dequeue node in the TF graph.");
  return result;
}

void TF_EnqueueNamedTensor(TF_Session *session, int tensor_id, TF_Tensor *tensor, TF_Status *status) {
  const TF_Operation *enqueue = find(session, "fifo_queue_enqueue_", tensor_id);
  TF_Output input = {find(session, "arg_tensor_enqueue_", tensor_id), 0};
  start_status(status);
  if (!enqueue)
    status_set(&status->status, CODE_INTERNAL, "Unable to find the enqueue node in the TF graph.");
  else if (!input.oper)
    status_set(&status->status, CODE_INTERNAL,
               "Unable to find the placeholder node as input to enqueue in the TF graph.");
  else TF_SessionRun(session, NULL, &input, &tensor, 1, NULL, NULL, 0, &enqueue, 1, NULL, status);
}
