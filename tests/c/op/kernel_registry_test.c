/* Kernels registered at run time: constraints of every kind, ownership, several threads. */
#include "op/kernel_registry.h"

#if TFCORE_THREADS
#include <pthread.h>
#endif
#include <string.h>

#include "base/alloc.h"
#include "harness.h"

static bool compute_nothing(KernelContext *context, Status *status) {
  (void)context;
  (void)status;
  return true;
}

static const OpRegistration kOpChosen = {
    .name = "Chosen",
    .inputs = {"x: T", "rest: Ts"},
    .outputs = {"y: T"},
    .attrs = {"T: type", "Ts: list(type) >= 0", "mode: string = 'SAME'", "n: int = 2", "flag: bool = false"},
    .shape = shape_unchanged,
};

typedef struct Bench {
  Arena *arena;
  const Op *op;
  NodeDef *node;
  Status status;
} Bench;

static bool begin(Bench *b) {
  *b = (Bench){.arena = arena_new()};
  status_init(&b->status);
  if (!CHECK_OK(op_registry_add(op_registry_global(), &kOpChosen, &b->status), b->status)) return false;
  b->op = op_registry_find(op_registry_global(), "Chosen");
  b->node = node_def_new(b->arena, "n", "Chosen");
  return CHECK(b->op && b->node);
}

static void end(Bench *b) {
  arena_free(b->arena);
  kernel_registry_clear();
  op_registry_clear(op_registry_global());
}

static void set_attr(Bench *b, const char *name, AttrValue *value) {
  CHECK_OK(node_def_set_attr(b->node, b->arena, name, value, &b->status), b->status);
}

static int num_freed;

static void count_freed(const void *data) { num_freed += *(const int *)data; }

/* Registers a kernel from the text of a KernelDef; `data` identifies it. */
static bool add(Bench *b, const char *text, int *data) {
  void *def;
  if (!CHECK_OK(proto_parse_text(kKernelDef, str_of(text), b->arena, &def, &b->status), b->status))
    return false;
  KernelFunctions functions = {.compute = compute_nothing, .data = data};
  return kernel_registry_add(def, &functions, count_freed, &b->status);
}

/* The data of the node's kernel; 0 and the status if there is none. */
static int chosen(Bench *b) {
  KernelFunctions functions;
  status_init(&b->status);
  return kernel_registry_select(b->op, b->node, &functions, &b->status) ? *(const int *)functions.data : 0;
}

TEST(constraints_on_values_of_every_kind) {
  Bench b;
  int one = 1, two = 2, four = 4, eight = 8;
  REQUIRE(begin(&b));
  num_freed = 0;
  set_attr(&b, "T", attr_value_type(b.arena, DT_FLOAT));
  set_attr(&b, "Ts", attr_value_type_list(b.arena, (int[]){DT_FLOAT, DT_INT32}, 2));
  set_attr(&b, "mode", attr_value_string(b.arena, "SAME", 4));
  set_attr(&b, "n", attr_value_int(b.arena, 2));
  set_attr(&b, "flag", attr_value_bool(b.arena, false));
  CHECK(add(&b,
            "op: 'Chosen' device_type: 'CPU' priority: 1 constraint { name: 'T' allowed_values { list { "
            "type: [DT_INT32, DT_FLOAT] } } }",
            &one));
  CHECK_INT_EQ(chosen(&b), 1);
  /* All types of a list must be allowed. */
  CHECK(add(&b,
            "op: 'Chosen' device_type: 'CPU' priority: 2 constraint { name: 'Ts' allowed_values { list { "
            "type: DT_FLOAT } } }",
            &two));
  CHECK_INT_EQ(chosen(&b), 1);
  set_attr(&b, "Ts", attr_value_type_list(b.arena, (int[]){DT_FLOAT, DT_FLOAT}, 2));
  CHECK_INT_EQ(chosen(&b), 2);
  CHECK(add(&b,
            "op: 'Chosen' device_type: 'CPU' priority: 3 constraint { name: 'mode' allowed_values { list { "
            "s: ['VALID', 'SAME'] } } } "
            "constraint { name: 'n' allowed_values { list { i: [2, 3] } } }",
            &four));
  CHECK_INT_EQ(chosen(&b), 4);
  set_attr(&b, "n", attr_value_int(b.arena, 4));
  CHECK_INT_EQ(chosen(&b), 2);
  set_attr(&b, "n", attr_value_int(b.arena, 3));
  set_attr(&b, "mode", attr_value_string(b.arena, "SAM", 3));
  CHECK_INT_EQ(chosen(&b), 2);
  CHECK(add(&b,
            "op: 'Chosen' device_type: 'CPU' priority: 4 constraint { name: 'flag' allowed_values { list { "
            "b: true } } }",
            &eight));
  CHECK_INT_EQ(chosen(&b), 2);
  set_attr(&b, "flag", attr_value_bool(b.arena, true));
  CHECK_INT_EQ(chosen(&b), 8);
  CHECK(op_has_kernel(b.op, DT_INVALID) && op_has_kernel(b.op, DT_HALF)); /* two of them have no constraint on
                                                                           * T */
  CHECK_INT_EQ(num_freed, 0);
  end(&b);
  CHECK_INT_EQ(num_freed, 15);
}

TEST(an_op_has_the_types_that_its_kernels_allow) {
  Bench b;
  int one = 1;
  REQUIRE(begin(&b));
  CHECK(!op_has_kernel(b.op, DT_INVALID));
  CHECK(add(&b, "op: 'Chosen' device_type: 'GPU'", &one));
  CHECK(!op_has_kernel(b.op, DT_INVALID));
  CHECK(add(&b,
            "op: 'Chosen' device_type: 'CPU' constraint { name: 'T' allowed_values { list { type: [DT_INT32, "
            "DT_FLOAT] } } }",
            &one));
  CHECK(op_has_kernel(b.op, DT_INVALID) && op_has_kernel(b.op, DT_FLOAT) && op_has_kernel(b.op, DT_INT32));
  CHECK(!op_has_kernel(b.op, DT_DOUBLE));
  end(&b);
}

TEST(constraints_that_a_node_cannot_be_held_to) {
  static const struct {
    const char *constraint;
    Code code;
    const char *message;
  } kCases[] = {
      {"name: 'U' allowed_values { list { type: DT_FLOAT } }", CODE_INVALID_ARGUMENT,
       "OpKernel 'Chosen' has constraint on attr 'U' not in NodeDef '{{node n}} = Chosen[T=DT_FLOAT, "
       "n=2]()', KernelDef: 'op: \"Chosen\" "},
      {"name: 'n' allowed_values { list { type: DT_FLOAT } }", CODE_INVALID_ARGUMENT,
       "has constraint on attr 'n' that has value '2' that does not have type 'type' or 'list(type)' in "
       "NodeDef '{{node n}} = Chosen["},
      {"name: 'n' allowed_values { list { s: 'a' } }", CODE_INVALID_ARGUMENT,
       "has constraint on attr 'n' that has value '2' that does not have the same type in NodeDef '{{node "
       "n}} = Chosen["},
      {"name: 'n' allowed_values { list { f: 2.5 } }", CODE_UNIMPLEMENTED,
       "has constraint on attr 'n' with unsupported type: [2.5]"},
      {"name: 'n' allowed_values { i: 2 }", CODE_UNIMPLEMENTED,
       "has constraint on attr 'n' with unsupported type: 2"},
      {"name: 'n'", CODE_UNIMPLEMENTED, "has constraint on attr 'n' with unsupported type: "},
      {"name: 'n' allowed_values { list { i: 2 type: DT_FLOAT } }", CODE_INVALID_ARGUMENT,
       "has constraint on attr 'n' with more than one value type: "},
  };
  int one = 1;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    Bench b;
    REQUIRE(begin(&b));
    set_attr(&b, "T", attr_value_type(b.arena, DT_FLOAT));
    set_attr(&b, "n", attr_value_int(b.arena, 2));
    char *text =
        arena_printf(b.arena, "op: 'Chosen' device_type: 'CPU' constraint { %s }", kCases[i].constraint);
    CHECK(add(&b, text, &one));
    KernelFunctions functions;
    CHECK_ERROR(kernel_registry_select(b.op, b.node, &functions, &b.status), b.status, kCases[i].code,
                kCases[i].message);
    end(&b);
  }
}

TEST(a_constraint_has_values_of_one_kind) {
  static const char *const kValues[] = {"type: DT_FLOAT", "s: 'a'", "i: 2", "b: true"};
  int one = 1;
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 4; k++) {
      if (i == k) continue;
      CHECK_CONTEXT("%s and %s", kValues[i], kValues[k]);
      Bench b;
      REQUIRE(begin(&b));
      set_attr(&b, "T", attr_value_type(b.arena, DT_FLOAT));
      set_attr(&b, "n", attr_value_int(b.arena, 2));
      char *text = arena_printf(b.arena,
                                "op: 'Chosen' device_type: 'CPU' constraint { name: 'n' allowed_values { "
                                "list { %s %s } } }",
                                kValues[i], kValues[k]);
      CHECK(add(&b, text, &one));
      KernelFunctions functions;
      CHECK_ERROR(kernel_registry_select(b.op, b.node, &functions, &b.status), b.status,
                  CODE_INVALID_ARGUMENT, "has constraint on attr 'n' with more than one value type: ");
      end(&b);
    }
  }
}

TEST(data_is_freed_after_an_error) {
  Bench b;
  int one = 1;
  REQUIRE(begin(&b));
  num_freed = 0;
  CHECK(!add(&b, "device_type: 'CPU'", &one));
  CHECK_INT_EQ(b.status.code, CODE_INVALID_ARGUMENT);
  CHECK_INT_EQ(num_freed, 1);
  end(&b);
  CHECK_INT_EQ(num_freed, 1);
}

TEST(registering_without_memory) {
  Bench b;
  int one = 1, failures = 0;
  REQUIRE(begin(&b));
  set_attr(&b, "T", attr_value_type(b.arena, DT_FLOAT));
  void *def;
  CHECK_OK(proto_parse_text(kKernelDef, str_of("op: 'Chosen' device_type: 'CPU' label: 'l'"), b.arena, &def,
                            &b.status),
           b.status);
  KernelFunctions functions = {.compute = compute_nothing, .data = &one};
  num_freed = 0;
  bool done = false;
  for (int64_t successes = 0; !done && successes < 1000; successes++) {
    mem_fail_after(successes);
    done = kernel_registry_add(def, &functions, count_freed, &b.status);
    mem_fail_after(-1);
    if (!done) failures += CHECK_INT_EQ(b.status.code, CODE_RESOURCE_EXHAUSTED);
    CHECK_INT_EQ(num_freed, failures);
  }
  CHECK(done && failures > 0);
  KernelList *list;
  for (int64_t successes = 0; successes < 1000; successes++) {
    mem_fail_after(successes);
    bool listed = kernel_registry_list(op_registry_global(), NULL, b.arena, &list, &b.status);
    mem_fail_after(-1);
    if (listed) break;
    CHECK_INT_EQ(b.status.code, CODE_RESOURCE_EXHAUSTED);
  }
  if (CHECK_INT_EQ(list->n_kernel, 1)) CHECK_STR_EQ(list->kernel[0]->label, "l");
  end(&b);
}

#if TFCORE_THREADS
enum { NUM_REGISTERED = 200 };

static int kernel_numbers[NUM_REGISTERED];

static void *register_many(void *arg) {
  Bench *b = arg;
  for (int i = 0; i < NUM_REGISTERED; i++) {
    KernelDef def;
    tensorflow__kernel_def__init(&def);
    def.op = (char *)"Chosen";
    def.device_type = (char *)"CPU";
    def.priority = i;
    kernel_numbers[i] = i + 1;
    KernelFunctions functions = {.compute = compute_nothing, .data = &kernel_numbers[i]};
    Status status;
    status_init(&status);
    if (!kernel_registry_add(&def, &functions, NULL, &status)) b->status = status;
  }
  return NULL;
}

/* The chosen kernel's priority only rises. */
TEST(threads_register_and_choose) {
  Bench b;
  REQUIRE(begin(&b));
  set_attr(&b, "T", attr_value_type(b.arena, DT_FLOAT));
  Bench other = b;
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, register_many, &other) == 0);
  int best = 0;
  for (int i = 0; best < NUM_REGISTERED && i < 10000000; i++) {
    int now = chosen(&b);
    if (!CHECK(now >= best)) break;
    best = now;
  }
  pthread_join(thread, NULL);
  CHECK_INT_EQ(other.status.code, CODE_OK);
  CHECK_INT_EQ(chosen(&b), NUM_REGISTERED);
  end(&b);
}
#endif
