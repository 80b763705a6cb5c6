/* A user's program: trains a 64-128-10 network on the digits through the C API alone.
 *
 *   c_api_train_digits [digits.csv]      prints the accuracy on the test set; exits with 1 below 97 %
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

enum { PIXELS = 64, HIDDEN = 128, CLASSES = 10, MAX_DIGITS = 2000, BATCH = 32, EPOCHS = 60 };

typedef struct Digits {
  float pixels[MAX_DIGITS][PIXELS];
  int32_t labels[MAX_DIGITS];
  int count;
} Digits;

static TF_Status *status;
static TF_Graph *graph;

static void check(const char *what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  printf("0 passed, 1 failed\n");
  exit(1);
}

/* ---- data ---- */

static void add_digit(Digits *digits, const int *row) {
  for (int i = 0; i < PIXELS; i++) digits->pixels[digits->count][i] = (float)row[i] / 16;
  digits->labels[digits->count++] = row[PIXELS];
}

/* Every fourth row is for testing. */
static void read_digits(const char *path, Digits *training, Digits *testing) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(1);
  }
  int row[PIXELS + 1];
  for (int index = 0;; index++) {
    int values = 0;
    while (values <= PIXELS && fscanf(file, values < PIXELS ? "%d," : "%d", &row[values]) == 1) values++;
    if (values == 0) break;
    Digits *digits = index % 4 == 3 ? testing : training;
    if (values <= PIXELS || digits->count == MAX_DIGITS) {
      fprintf(stderr, "%s: row %d has %d values, not %d\n", path, index + 1, values, PIXELS + 1);
      exit(1);
    }
    add_digit(digits, row);
  }
  fclose(file);
}

/* ---- the graph ---- */

static TF_Output finish(TF_OperationDescription *desc, const char *name) {
  TF_Operation *operation = TF_FinishOperation(desc, status);
  check(name);
  return (TF_Output){operation, 0};
}

static TF_Output op(const char *type, const char *name, int num_inputs, const TF_Output *inputs) {
  TF_OperationDescription *desc = TF_NewOperation(graph, type, name);
  for (int i = 0; i < num_inputs; i++) TF_AddInput(desc, inputs[i]);
  return finish(desc, name);
}

static TF_Output placeholder(const char *name, TF_DataType type, int rank, const int64_t *dims) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  TF_SetAttrShape(desc, "shape", dims, rank);
  return finish(desc, name);
}

static TF_Output constant(const char *name, TF_DataType type, int rank, const int64_t *dims,
                          const void *values, size_t size) {
  TF_Tensor *tensor = TF_AllocateTensor(type, dims, rank, size);
  memcpy(TF_TensorData(tensor), values, size);
  TF_OperationDescription *desc = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(desc, "dtype", type);
  TF_SetAttrTensor(desc, "value", tensor, status);
  check(name);
  TF_DeleteTensor(tensor);
  return finish(desc, name);
}

static TF_Output scalar(const char *name, float value) {
  return constant(name, TF_FLOAT, 0, NULL, &value, sizeof value);
}

/* A group of operations as one target. */
typedef struct Group {
  TF_Operation *members[64];
  int count;
} Group;

static TF_Operation *group(const char *name, const Group *members) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", name);
  for (int i = 0; i < members->count; i++) TF_AddControlInput(desc, members->members[i]);
  return finish(desc, name).oper;
}

static const char *scoped(char text[64], const char *name, const char *part) {
  if (snprintf(text, 64, "%s/%s", name, part) < 64) return text;
  fprintf(stderr, "a name is too long: %s\n", name);
  exit(1);
}

/* A variable's handle; its initial assignment joins `initializers`. */
static TF_Output variable(const char *name, TF_Output start, int rank, const int64_t *dims,
                          Group *initializers) {
  char text[64];
  TF_OperationDescription *desc = TF_NewOperation(graph, "VarHandleOp", name);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", dims, rank);
  TF_Output handle = finish(desc, name);
  initializers->members[initializers->count++] =
      op("AssignVariableOp", scoped(text, name, "Assign"), 2, (TF_Output[]){handle, start}).oper;
  return handle;
}

static TF_Output read(const char *name, TF_Output handle) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "ReadVariableOp", name);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_AddInput(desc, handle);
  return finish(desc, name);
}

static TF_Output filled(const char *name, int rank, const int64_t *dims, TF_Output value) {
  char text[64];
  int32_t sizes[2];
  for (int i = 0; i < rank; i++) sizes[i] = (int32_t)dims[i];
  TF_Output shape = constant(scoped(text, name, "shape"), TF_INT32, 1, (int64_t[]){rank}, sizes,
                             sizeof(int32_t) * (size_t)rank);
  return op("Fill", name, 2, (TF_Output[]){shape, value});
}

/* Normal numbers with a standard deviation of sqrt(2 / inputs). */
static TF_Output random_weights(const char *name, int rows, int columns, int64_t seed) {
  char text[64];
  int32_t sizes[] = {rows, columns};
  TF_Output shape = constant(scoped(text, name, "shape"), TF_INT32, 1, (int64_t[]){2}, sizes, sizeof sizes);
  TF_OperationDescription *desc =
      TF_NewOperation(graph, "RandomStandardNormal", scoped(text, name, "normal"));
  TF_AddInput(desc, shape);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrInt(desc, "seed", seed);
  TF_Output normal = finish(desc, name);
  TF_Output deviation = scalar(scoped(text, name, "deviation"), sqrtf(2.0f / (float)rows));
  return op("Mul", name, 2, (TF_Output[]){normal, deviation});
}

typedef struct Model {
  TF_Output images, labels, logits, loss;
  TF_Operation *initialize, *train;
} Model;

static Model build(void) {
  Model model;
  Group initializers = {.count = 0}, updates = {.count = 0};
  const char *const names[] = {"w1", "b1", "w2", "b2"};
  const int64_t dims[][2] = {{PIXELS, HIDDEN}, {HIDDEN}, {HIDDEN, CLASSES}, {CLASSES}};
  const int ranks[] = {2, 1, 2, 1};
  TF_Output zero = scalar("zero", 0), handles[4], values[4], gradients[4];
  model.images = placeholder("images", TF_FLOAT, 2, (int64_t[]){-1, PIXELS});
  model.labels = placeholder("labels", TF_INT32, 1, (int64_t[]){-1});
  for (int i = 0; i < 4; i++) {
    char text[64];
    TF_Output start =
        i % 2 ? filled(scoped(text, names[i], "start"), 1, dims[i], zero)
              : random_weights(scoped(text, names[i], "start"), (int)dims[i][0], (int)dims[i][1], 7 + i);
    handles[i] = variable(names[i], start, ranks[i], dims[i], &initializers);
    values[i] = read(scoped(text, names[i], "Read"), handles[i]);
  }
  TF_Output hidden =
      op("BiasAdd", "z1", 2,
         (TF_Output[]){op("MatMul", "xw1", 2, (TF_Output[]){model.images, values[0]}), values[1]});
  hidden = op("Relu", "a1", 1, &hidden);
  model.logits = op("BiasAdd", "logits", 2,
                    (TF_Output[]){op("MatMul", "aw2", 2, (TF_Output[]){hidden, values[2]}), values[3]});
  TF_Output losses =
      op("SparseSoftmaxCrossEntropyWithLogits", "losses", 2, (TF_Output[]){model.logits, model.labels});
  TF_Output axis = constant("axis", TF_INT32, 1, (int64_t[]){1}, &(int32_t){0}, sizeof(int32_t));
  model.loss = op("Mean", "loss", 2, (TF_Output[]){losses, axis});
  TF_AddGradients(graph, &model.loss, 1, values, 4, NULL, status, gradients);
  check("TF_AddGradients");
  TF_Output rate = scalar("rate", 0.2f), momentum = scalar("momentum", 0.9f);
  for (int i = 0; i < 4; i++) {
    char text[64], slot[64];
    TF_Output start = filled(scoped(text, names[i], "zeros"), ranks[i], dims[i], zero);
    TF_Output accumulator =
        variable(scoped(slot, names[i], "Momentum"), start, ranks[i], dims[i], &initializers);
    TF_Output inputs[] = {handles[i], accumulator, rate, gradients[i], momentum};
    updates.members[updates.count++] =
        op("ResourceApplyMomentum", scoped(text, names[i], "update"), 5, inputs).oper;
  }
  model.initialize = group("initialize", &initializers);
  model.train = group("train", &updates);
  return model;
}

/* ---- running it ---- */

static void drop(void *data, size_t size, void *argument) {
  (void)data;
  (void)size;
  (void)argument;
}

/* Feeds digits [begin, end) without copying them. */
static TF_Tensor *run(TF_Session *session, const Model *model, Digits *digits, int begin, int end,
                      TF_Output fetch, TF_Operation *target) {
  int64_t dims[] = {end - begin, PIXELS};
  TF_Output feeds[] = {model->images, model->labels};
  TF_Tensor *values[] = {
      TF_NewTensor(TF_FLOAT, dims, 2, digits->pixels[begin], sizeof digits->pixels[0] * (size_t)(end - begin),
                   drop, NULL),
      TF_NewTensor(TF_INT32, dims, 1, &digits->labels[begin],
                   sizeof digits->labels[0] * (size_t)(end - begin), drop, NULL),
  };
  TF_Tensor *result = NULL;
  const TF_Operation *targets[] = {target};
  TF_SessionRun(session, NULL, feeds, values, 2, &fetch, &result, 1, targets, target ? 1 : 0, NULL, status);
  check("TF_SessionRun");
  TF_DeleteTensor(values[0]);
  TF_DeleteTensor(values[1]);
  return result;
}

static double accuracy(TF_Session *session, const Model *model, Digits *digits) {
  TF_Tensor *logits = run(session, model, digits, 0, digits->count, model->logits, NULL);
  const float *row = TF_TensorData(logits);
  int right = 0;
  for (int i = 0; i < digits->count; i++, row += CLASSES) {
    int best = 0;
    for (int k = 1; k < CLASSES; k++) best = row[k] > row[best] ? k : best;
    right += best == digits->labels[i];
  }
  TF_DeleteTensor(logits);
  return (double)right / digits->count;
}

/* Fisher-Yates, with its own small generator so that every run is the same. */
static void shuffle(Digits *digits, uint32_t *state) {
  for (int i = digits->count - 1; i > 0; i--) {
    *state = *state * 1664525u + 1013904223u;
    int k = (int)((*state >> 8) % (uint32_t)(i + 1));
    float pixels[PIXELS];
    int32_t label = digits->labels[i];
    memcpy(pixels, digits->pixels[i], sizeof pixels);
    memcpy(digits->pixels[i], digits->pixels[k], sizeof pixels);
    memcpy(digits->pixels[k], pixels, sizeof pixels);
    digits->labels[i] = digits->labels[k];
    digits->labels[k] = label;
  }
}

int main(int argc, char **argv) {
  static Digits training, testing;
  read_digits(argc > 1 ? argv[1] : TFCORE_DIGITS_CSV, &training, &testing);
  status = TF_NewStatus();
  graph = TF_NewGraph();
  Model model = build();
  TF_Session *session = TF_NewSession(graph, NULL, status);
  check("TF_NewSession");
  const TF_Operation *initialize[] = {model.initialize};
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, initialize, 1, NULL, status);
  check("initialize");
  uint32_t state = 1;
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    double loss = 0;
    int batches = 0;
    shuffle(&training, &state);
    for (int begin = 0; begin + BATCH <= training.count; begin += BATCH, batches++) {
      TF_Tensor *batch_loss = run(session, &model, &training, begin, begin + BATCH, model.loss, model.train);
      loss += ((const float *)TF_TensorData(batch_loss))[0];
      TF_DeleteTensor(batch_loss);
    }
    if (epoch % 10 == 9) printf("epoch %2d: loss %.4f\n", epoch + 1, loss / batches);
  }
  double right = accuracy(session, &model, &testing);
  printf("%d test digits, %.2f %% right\n", testing.count, 100 * right);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  printf("%d passed, %d failed\n", right >= 0.97, right < 0.97);
  return right < 0.97;
}
