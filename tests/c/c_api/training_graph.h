/* A small network with everything for training: variables with random starts, a loss, its gradients, updates.
 * For tests with too little memory or damaged bytes. */
#ifndef TFCORE_TESTS_C_API_TRAINING_GRAPH_H_
#define TFCORE_TESTS_C_API_TRAINING_GRAPH_H_

#include <stdio.h>

#include "c_api/c_api_fixture.h"

typedef struct Training {
  TF_Output images, labels, loss, handles[2], weights[2], gradients[2];
  TF_Operation *initialize, *train;
} Training;

/* Uses no CHECK, because memory may be short: NULL when something failed, and the status has the error. */
static inline TF_Operation *add(Fixture *f, const char *type, const char *name, int num_inputs,
                                const TF_Output *inputs) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, type, name);
  for (int i = 0; i < num_inputs; i++) TF_AddInput(desc, inputs[i]);
  return TF_FinishOperation(desc, f->status);
}

static inline TF_Operation *add_typed(Fixture *f, const char *type, const char *name, TF_DataType dtype,
                                      int rank, const int64_t *dims, int num_inputs,
                                      const TF_Output *inputs) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, type, name);
  for (int i = 0; i < num_inputs; i++) TF_AddInput(desc, inputs[i]);
  TF_SetAttrType(desc, "dtype", dtype);
  if (dims) TF_SetAttrShape(desc, "shape", dims, rank);
  return TF_FinishOperation(desc, f->status);
}

static inline TF_Operation *add_const(Fixture *f, const char *name, TF_DataType dtype, int64_t count,
                                      const void *values, size_t size) {
  TF_Tensor *value = TF_AllocateTensor(dtype, &count, count == 0 ? 0 : 1, size);
  if (!value) {
    TF_SetStatus(f->status, TF_RESOURCE_EXHAUSTED, "a tensor");
    return NULL;
  }
  memcpy(TF_TensorData(value), values, size);
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Const", name);
  TF_SetAttrType(desc, "dtype", dtype);
  TF_SetAttrTensor(desc, "value", value, f->status);
  TF_DeleteTensor(value);
  if (TF_GetCode(f->status) == TF_OK) return TF_FinishOperation(desc, f->status);
  /* Deletes the description; the status keeps the reason why there was no value. */
  TF_Status *finished = TF_NewStatus();
  TF_Operation *made = TF_FinishOperation(desc, finished ? finished : f->status);
  TF_DeleteStatus(finished);
  if (made) TF_SetStatus(f->status, TF_INTERNAL, "a Const without a value was made");
  return NULL;
}

static inline TF_Operation *add_group(Fixture *f, const char *name, TF_Operation *const *members, int count) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "NoOp", name);
  for (int i = 0; i < count; i++) TF_AddControlInput(desc, members[i]);
  return TF_FinishOperation(desc, f->status);
}

#define MADE(output, call)             \
  do {                                 \
    (output) = (TF_Output){(call), 0}; \
    if (!(output).oper) return false;  \
  } while (0)

static inline bool build_training(Fixture *f, Training *t) {
  enum { PIXELS = 4, CLASSES = 3 };
  TF_Output start, stddev, shape, xw, logits, losses, axis, rate;
  TF_Operation *assigns[2], *updates[2];
  const int32_t w_shape[] = {PIXELS, CLASSES};
  const float zeros[CLASSES] = {0};
  const int64_t dims[2][2] = {{PIXELS, CLASSES}, {CLASSES, 0}};
  MADE(t->images, add_typed(f, "Placeholder", "images", TF_FLOAT, 2, (int64_t[]){-1, PIXELS}, 0, NULL));
  MADE(t->labels, add_typed(f, "Placeholder", "labels", TF_INT32, 1, (int64_t[]){-1}, 0, NULL));
  for (int i = 0; i < 2; i++) {
    char name[24];
    snprintf(name, sizeof name, "v%d", i);
    MADE(t->handles[i], add_typed(f, "VarHandleOp", name, TF_FLOAT, 2 - i, dims[i], 0, NULL));
    if (i == 0) {
      MADE(shape, add_const(f, "shape", TF_INT32, 2, w_shape, sizeof w_shape));
      MADE(start, add_typed(f, "RandomStandardNormal", "normal", TF_FLOAT, 0, NULL, 1, &shape));
      MADE(stddev, add_const(f, "stddev", TF_FLOAT, 0, &(float){0.5f}, sizeof(float)));
      MADE(start, add(f, "Mul", "start", 2, (TF_Output[]){start, stddev}));
    } else {
      MADE(start, add_const(f, "zeros", TF_FLOAT, CLASSES, zeros, sizeof zeros));
    }
    snprintf(name, sizeof name, "assign%d", i);
    assigns[i] = add(f, "AssignVariableOp", name, 2, (TF_Output[]){t->handles[i], start});
    if (!assigns[i]) return false;
    snprintf(name, sizeof name, "read%d", i);
    MADE(t->weights[i], add_typed(f, "ReadVariableOp", name, TF_FLOAT, 0, NULL, 1, &t->handles[i]));
  }
  MADE(xw, add(f, "MatMul", "xw", 2, (TF_Output[]){t->images, t->weights[0]}));
  MADE(logits, add(f, "BiasAdd", "logits", 2, (TF_Output[]){xw, t->weights[1]}));
  MADE(logits, add(f, "Relu", "relu", 1, &logits));
  MADE(losses, add(f, "SparseSoftmaxCrossEntropyWithLogits", "losses", 2, (TF_Output[]){logits, t->labels}));
  MADE(axis, add_const(f, "axis", TF_INT32, 1, &(int32_t){0}, sizeof(int32_t)));
  MADE(t->loss, add(f, "Mean", "loss", 2, (TF_Output[]){losses, axis}));
  TF_AddGradients(f->graph, &t->loss, 1, t->weights, 2, NULL, f->status, t->gradients);
  if (TF_GetCode(f->status) != TF_OK) return false;
  MADE(rate, add_const(f, "rate", TF_FLOAT, 0, &(float){0.1f}, sizeof(float)));
  for (int i = 0; i < 2; i++) {
    char name[24];
    snprintf(name, sizeof name, "update%d", i);
    updates[i] =
        add(f, "ResourceApplyGradientDescent", name, 3, (TF_Output[]){t->handles[i], rate, t->gradients[i]});
    if (!updates[i]) return false;
  }
  t->initialize = add_group(f, "initialize", assigns, 2);
  t->train = t->initialize ? add_group(f, "train", updates, 2) : NULL;
  return t->train != NULL;
}

enum { TRAINING_BATCH = 5 };

/* A batch of images and labels; NULL when out of memory. */
static inline TF_Tensor *training_images(void) {
  TF_Tensor *images = TF_AllocateTensor(TF_FLOAT, (int64_t[]){TRAINING_BATCH, 4}, 2, TRAINING_BATCH * 16);
  for (int i = 0; images && i < TRAINING_BATCH * 4; i++)
    ((float *)TF_TensorData(images))[i] = (float)(i % 7) / 7;
  return images;
}

static inline TF_Tensor *training_labels(void) {
  TF_Tensor *labels = TF_AllocateTensor(TF_INT32, (int64_t[]){TRAINING_BATCH}, 1, TRAINING_BATCH * 4);
  for (int i = 0; labels && i < TRAINING_BATCH; i++) ((int32_t *)TF_TensorData(labels))[i] = i % 3;
  return labels;
}

#endif
