/* Whole scenarios, with every allocation failing once. */
#include <math.h>

#include "base/file_store.h"
#include "c_api/training_graph.h"
#include "runtime/thread_pool.h"
#include "shortage.h"

/* Runs the scenario with 0, 1, 2, ... allowed allocations, until it needs no more. A scenario returns whether
 * it succeeded; otherwise the status has RESOURCE_EXHAUSTED. `least_failures` is the least number of
 * failures; it is small because with 32-bit pointers more fits into one block of an arena, so that there are
 * fewer allocations. */
typedef bool Scenario(Fixture *f, void *arg);

static void starve(Fixture *f, Scenario *scenario, void *arg, int least_failures) {
  thread_pool_default(); /* outlives the scenario */
  bool done = false;
  int failures = 0;
  for (int64_t successes = 0; !done && successes < 100000; successes += shortage_stride(successes)) {
    TF_SetStatus(f->status, TF_OK, "");
    mem_fail_after(successes);
    done = scenario(f, arg);
    mem_fail_after(-1);
    if (done) break;
    failures++;
    CHECK_CONTEXT("after %d allocations", (int)successes);
    if (!CHECK_INT_EQ(TF_GetCode(f->status), TF_RESOURCE_EXHAUSTED)) {
      CHECK_STR_EQ(TF_Message(f->status), "");
      break;
    }
  }
  CHECK_CONTEXT("%s", "");
  CHECK(done);
  CHECK(failures >= least_failures);
}

/* A scenario that can be repeated: it ends with RESOURCE_EXHAUSTED or has the same result as with enough
 * memory, which it checks. */
static void starve_each(Fixture *f, Scenario *scenario, void *arg, const char *what) {
  Shortage shortage = {.what = what};
  thread_pool_default();
  do {
    TF_SetStatus(f->status, TF_OK, "");
    shortage_begin(&shortage);
    bool done = scenario(f, arg);
    shortage_end(&shortage, done, (Code)TF_GetCode(f->status));
  } while (shortage_next(&shortage));
  TF_SetStatus(f->status, TF_OK, "");
}

static bool exhausted(Fixture *f) {
  TF_SetStatus(f->status, TF_RESOURCE_EXHAUSTED, "NULL was given");
  return false;
}

static bool make_and_delete(Fixture *f, void *arg) {
  (void)arg;
  TF_Graph *graph = TF_NewGraph();
  TF_Buffer *ops = TF_GetAllOpList(), *buffer = TF_NewBuffer(), *bytes = TF_NewBufferFromString("abc", 3);
  TF_Status *status = TF_NewStatus();
  TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, (int64_t[]){2, 2}, 2, 1000);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_ImportGraphDefOptions *import = TF_NewImportGraphDefOptions();
  bool ok = graph && ops && buffer && bytes && status && tensor && options && import;
  TF_DeleteGraph(graph);
  TF_DeleteBuffer(ops);
  TF_DeleteBuffer(buffer);
  TF_DeleteBuffer(bytes);
  TF_DeleteStatus(status);
  TF_DeleteTensor(tensor);
  TF_DeleteSessionOptions(options);
  TF_DeleteImportGraphDefOptions(import);
  return ok || exhausted(f);
}

TEST(making_objects_without_memory) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  starve(&f, make_and_delete, NULL, 10);
  starve_each(&f, make_and_delete, NULL, "making objects");
  end(&f);
}

static bool build_in_new_graph(Fixture *f, void *arg) {
  (void)arg;
  Training training;
  Fixture inner = {TF_NewGraph(), f->status};
  if (!inner.graph) return exhausted(f);
  bool ok = build_training(&inner, &training);
  TF_DeleteGraph(inner.graph);
  return ok;
}

TEST(building_a_training_graph_without_memory) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  starve(&f, build_in_new_graph, NULL, 100);
  starve_each(&f, build_in_new_graph, NULL, "building");
  end(&f);
}

/* Each building step is repeated until it succeeds, in one graph: failures must have left no trace. */
static bool add_operation(Fixture *f, void *arg) {
  const TF_Output *x = arg;
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "AddN", "sum");
  TF_AddInputList(desc, (TF_Output[]){*x, *x, *x}, 3);
  TF_AddControlInput(desc, x->oper);
  TF_ColocateWith(desc, x->oper);
  TF_SetDevice(desc, "/device:CPU:0");
  TF_SetAttrIntList(desc, "_ints", (int64_t[]){1, 2, 3}, 3);
  TF_SetAttrShapeList(desc, "_shapes", (const int64_t *[]){(int64_t[]){1, 2}, NULL}, (int[]){2, -1}, 2);
  TF_SetAttrString(desc, "_string", "abc", 3);
  TF_SetAttrFuncName(desc, "_func", "F", 1);
  return TF_FinishOperation(desc, f->status) != NULL;
}

TEST(an_operation_that_found_no_memory_left_no_trace) {
  Fixture f = {0}, g = {0};
  REQUIRE(begin(&f) && begin(&g));
  TF_Output x = placeholder(&f, "x"), same_x = placeholder(&g, "x");
  starve(&f, add_operation, &x, 5);
  CHECK(add_operation(&g, &same_x));
  TF_Buffer *starved = graph_bytes(&f, f.graph), *fed = graph_bytes(&g, g.graph);
  if (CHECK_INT_EQ(starved->length, fed->length)) CHECK_MEM_EQ(starved->data, fed->data, fed->length);
  TF_DeleteBuffer(starved);
  TF_DeleteBuffer(fed);
  CHECK_INT_EQ(TF_OperationOutputNumConsumers(x), 3);
  CHECK_INT_EQ(TF_OperationNumControlOutputs(x.oper), 1);
  end(&f);
  end(&g);
}

static bool import_bytes(Fixture *f, void *arg) {
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  if (!options) return exhausted(f);
  TF_ImportGraphDefOptionsSetPrefix(options, "imported");
  TF_ImportGraphDefOptionsSetUniquifyNames(options, 1);
  TF_ImportGraphDefOptionsSetDefaultDevice(options, "/device:CPU:0");
  TF_ImportGraphDefOptionsAddInputMapping(options, "images", 0,
                                          (TF_Output){TF_GraphOperationByName(f->graph, "x"), 0});
  TF_ImportGraphDefOptionsAddReturnOutput(options, "loss", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "train");
  TF_ImportGraphDefResults *results = TF_GraphImportGraphDefWithResults(f->graph, arg, options, f->status);
  TF_DeleteImportGraphDefResults(results);
  TF_DeleteImportGraphDefOptions(options);
  return results != NULL;
}

static bool export_bytes(Fixture *f, void *arg) {
  TF_Buffer *bytes = TF_NewBuffer();
  if (!bytes) return exhausted(f);
  TF_GraphToGraphDef(f->graph, bytes, f->status);
  bool ok = TF_GetCode(f->status) == TF_OK;
  if (ok) CHECK_INT_EQ(bytes->length, *(size_t *)arg);
  TF_DeleteBuffer(bytes);
  return ok;
}

TEST(import_and_export_without_memory) {
  Fixture source = {0}, f = {0};
  Training training;
  REQUIRE(begin(&source) && begin(&f));
  REQUIRE(build_training(&source, &training));
  TF_Buffer *bytes = graph_bytes(&source, source.graph);
  size_t length = bytes->length;
  starve(&source, export_bytes, &length, 3);
  starve_each(&source, export_bytes, &length, "exporting");
  placeholder(&f, "x");
  starve(&f, import_bytes, bytes, 20);
  CHECK_INT_EQ(num_operations(f.graph), num_operations(source.graph) + 1);
  CHECK(TF_GraphOperationByName(f.graph, "imported/train"));
  CHECK(!TF_GraphOperationByName(f.graph, "imported_1/train"));
  TF_DeleteBuffer(bytes);
  end(&source);
  end(&f);
}

static bool differentiate(Fixture *f, void *arg) {
  Training *training = arg;
  TF_AddGradientsWithPrefix(f->graph, "again", &training->loss, 1, training->weights, 2, NULL, f->status,
                            training->gradients);
  return TF_GetCode(f->status) == TF_OK;
}

TEST(gradients_without_memory) {
  Fixture f = {0};
  Training training;
  REQUIRE(begin(&f));
  REQUIRE(build_training(&f, &training));
  starve(&f, differentiate, &training, 20);
  CHECK(strncmp(TF_OperationName(training.gradients[0].oper), "again/", 6) == 0);
  end(&f);
}

static bool make_functions(Fixture *f, void *arg) {
  Training *training = arg;
  TF_Output inputs[] = {training->images, training->labels, training->weights[0], training->weights[1]};
  TF_Function *function = TF_GraphToFunction(f->graph, "Loss", 1, -1, NULL, 4, inputs, 1, &training->loss,
                                             NULL, NULL, "the loss", f->status);
  if (!function) return false;
  TF_Buffer *bytes = TF_NewBuffer();
  if (bytes) TF_FunctionToFunctionDef(function, bytes, f->status);
  bool ok = bytes && TF_GetCode(f->status) == TF_OK;
  TF_Function *copy = ok ? TF_FunctionImportFunctionDef(bytes->data, bytes->length, f->status) : NULL;
  TF_DeleteBuffer(bytes);
  if (copy) TF_GraphCopyFunction(f->graph, copy, function, f->status);
  ok = copy && TF_GetCode(f->status) == TF_OK;
  TF_DeleteFunction(function);
  TF_DeleteFunction(copy);
  if (!ok) return TF_GetCode(f->status) != TF_OK ? false : exhausted(f);
  TF_Function *functions[2];
  int count = TF_GraphGetFunctions(f->graph, functions, 2, f->status);
  for (int i = 0; i < count; i++) TF_DeleteFunction(functions[i]);
  return count == 1;
}

TEST(functions_without_memory) {
  Fixture f = {0};
  Training training;
  REQUIRE(begin(&f));
  REQUIRE(build_training(&f, &training));
  starve(&f, make_functions, &training, 20);
  CHECK_INT_EQ(TF_GraphNumFunctions(f.graph), 1);
  end(&f);
}

typedef struct Steps {
  Training training;
  TF_Session *session; /* NULL: a new one for every attempt */
  bool initialized;
  TF_Status *deleted;
} Steps;

/* A step of training that also fetches the loss. */
static bool train_step(Fixture *f, Steps *steps, TF_Session *session) {
  const Training *t = &steps->training;
  const TF_Operation *initialize[] = {t->initialize}, *train[] = {t->train};
  if (!steps->initialized)
    TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, initialize, 1, NULL, f->status);
  if (TF_GetCode(f->status) != TF_OK) return false;
  TF_Tensor *values[] = {training_images(), training_labels()}, *loss = NULL;
  bool ok = values[0] && values[1];
  if (ok) {
    TF_SessionRun(session, NULL, (TF_Output[]){t->images, t->labels}, values, 2, &t->loss, &loss, 1, train, 1,
                  NULL, f->status);
    ok = TF_GetCode(f->status) == TF_OK;
    CHECK(ok == (loss != NULL));
    if (ok) CHECK(isfinite(*(float *)TF_TensorData(loss)));
  } else {
    exhausted(f);
  }
  TF_DeleteTensor(loss);
  TF_DeleteTensor(values[0]);
  TF_DeleteTensor(values[1]);
  return ok;
}

static bool run_steps(Fixture *f, void *arg) {
  Steps *steps = arg;
  if (steps->session) return train_step(f, steps, steps->session);
  TF_Session *session = TF_NewSession(f->graph, NULL, f->status);
  if (!session) return false;
  bool ok = train_step(f, steps, session) && train_step(f, steps, session);
  TF_DeleteSession(session, steps->deleted); /* f->status still has the step's error */
  return ok;
}

TEST(training_steps_without_memory) {
  Fixture f = {0};
  Steps steps = {.deleted = TF_NewStatus()};
  REQUIRE(begin(&f));
  REQUIRE(build_training(&f, &steps.training));
  starve(&f, run_steps, &steps, 50);
  starve_each(&f, run_steps, &steps, "training");
  /* The same in a session that survives all failures. */
  steps.session = TF_NewSession(f.graph, NULL, f.status);
  REQUIRE(steps.session);
  starve(&f, run_steps, &steps, 30);
  steps.initialized = true;
  starve(&f, run_steps, &steps, 2); /* only tensors and results allocate */
  TF_DeleteSession(steps.session, f.status);
  TF_DeleteStatus(steps.deleted);
  end(&f);
}

/* --- results that must equal those with enough memory, in a separate graph --- */

typedef struct InNewGraph {
  bool (*run)(Fixture *f, void *arg);
  void *arg;
  TF_Buffer *want; /* the graph's bytes; NULL: unknown */
} InNewGraph;

static void starve_in_new_graphs(Fixture *f, InNewGraph *in, const char *what) {
  Shortage shortage = {.what = what};
  do {
    Fixture inner = {TF_NewGraph(), f->status};
    TF_SetStatus(f->status, TF_OK, "");
    shortage_begin(&shortage);
    bool ok = in->run(&inner, in->arg);
    shortage_end(&shortage, ok, (Code)TF_GetCode(f->status));
    TF_Buffer *bytes = ok ? graph_bytes(&inner, inner.graph) : NULL;
    if (ok && !in->want) {
      in->want = bytes;
      bytes = NULL;
    } else if (ok && CHECK_INT_EQ(bytes->length, in->want->length)) {
      CHECK_MEM_EQ(bytes->data, in->want->data, bytes->length);
    }
    TF_DeleteBuffer(bytes);
    TF_DeleteGraph(inner.graph);
  } while (shortage_next(&shortage));
  TF_SetStatus(f->status, TF_OK, "");
}

static bool add_x(Fixture *f, TF_Output *x) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  *x = (TF_Output){TF_FinishOperation(desc, f->status), 0};
  return x->oper != NULL;
}

static bool add_sum(Fixture *f, void *arg) {
  TF_Output x;
  (void)arg;
  return add_x(f, &x) && add_operation(f, &x);
}

static bool import_again(Fixture *f, void *arg) {
  TF_Output x;
  return add_x(f, &x) && import_bytes(f, arg);
}

static bool build_and_differentiate(Fixture *f, void *arg) {
  Training training;
  (void)arg;
  return build_training(f, &training) && differentiate(f, &training);
}

static bool build_and_make_functions(Fixture *f, void *arg) {
  Training training;
  (void)arg;
  return build_training(f, &training) && make_functions(f, &training);
}

TEST(what_succeeds_without_some_memory_is_complete) {
  Fixture f = {0};
  Training training;
  REQUIRE(begin(&f));
  REQUIRE(build_training(&f, &training));
  TF_Buffer *bytes = graph_bytes(&f, f.graph);
  InNewGraph all[] = {{add_sum, NULL, NULL},
                      {import_again, bytes, NULL},
                      {build_and_differentiate, NULL, NULL},
                      {build_and_make_functions, NULL, NULL}};
  static const char *const names[] = {"adding an operation", "importing", "differentiating",
                                      "making functions"};
  for (int i = 0; i < 4; i++) {
    starve_in_new_graphs(&f, &all[i], names[i]);
    TF_DeleteBuffer(all[i].want);
  }
  TF_DeleteBuffer(bytes);
  end(&f);
}

static TF_Output text_constant(Fixture *f, const char *name, int rank, const char *text) {
  const int64_t one = 1;
  TF_Tensor *value = TF_AllocateTensor(TF_STRING, &one, rank, sizeof(TF_TString));
  if (!CHECK(value)) return kNone;
  TF_StringInit(TF_TensorData(value));
  TF_StringCopy(TF_TensorData(value), text, strlen(text));
  return constant_of(f, name, value);
}

typedef struct Reference {
  TF_Output v;
  const TF_Operation *steps[4]; /* v = [1, 2]; v += [1, 1]; save v; v = saved value */
} Reference;

static void build_reference(Fixture *f, Reference *r) {
  const int64_t two = 2;
  const TF_DataType types[] = {TF_FLOAT};
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "VariableV2", "v");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", &two, 1);
  r->v = finish(f, desc);
  TF_Output first = constant_of(f, "first", float_vector(2, (float[]){1, 2}));
  TF_Output ones = constant_of(f, "ones", float_vector(2, (float[]){1, 1}));
  TF_Output where[] = {text_constant(f, "prefix", 0, "scarce"), text_constant(f, "names", 1, "v"),
                       text_constant(f, "slices", 1, "")};
  r->steps[0] = binary(f, "Assign", "initialize", r->v, first).oper;
  r->steps[1] = binary(f, "AssignAdd", "more", r->v, ones).oper;
  desc = TF_NewOperation(f->graph, "SaveV2", "save");
  for (int i = 0; i < 3; i++) TF_AddInput(desc, where[i]);
  TF_AddInputList(desc, &r->v, 1);
  r->steps[2] = finish(f, desc).oper;
  desc = TF_NewOperation(f->graph, "RestoreV2", "restored");
  for (int i = 0; i < 3; i++) TF_AddInput(desc, where[i]);
  TF_SetAttrTypeList(desc, "dtypes", types, 1);
  r->steps[3] = binary(f, "Assign", "load", r->v, finish(f, desc)).oper;
}

static bool save_and_restore(Fixture *f, void *arg) {
  const Reference *r = arg;
  TF_Status *deleted = TF_NewStatus();
  TF_Session *session = deleted ? TF_NewSession(f->graph, NULL, f->status) : NULL;
  if (!deleted) exhausted(f);
  bool ok = session != NULL;
  for (int i = 0; ok && i < 4; i++) {
    TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &r->steps[i], 1, NULL, f->status);
    ok = TF_GetCode(f->status) == TF_OK;
  }
  TF_Tensor *value = NULL;
  if (ok) {
    TF_SessionRun(session, NULL, NULL, NULL, 0, &r->v, &value, 1, NULL, 0, NULL, f->status);
    ok = TF_GetCode(f->status) == TF_OK;
    CHECK(ok == (value != NULL));
    if (ok) CHECK_MEM_EQ(TF_TensorData(value), ((float[]){2, 3}), 8);
  }
  TF_DeleteTensor(value);
  if (session) TF_DeleteSession(session, deleted);
  TF_DeleteStatus(deleted);
  return ok;
}

TEST(reference_variables_are_saved_and_restored_without_memory) {
  Fixture f = {0};
  Reference r;
  const FileStore *files = file_store();
  REQUIRE(begin(&f));
  file_store_use(&kMemoryFiles);
  build_reference(&f, &r);
  starve(&f, save_and_restore, &r, 50);
  starve_each(&f, save_and_restore, &r, "saving");
  file_memory_clear();
  file_store_use(files);
  end(&f);
}
