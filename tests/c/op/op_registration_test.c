/* Ops described at run time: when factories run, the fate of their errors, and the watcher. */
#include <stdio.h>
#include <string.h>

#if TFCORE_THREADS
#include <pthread.h>
#endif

#include "base/alloc.h"
#include "harness.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

/* The task of a factory, and its outcome. */
typedef struct Recipe {
  const char *name, *input; /* input: an arg spec, or NULL */
  const char *gradient;
  int runs, frees;
} Recipe;

static const int kShapeData = 7;

static bool make_op(void *arg, Arena *arena, OpRegistrationData *data, Status *status) {
  Recipe *recipe = arg;
  recipe->runs++;
  data->name = recipe->name;
  OpDefBuilder *builder = op_def_builder_new(arena, recipe->name);
  if (!builder) return status_oom(status, "builder");
  if (recipe->input) op_def_builder_input(builder, recipe->input);
  op_def_builder_deprecated(builder, 8, "Old");
  op_def_builder_shape(builder, shape_unknown_outputs);
  TRY(op_def_builder_finalize(builder, &data->op_def, &data->shape, status));
  data->shape_data = &kShapeData;
  data->gradient = recipe->gradient;
  return true;
}

static void free_recipe(void *arg) { ((Recipe *)arg)->frees++; }

static bool register_recipe(OpRegistry *registry, Recipe *recipe, Status *status) {
  return op_registry_register(registry, make_op, recipe, free_recipe, status);
}

const OpRegistration kOpTableGood = {
    .name = "TableGood",
    .inputs = {"x: int32"},
};
const OpRegistration kOpTableBad = {
    .name = "TableBad",
    .inputs = {"x: what"},
};
const OpRegistration kOpAloneBad = {
    .name = "AloneBad",
    .inputs = {"x: what"},
};
static const OpTableRow kGoodTable[] = {{"TableGood", &kOpTableGood}};
static const OpTableRow kTable[] = {{"TableGood", &kOpTableGood}, {"TableBad", &kOpTableBad}};

TEST(a_registration_waits_until_somebody_looks) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe first = {.name = "First"}, second = {.name = "Second"};
  CHECK_OK(register_recipe(registry, &first, &status), status);
  CHECK_INT_EQ(first.runs, 0);
  CHECK(!op_registry_find(registry, "Nobody"));
  CHECK_INT_EQ(first.runs, 1);
  CHECK_INT_EQ(first.frees, 1);
  CHECK_OK(register_recipe(registry, &second, &status), status);
  CHECK_INT_EQ(second.runs, 1);
  CHECK_INT_EQ(second.frees, 1);
  CHECK(op_registry_find(registry, "First") && op_registry_find(registry, "Second"));
  CHECK_INT_EQ(first.runs, 1);
  CHECK(!op_registry_find(op_registry_global(), "First"));
  op_registry_free(registry);
  CHECK_INT_EQ(first.frees, 1);
}

TEST(every_look_at_the_ops_ends_the_deferral) {
  for (int way = 0; way < 8; way++) {
    CHECK_CONTEXT("way %d", way);
    Status status;
    status_init(&status);
    OpRegistry *registry = op_registry_new();
    Arena *arena = arena_new();
    Recipe recipe = {.name = "Waiting"};
    OpList *list = NULL;
    StrBuf text = {0};
    const Op *op;
    CHECK_OK(register_recipe(registry, &recipe, &status), status);
    switch (way) {
      case 0: CHECK_OK(op_registry_look_up(registry, "Waiting", &op, &status), status); break;
      case 1: CHECK(op_registry_find(registry, "Waiting")); break;
      case 2: CHECK_OK(op_registry_export(registry, false, arena, &list, &status), status); break;
      case 3: CHECK_OK(op_registry_registered_ops(registry, arena, &list, &status), status); break;
      case 4: CHECK_OK(op_registry_print(registry, false, &text, &status), status); break;
      case 5: CHECK_INT_EQ(op_registry_count(registry), 1); break;
      case 6: CHECK_STR_EQ(op_registry_name(registry, 0), "Waiting"); break;
      default: op_registry_end_deferral(registry); break;
    }
    CHECK_INT_EQ(recipe.runs, 1);
    if (list && CHECK_INT_EQ(list->n_op, 1)) CHECK_STR_EQ(list->op[0]->name, "Waiting");
    if (way == 4) CHECK_STR_EQ(strbuf_text(&text), "Op<name=Waiting; signature= -> >\n");
    strbuf_free(&text);
    arena_free(arena);
    op_registry_free(registry);
  }
}

TEST(a_registered_op_knows_what_its_factory_said) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  char gradient[] = "text", name[] = "Told";
  Recipe recipe = {.name = name, .input = "h: resource", .gradient = gradient},
         none = {.name = "None", .gradient = NO_GRADIENT};
  op_registry_end_deferral(registry);
  REQUIRE_OK(register_recipe(registry, &recipe, &status), status);
  REQUIRE_OK(register_recipe(registry, &none, &status), status);
  memset(gradient, '#', sizeof gradient - 1);
  memset(name, '#', sizeof name - 1);
  const Op *op = op_registry_find(registry, "Told");
  REQUIRE(op);
  CHECK_STR_EQ(op->def->name, "Told");
  CHECK_STR_EQ(op->registration->name, "Told");
  CHECK_STR_EQ(op->registration->gradient, "text");
  CHECK(op->registration->shape == shape_unknown_outputs && op->registration->shape_data == &kShapeData);
  CHECK(op->registration->is_stateful && !op->registration->is_commutative);
  CHECK_INT_EQ(op->registration->deprecated_version, 8);
  CHECK_STR_EQ(op->registration->deprecation_explanation, "Old");
  CHECK(!op->registration->inputs[0] && !op->registration->kernels[0].compute);
  CHECK(!op_has_kernel(op, DT_INVALID));
  CHECK(op_registry_find(registry, "None")->registration->gradient == NO_GRADIENT);
  op_registry_free(registry);
}

TEST(a_registration_that_fails_at_once_leaves_nothing) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe good = {.name = "Good"}, again = {.name = "Good"}, table = {.name = "TableGood"},
         bad_spec = {.name = "Bad", .input = "x: what"}, bad_name = {.name = "bad"};
  CHECK_OK(op_registry_add_table(registry, kGoodTable, 1, &status), status);
  op_registry_end_deferral(registry);
  CHECK_OK(register_recipe(registry, &good, &status), status);
  const Op *op = op_registry_find(registry, "Good");
  for (int i = 0; i < 3; i++) {
    CHECK_ERROR(register_recipe(registry, &again, &status), status, CODE_ALREADY_EXISTS, "Op with name Good");
    CHECK_ERROR(register_recipe(registry, &table, &status), status, CODE_ALREADY_EXISTS,
                "Op with name TableGood");
    CHECK_ERROR(register_recipe(registry, &bad_spec, &status), status, CODE_INVALID_ARGUMENT,
                "Reference to unknown attr 'what' from Input(\"x: what\") for Op Bad");
    CHECK_ERROR(register_recipe(registry, &bad_name, &status), status, CODE_INVALID_ARGUMENT,
                "Invalid name: bad (Did you use CamelCase?)");
  }
  CHECK_INT_EQ(op_registry_count(registry), 2);
  CHECK(op_registry_find(registry, "Good") == op);
  CHECK_ERROR(op_registry_look_up(registry, "Bad", &op, &status), status, CODE_NOT_FOUND,
              "Op type not registered 'Bad'");
  /* Its registration reported the error already. */
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  CHECK_INT_EQ(again.frees, 3);
  CHECK_INT_EQ(bad_spec.frees, 3);
  op_registry_free(registry);
}

TEST(a_deferred_registration_that_fails_is_remembered) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe good = {.name = "Good"}, bad = {.name = "Bad", .input = "x: what"}, worse = {.name = "worse"},
         last = {.name = "Last"};
  CHECK_OK(register_recipe(registry, &good, &status), status);
  CHECK_OK(register_recipe(registry, &bad, &status), status);
  CHECK_OK(register_recipe(registry, &worse, &status), status);
  CHECK_OK(register_recipe(registry, &last, &status), status);
  const Op *op;
  for (int i = 0; i < 2; i++) {
    CHECK_OK(op_registry_look_up(registry, "Good", &op, &status), status);
    CHECK_OK(op_registry_look_up(registry, "Last", &op, &status), status);
    CHECK_ERROR(op_registry_look_up(registry, "Bad", &op, &status), status, CODE_INVALID_ARGUMENT,
                "Reference to unknown attr 'what'");
    CHECK_ERROR(op_registry_look_up(registry, "worse", &op, &status), status, CODE_INVALID_ARGUMENT,
                "Invalid name: worse");
    CHECK_ERROR(op_registry_look_up(registry, "Other", &op, &status), status, CODE_NOT_FOUND,
                "Op type not registered 'Other'");
    CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_INVALID_ARGUMENT,
                "unknown attr 'what'");
  }
  CHECK_INT_EQ(bad.runs, 1);
  CHECK_INT_EQ(bad.frees, 1);
  op_registry_clear_deferred(registry);
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  CHECK_ERROR(op_registry_look_up(registry, "Bad", &op, &status), status, CODE_NOT_FOUND,
              "Op type not registered 'Bad'");
  CHECK_INT_EQ(op_registry_count(registry), 2);
  op_registry_free(registry);
}

TEST(of_two_deferred_registrations_the_first_stands) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe first = {.name = "Twice", .input = "x: int32"}, second = {.name = "Twice"};
  CHECK_OK(register_recipe(registry, &first, &status), status);
  CHECK_OK(register_recipe(registry, &second, &status), status);
  const Op *op;
  if (CHECK_OK(op_registry_look_up(registry, "Twice", &op, &status), status))
    CHECK_INT_EQ(op->def->n_input_arg, 1);
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_ALREADY_EXISTS,
              "Op with name Twice");
  op_registry_free(registry);
}

TEST(registrations_are_deferred_again_and_dropped) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe now = {.name = "Now"}, later = {.name = "Later"}, never = {.name = "Never"};
  op_registry_end_deferral(registry);
  CHECK_OK(register_recipe(registry, &now, &status), status);
  op_registry_defer_registrations(registry);
  CHECK_OK(register_recipe(registry, &later, &status), status);
  CHECK_INT_EQ(later.runs, 0);
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  CHECK_INT_EQ(later.runs, 1);
  op_registry_defer_registrations(registry);
  CHECK_OK(register_recipe(registry, &never, &status), status);
  op_registry_clear_deferred(registry);
  CHECK_INT_EQ(never.runs, 0);
  CHECK_INT_EQ(never.frees, 1);
  CHECK_INT_EQ(op_registry_count(registry), 2);
  CHECK(!op_registry_find(registry, "Never"));
  /* Deferred arguments are freed with the registry. */
  op_registry_defer_registrations(registry);
  CHECK_OK(register_recipe(registry, &never, &status), status);
  op_registry_free(registry);
  CHECK_INT_EQ(never.runs, 0);
  CHECK_INT_EQ(never.frees, 2);
}

TEST(a_cleared_registry_is_as_new) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe bad = {.name = "bad"}, good = {.name = "Good"};
  CHECK_OK(register_recipe(registry, &bad, &status), status);
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_INVALID_ARGUMENT,
              "Invalid name: bad");
  op_registry_clear(registry);
  CHECK_OK(register_recipe(registry, &good, &status), status);
  CHECK_INT_EQ(good.runs, 0);
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  CHECK_INT_EQ(op_registry_count(registry), 1);
  op_registry_free(registry);
}

TEST(processing_parses_the_tables) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  const Op *op;
  CHECK_OK(op_registry_add_table(registry, kTable, 2, &status), status);
  CHECK_OK(op_registry_look_up(registry, "TableGood", &op, &status), status);
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_INVALID_ARGUMENT,
              "Reference to unknown attr 'what' from Input(\"x: what\") for Op TableBad");
  CHECK_ERROR(op_registry_look_up(registry, "TableBad", &op, &status), status, CODE_INVALID_ARGUMENT,
              "unknown attr 'what'");
  CHECK_OK(op_registry_look_up(registry, "TableGood", &op, &status), status);
  op_registry_free(registry);
}

/* --- the watcher --- */

typedef struct Watch {
  char seen[256]; /* "Good:0 Bad:3 ", names with the codes of outcomes */
  Code pass;      /* an error that is ignored */
  const char *reject;
} Watch;

static bool watch(void *arg, const Status *outcome, const OpDef *op_def, Status *status) {
  Watch *w = arg;
  size_t length = strlen(w->seen);
  snprintf(w->seen + length, sizeof w->seen - length, "%s:%d ", op_def ? op_def->name : "?", outcome->code);
  if (w->reject && op_def && strcmp(op_def->name, w->reject) == 0) {
    return status_set(status, CODE_ABORTED, "The watcher does not want %s", w->reject);
  }
  if (outcome->code == CODE_OK || outcome->code == w->pass) return true;
  *status = *outcome;
  return false;
}

TEST(the_watcher_is_told_of_every_registration) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Watch w = {.pass = CODE_ALREADY_EXISTS};
  Recipe good = {.name = "Good"}, again = {.name = "Good"}, bad = {.name = "bad"},
         broken = {.name = "Broken", .input = "x: what"};
  CHECK_OK(op_registry_set_watcher(registry, watch, &w, &status), status);
  CHECK_OK(op_registry_add_table(registry, kTable, 2, &status), status);
  CHECK_OK(register_recipe(registry, &good, &status), status);
  CHECK_STR_EQ(w.seen, "");
  op_registry_end_deferral(registry);
  CHECK_STR_EQ(w.seen, "TableGood:0 ?:3 Good:0 ");
  w.seen[0] = '\0';
  CHECK_OK(register_recipe(registry, &again, &status), status); /* the watcher ignores that error */
  CHECK_ERROR(register_recipe(registry, &bad, &status), status, CODE_INVALID_ARGUMENT, "Invalid name: bad");
  CHECK_ERROR(register_recipe(registry, &broken, &status), status, CODE_INVALID_ARGUMENT,
              "unknown attr 'what'");
  CHECK_ERROR(op_registry_add(registry, &kOpAloneBad, &status), status, CODE_INVALID_ARGUMENT,
              "unknown attr 'what'");
  CHECK_STR_EQ(w.seen, "Good:6 bad:3 ?:3 ?:3 ");
  CHECK_INT_EQ(op_registry_count(registry), 3);
  op_registry_free(registry);
}

TEST(a_table_is_registered_at_once_when_somebody_watches) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Watch w = {.reject = "TableGood"};
  op_registry_end_deferral(registry);
  CHECK_OK(op_registry_set_watcher(registry, watch, &w, &status), status);
  CHECK_OK(op_registry_add_table(registry, kGoodTable, 1, &status), status);
  CHECK_STR_EQ(w.seen, "TableGood:0 ");
  CHECK_OK(op_registry_add_table(registry, kGoodTable, 1, &status), status);
  CHECK_STR_EQ(w.seen, "TableGood:0 ");
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_ABORTED,
              "The watcher does not want TableGood");
  op_registry_free(registry);
}

TEST(what_the_watcher_says_is_the_outcome) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Watch w = {.reject = "Good"};
  Recipe good = {.name = "Good"}, other = {.name = "Other"}, late = {.name = "Good"};
  const Op *op;
  CHECK_OK(op_registry_set_watcher(registry, watch, &w, &status), status);
  CHECK_OK(register_recipe(registry, &good, &status), status);
  CHECK_OK(register_recipe(registry, &other, &status), status);
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_ABORTED,
              "The watcher does not want Good");
  /* As in TensorFlow the op is registered nevertheless. */
  CHECK_OK(op_registry_look_up(registry, "Good", &op, &status), status);
  CHECK_OK(op_registry_look_up(registry, "Other", &op, &status), status);
  CHECK_ERROR(register_recipe(registry, &late, &status), status, CODE_ABORTED,
              "The watcher does not want Good");
  op_registry_free(registry);
}

TEST(there_is_one_watcher_at_a_time) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Watch first = {.pass = CODE_OK}, second = first;
  Recipe one = {.name = "One"}, two = {.name = "Two"}, three = {.name = "Three"};
  op_registry_end_deferral(registry);
  CHECK_OK(op_registry_set_watcher(registry, NULL, NULL, &status), status);
  CHECK_OK(op_registry_set_watcher(registry, watch, &first, &status), status);
  CHECK_ERROR(op_registry_set_watcher(registry, watch, &second, &status), status, CODE_ALREADY_EXISTS,
              "Cannot over-write a valid watcher with another.");
  CHECK_OK(register_recipe(registry, &one, &status), status);
  CHECK_OK(op_registry_set_watcher(registry, NULL, NULL, &status), status);
  CHECK_OK(register_recipe(registry, &two, &status), status);
  CHECK_OK(op_registry_set_watcher(registry, watch, &second, &status), status);
  CHECK_OK(register_recipe(registry, &three, &status), status);
  CHECK_STR_EQ(first.seen, "One:0 ");
  CHECK_STR_EQ(second.seen, "Three:0 ");
  op_registry_free(registry);
}

/* --- the validator --- */

typedef struct Validation {
  int runs, num_ops;
  bool fails;
} Validation;

static bool validate(void *arg, OpRegistry *registry, Status *status) {
  Validation *v = arg;
  v->runs++;
  v->num_ops = op_registry_count(registry);
  return !v->fails || status_set(status, CODE_FAILED_PRECONDITION, "These ops do not go together");
}

TEST(the_validator_runs_in_the_first_look_up) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe recipe = {.name = "Good"};
  Validation v = {.fails = false};
  const Op *op;
  op_registry_set_validator(registry, validate, &v);
  CHECK_OK(register_recipe(registry, &recipe, &status), status);
  CHECK_INT_EQ(v.runs, 0);
  CHECK_OK(op_registry_look_up(registry, "Good", &op, &status), status);
  CHECK_INT_EQ(v.runs, 1);
  CHECK_INT_EQ(v.num_ops, 1);
  CHECK_OK(op_registry_look_up(registry, "Good", &op, &status), status);
  CHECK(op_registry_find(registry, "Good") == op);
  CHECK_INT_EQ(v.runs, 1);
  /* Ending the deferral in another way is not a look-up. */
  op_registry_defer_registrations(registry);
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  CHECK_OK(op_registry_look_up(registry, "Good", &op, &status), status);
  CHECK_INT_EQ(v.runs, 1);
  op_registry_free(registry);
}

TEST(what_the_validator_says_is_not_lost) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe recipe = {.name = "Good"};
  Validation v = {.fails = true};
  const Op *op;
  op_registry_set_validator(registry, validate, &v);
  CHECK_OK(register_recipe(registry, &recipe, &status), status);
  CHECK_ERROR(op_registry_look_up(registry, "Good", &op, &status), status, CODE_FAILED_PRECONDITION,
              "These ops do not go together");
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_FAILED_PRECONDITION,
              "These ops do not go together");
  CHECK_OK(op_registry_look_up(registry, "Good", &op, &status), status);
  op_registry_clear_deferred(registry);
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  CHECK_INT_EQ(v.runs, 1);
  op_registry_free(registry);
}

TEST(the_registry_is_printed_by_name) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  Recipe z = {.name = "Z"}, b = {.name = "B", .input = "x: int32"}, internal = {.name = "_A"};
  StrBuf text = {0};
  CHECK_OK(register_recipe(registry, &z, &status), status);
  CHECK_OK(register_recipe(registry, &internal, &status), status);
  CHECK_OK(register_recipe(registry, &b, &status), status);
  CHECK_OK(op_registry_print(registry, false, &text, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "Op<name=B; signature=x:int32 -> >\nOp<name=Z; signature= -> >\n");
  strbuf_clear(&text);
  CHECK_OK(op_registry_print(registry, true, &text, &status), status);
  CHECK_STR_EQ(strbuf_text(&text),
               "Op<name=B; signature=x:int32 -> >\nOp<name=Z; signature= -> >\nOp<name=_A; signature= -> "
               ">\n");
  strbuf_free(&text);
  Arena *arena = arena_new();
  OpList *list;
  if (CHECK_OK(op_registry_registered_ops(registry, arena, &list, &status), status) &&
      CHECK_INT_EQ(list->n_op, 3)) {
    CHECK_STR_EQ(list->op[0]->name, "Z");
    CHECK_STR_EQ(list->op[1]->name, "_A");
    CHECK_STR_EQ(list->op[2]->name, "B");
  }
  arena_free(arena);
  op_registry_free(registry);
}

/* --- lack of memory --- */

static bool use_registry(Arena *arena, Recipe *recipes, int count, Status *status) {
  OpRegistry *registry = op_registry_new();
  if (!registry) return status_oom(status, "registry");
  bool ok = true;
  StrBuf text = {0};
  OpList *list;
  for (int i = 0; ok && i < count; i++) {
    if (i == count / 2) ok = op_registry_process_registrations(registry, status);
    ok = ok && register_recipe(registry, &recipes[i], status);
  }
  ok = ok && op_registry_add_table(registry, kGoodTable, 1, status) &&
       op_registry_process_registrations(registry, status) &&
       op_registry_export(registry, true, arena, &list, status) &&
       op_registry_print(registry, true, &text, status);
  if (ok) CHECK_INT_EQ(list->n_op, count + 1);
  strbuf_free(&text);
  op_registry_free(registry);
  return ok;
}

TEST(registration_survives_want_of_memory) {
  bool ok = false;
  for (int64_t successes = 0; !ok && successes < 10000; successes++) {
    CHECK_CONTEXT("after %d allocations", (int)successes);
    Status status;
    status_init(&status);
    Recipe recipes[] = {{.name = "A", .gradient = "text"},
                        {.name = "B", .input = "x: int32"},
                        {.name = "C"},
                        {.name = "D", .gradient = "x"}};
    mem_fail_after(successes);
    Arena *arena = arena_new();
    ok = arena ? use_registry(arena, recipes, 4, &status) : status_oom(&status, "arena");
    mem_fail_after(-1);
    arena_free(arena);
    if (!ok && !CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED)) return;
    /* Each consumed argument is freed once. */
    for (int i = 0; i < 4; i++)
      CHECK(recipes[i].frees == 1 || (!ok && recipes[i].frees == 0 && recipes[i].runs == 0));
  }
  CHECK(ok);
}

/* --- threads --- */

#if TFCORE_THREADS
enum { NUM_THREADS = 4, OPS_A_THREAD = 40 };

typedef struct Worker {
  OpRegistry *registry;
  Recipe recipes[OPS_A_THREAD];
  char names[OPS_A_THREAD][32];
  int clashes, misses;
} Worker;

/* Registers its own ops and one that all threads register, and looks them up. */
static void *work(void *arg) {
  Worker *worker = arg;
  Recipe shared = {.name = "Shared"};
  Status status;
  for (int i = 0; i < OPS_A_THREAD; i++) {
    status_init(&status);
    const Op *op;
    if (!register_recipe(worker->registry, &worker->recipes[i], &status)) worker->misses++;
    if (!op_registry_look_up(worker->registry, worker->names[i], &op, &status)) worker->misses++;
    if (!register_recipe(worker->registry, &shared, &status)) worker->clashes++;
    if (!op_registry_find(worker->registry, "Shared")) worker->misses++;
    if (op_registry_count(worker->registry) < i + 2) worker->misses++;
    if (!op_registry_name(worker->registry, i)) worker->misses++;
  }
  return NULL;
}

TEST(threads_register_and_look_up) {
  OpRegistry *registry = op_registry_new();
  static Worker workers[NUM_THREADS];
  pthread_t threads[NUM_THREADS];
  for (int t = 0; t < NUM_THREADS; t++) {
    workers[t] = (Worker){.registry = registry};
    for (int i = 0; i < OPS_A_THREAD; i++) {
      snprintf(workers[t].names[i], sizeof workers[t].names[i], "Op%dOf%d", i, t);
      workers[t].recipes[i] = (Recipe){.name = workers[t].names[i], .input = "x: float"};
    }
  }
  op_registry_end_deferral(registry);
  for (int t = 0; t < NUM_THREADS; t++) REQUIRE(pthread_create(&threads[t], NULL, work, &workers[t]) == 0);
  int clashes = 0;
  for (int t = 0; t < NUM_THREADS; t++) {
    pthread_join(threads[t], NULL);
    CHECK_INT_EQ(workers[t].misses, 0);
    clashes += workers[t].clashes;
  }
  CHECK_INT_EQ(clashes, NUM_THREADS * OPS_A_THREAD - 1);
  CHECK_INT_EQ(op_registry_count(registry), NUM_THREADS * OPS_A_THREAD + 1);
  op_registry_free(registry);
}
#endif
