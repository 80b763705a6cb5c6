#include "op/op_registry.h"

#if TFCORE_THREADS
#include <pthread.h>
#endif

#include "base/alloc.h"
#include "harness.h"

static bool compute_nothing(KernelContext *context, Status *status) {
  (void)context;
  (void)status;
  return true;
}

const OpRegistration kOpTestTwo = {
    .name = "TestTwo",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {float, int32} = DT_FLOAT"},
    .is_commutative = true,
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_FLOAT, compute_nothing}, {DT_INT32, compute_nothing}},
};
const OpRegistration kOpTestAny = {
    .name = "TestAny",
    .outputs = {"h: resource"},
    .kernels = {{DT_INVALID, compute_nothing}},
};
const OpRegistration kOpTestNoKernel = {
    .name = "TestNoKernel",
    .deprecated_version = 5,
    .deprecation_explanation = "Gone",
};
const OpRegistration kOpTestBad = {
    .name = "TestBad",
    .inputs = {"x: U"},
};
const OpRegistration kOptestInvalid = {
    .name = "testInvalid",

};
const OpRegistration kOp_TestInternal = {
    .name = "_TestInternal",

};
/* As many inputs as a registration can have. */
const OpRegistration kOpTestFull = {
    .name = "TestFull",
    .inputs = {"a: T", "b: T", "c: T", "d: T", "e: T", "f: T", "g: T", "h: T",
               "i: T", "j: T", "k: T", "l: T", "m: T", "n: T", "o: T", "p: T",
               "q: T", "r: T", "s: T", "t: T", "u: T", "v: T", "w: T", "x: T"},
    .attrs = {"T: type"},
};
static const OpRegistration kOtherTestAny = {.name = "TestAny"};

static const OpTableRow kTable[] = {{"TestTwo", &kOpTestTwo},
                                    {"TestAny", &kOpTestAny},
                                    {"TestNoKernel", &kOpTestNoKernel},
                                    {"_TestInternal", &kOp_TestInternal},
                                    {"TestFull", &kOpTestFull}};
enum { TABLE_SIZE = sizeof kTable / sizeof kTable[0] };

static bool add_table(void) {
  Status status;
  status_init(&status);
  return CHECK_OK(op_registry_add_table(op_registry_global(), kTable, TABLE_SIZE, &status), status);
}

TEST(ops_are_found_by_name) {
  Status status;
  status_init(&status);
  REQUIRE(add_table());
  const Op *op = NULL;
  if (CHECK_OK(op_registry_look_up(op_registry_global(), "TestTwo", &op, &status), status)) {
    CHECK(op->registration == &kOpTestTwo);
    CHECK_STR_EQ(op->def->name, "TestTwo");
    CHECK_INT_EQ(op->def->n_input_arg, 2);
    CHECK_STR_EQ(op->def->output_arg[0]->type_attr, "T");
    CHECK(op->def->is_commutative);
    CHECK_INT_EQ(op->def->attr[0]->default_value->type, DT_FLOAT);
    CHECK(op_registry_find(op_registry_global(), "TestTwo") == op);
  }
  CHECK(op_registry_find(op_registry_global(), "TestAny")->def->is_stateful);
  CHECK_INT_EQ(op_registry_find(op_registry_global(), "TestNoKernel")->def->deprecation->version, 5);
  CHECK_INT_EQ(op_registry_find(op_registry_global(), "TestFull")->def->n_input_arg, OP_MAX_ARGS);
  op_registry_clear(op_registry_global());
}

TEST(unknown_ops_are_named) {
  Status status;
  status_init(&status);
  const Op *op = NULL;
  CHECK(!op_registry_find(op_registry_global(), "Foo"));
  REQUIRE(add_table());
  CHECK(!op_registry_find(op_registry_global(), "Foo"));
  CHECK_ERROR(op_registry_look_up(op_registry_global(), "Foo", &op, &status), status, CODE_NOT_FOUND,
              "Op type not registered 'Foo' in binary running on ");
  CHECK_STR_CONTAINS(status.message,
                     ". Make sure the Op and Kernel are registered in the binary running in this process. "
                     "Note that if you are loading a "
                     "saved graph which used ops from tf.contrib (e.g. `tf.contrib.resampler`), accessing "
                     "should be done before importing "
                     "the graph, as contrib ops are lazily registered when the module is first accessed.");
  op_registry_clear(op_registry_global());
  CHECK(!op_registry_find(op_registry_global(), "TestTwo"));
}

TEST(an_op_is_registered_once) {
  Status status;
  status_init(&status);
  REQUIRE(add_table() && add_table());
  CHECK_INT_EQ(op_registry_count(op_registry_global()), TABLE_SIZE);
  CHECK_ERROR(op_registry_add(op_registry_global(), &kOpTestTwo, &status), status, CODE_ALREADY_EXISTS,
              "Op with name TestTwo");
  /* A table with a name in use is not added at all. */
  static const OpTableRow kClash[] = {{"TestBad", &kOpTestBad},
                                      {"TestTwo", &kOpTestTwo},
                                      {"TestAny", &kOtherTestAny}};
  CHECK_ERROR(op_registry_add_table(op_registry_global(), kClash, 3, &status), status, CODE_ALREADY_EXISTS,
              "Op with name TestAny");
  CHECK_INT_EQ(op_registry_count(op_registry_global()), TABLE_SIZE);
  CHECK(op_registry_find(op_registry_global(), "TestTwo"));
  CHECK_ERROR(op_registry_look_up(op_registry_global(), "TestBad", &(const Op *){NULL}, &status), status,
              CODE_NOT_FOUND, "'TestBad'");
  op_registry_clear(op_registry_global());
}

TEST(a_bad_spec_is_found_at_the_latest_on_look_up) {
  Status status;
  status_init(&status);
  static const OpTableRow kBad[] = {{"TestBad", &kOpTestBad}, {"testInvalid", &kOptestInvalid}};
  const Op *op = NULL;
  CHECK_ERROR(op_registry_add(op_registry_global(), &kOpTestBad, &status), status, CODE_INVALID_ARGUMENT,
              "Reference to unknown attr 'U' from Input(\"x: U\") for Op TestBad");
  CHECK_INT_EQ(op_registry_count(op_registry_global()), 0);
  CHECK_OK(op_registry_add_table(op_registry_global(), kBad, 2, &status), status);
  for (int i = 0; i < 2; i++) {
    CHECK_ERROR(op_registry_look_up(op_registry_global(), "TestBad", &op, &status), status,
                CODE_INVALID_ARGUMENT, "Reference to unknown attr 'U'");
    CHECK_ERROR(op_registry_look_up(op_registry_global(), "testInvalid", &op, &status), status,
                CODE_INVALID_ARGUMENT, "Invalid name: testInvalid");
  }
  CHECK(!op_registry_find(op_registry_global(), "TestBad"));
  Arena *arena = arena_new();
  OpList *list = NULL;
  CHECK_ERROR(op_registry_export(op_registry_global(), true, arena, &list, &status), status,
              CODE_INVALID_ARGUMENT, "TestBad");
  arena_free(arena);
  op_registry_clear(op_registry_global());
}

TEST(the_export_is_sorted) {
  Status status;
  status_init(&status);
  REQUIRE(add_table());
  Arena *arena = arena_new();
  OpList *list = NULL;
  static const char *const kSorted[] = {"TestAny", "TestFull", "TestNoKernel", "TestTwo", "_TestInternal"};
  for (int internal = 0; internal < 2; internal++) {
    if (!CHECK_OK(op_registry_export(op_registry_global(), internal, arena, &list, &status), status))
      continue;
    CHECK_INT_EQ(list->n_op, 4 + internal);
    for (size_t i = 0; i < list->n_op; i++) CHECK_STR_EQ(list->op[i]->name, kSorted[i]);
  }
  CHECK(list->op[3] == op_registry_find(op_registry_global(), "TestTwo")->def);
  arena_free(arena);
  op_registry_clear(op_registry_global());
}

TEST(names_come_in_table_order) {
  Status status;
  status_init(&status);
  REQUIRE(add_table());
  static const OpTableRow kClash[] = {{"testInvalid", &kOptestInvalid}, {"TestAny", &kOtherTestAny}};
  CHECK(!op_registry_add(op_registry_global(), &kOptestInvalid, &status));
  CHECK(!op_registry_add_table(op_registry_global(), kClash, 2, &status)); /* leaves an unused entry */
  CHECK_OK(op_registry_add(op_registry_global(), &(const OpRegistration){.name = "TestLast"}, &status),
           status);
  REQUIRE(op_registry_count(op_registry_global()) == TABLE_SIZE + 1);
  for (int i = 0; i < TABLE_SIZE; i++)
    CHECK_STR_EQ(op_registry_name(op_registry_global(), i), kTable[i].name);
  CHECK_STR_EQ(op_registry_name(op_registry_global(), TABLE_SIZE), "TestLast");
  CHECK_STR_EQ(op_registry_name(op_registry_global(), TABLE_SIZE + 1), NULL);
  CHECK_STR_EQ(op_registry_name(op_registry_global(), -1), NULL);
  op_registry_clear(op_registry_global());
}

TEST(kernels_are_known_by_type) {
  REQUIRE(add_table());
  const Op *two = op_registry_find(op_registry_global(), "TestTwo"),
           *any = op_registry_find(op_registry_global(), "TestAny"),
           *none = op_registry_find(op_registry_global(), "TestNoKernel");
  CHECK(op_has_kernel(two, DT_FLOAT) && op_has_kernel(two, DT_INT32) && op_has_kernel(two, DT_INVALID));
  CHECK(!op_has_kernel(two, DT_DOUBLE));
  CHECK(op_has_kernel(any, DT_DOUBLE) && op_has_kernel(any, DT_INVALID));
  CHECK(!op_has_kernel(none, DT_FLOAT) && !op_has_kernel(none, DT_INVALID));
  op_registry_clear(op_registry_global());
}

TEST(the_same_op_is_found_again_however_often_it_is_looked_up) {
  REQUIRE(add_table());
  const Op *ops[TABLE_SIZE];
  for (int i = 0; i < TABLE_SIZE; i++) ops[i] = op_registry_find(op_registry_global(), kTable[i].name);
  int64_t before = mem_allocation_count();
  for (int round = 0; round < 1000; round++) {
    for (int i = 0; i < TABLE_SIZE; i++)
      CHECK(op_registry_find(op_registry_global(), kTable[i].name) == ops[i]);
  }
  CHECK_INT_EQ(mem_allocation_count(), before);
  op_registry_clear(op_registry_global());
}

#if TFCORE_THREADS
enum { NUM_THREADS = 4 };

static void *look_up_all(void *arg) {
  const Op **ops = arg;
  for (int i = 0; i < TABLE_SIZE; i++) ops[i] = op_registry_find(op_registry_global(), kTable[i].name);
  return NULL;
}

TEST(threads_that_look_up_an_op_for_the_first_time_get_the_same) {
  const Op *ops[NUM_THREADS][TABLE_SIZE];
  pthread_t threads[NUM_THREADS];
  for (int round = 0; round < 50; round++) {
    REQUIRE(add_table());
    for (int t = 0; t < NUM_THREADS; t++)
      REQUIRE(pthread_create(&threads[t], NULL, look_up_all, ops[t]) == 0);
    for (int t = 0; t < NUM_THREADS; t++) pthread_join(threads[t], NULL);
    for (int i = 0; i < TABLE_SIZE; i++) {
      CHECK(ops[0][i] && ops[0][i]->def);
      for (int t = 1; t < NUM_THREADS; t++) CHECK(ops[t][i] == ops[0][i]);
    }
    op_registry_clear(op_registry_global());
  }
}
#endif

TEST(a_registry_that_is_not_there_is_freed_all_the_same) { op_registry_free(NULL); }
