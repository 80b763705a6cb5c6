/* Lists of tensors, their ops, and their gradients. */
#include "ops/lists/tensor_list.h"

#include <stdarg.h>

#include "gradient/gradient_fixture.h"
#include "op_runner.h"

/* Runs an op on tensors, the last ones written as text (may be ""). Outputs are cleared by the caller. */
static bool run_op(const char *op, Status *status, bool last_use, Tensor *outputs, const char *text,
                   int num_inputs, ...) {
  OpRun run;
  va_list args;
  bool ok = op_run_begin(&run, op, status);
  va_start(args, num_inputs);
  for (int i = 0; ok && i < num_inputs; i++) {
    Tensor *input = va_arg(args, Tensor *);
    if (last_use) tensor_move(&run.inputs[run.num_inputs++], input);
    else ok = tensor_assign(&run.inputs[run.num_inputs++], input, status);
  }
  va_end(args);
  run.last_use = last_use;
  ok = ok && op_run_inputs(&run, text, status) && op_run_compute(&run, status);
  for (int i = 0; ok && i < run.num_outputs; i++) {
    tensor_clear(&outputs[i]);
    tensor_move(&outputs[i], &run.outputs[i]);
  }
  op_run_end(&run);
  return ok;
}

static bool is(const Tensor *got, const char *want) {
  Tensor wanted = {0};
  int count;
  Status status;
  status_init(&status);
  bool ok =
      CHECK_OK(tensors_parse(want, &wanted, 1, &count, &status), &status) && tensor_is_about(got, &wanted, 0);
  tensor_clear(&wanted);
  return ok;
}

static void stacks_to(const Tensor *list, const char *want) {
  Tensor stacked = {0};
  Status status;
  status_init(&status);
  if (CHECK_OK(run_op("TensorListStack[element_dtype=float]", &status, false, &stacked, "int32[] -1", 1,
                      list),
               &status))
    is(&stacked, want);
  tensor_clear(&stacked);
}

#define EMPTY "EmptyTensorList[element_dtype=float, shape_type=int32]"
#define PUSH "TensorListPushBack[element_dtype=float]"
#define POP "TensorListPopBack[element_dtype=float]"

static bool push(Tensor *list, const char *item, bool last_use, Tensor *out, Status *status) {
  Tensor pushed[1] = {{0}};
  bool ok = CHECK_OK(run_op(PUSH, status, last_use, pushed, item, 1, list), status);
  tensor_clear(out);
  tensor_move(out, &pushed[0]);
  return ok;
}

TEST(lists_grow_and_shrink) {
  for (int last_use = 0; last_use < 2; last_use++) {
    Status status;
    status_init(&status);
    Tensor list = {0}, popped[2] = {{0}}, length = {0};
    CHECK_OK(run_op(EMPTY, &status, false, &list, "int32[] -1; int32[] -1", 0), &status);
    for (int i = 0; i < 20; i++) {
      char item[32];
      snprintf(item, sizeof item, "float[2] %d %d", i, -i);
      push(&list, item, last_use, &list, &status);
    }
    CHECK_OK(run_op("TensorListLength", &status, false, &length, "", 1, &list), &status);
    is(&length, "int32[] 20");
    for (int i = 19; i >= 0; i--) {
      char item[32];
      snprintf(item, sizeof item, "float[2] %d %d", i, -i);
      CHECK_OK(run_op(POP, &status, last_use, popped, "int32[] -1", 1, &list), &status);
      is(&popped[1], item);
      tensor_clear(&list);
      tensor_move(&list, &popped[0]);
      tensor_clear(&popped[1]);
    }
    CHECK_ERROR(run_op(POP, &status, false, popped, "int32[] -1", 1, &list), &status, CODE_INVALID_ARGUMENT,
                "Trying to pop from an empty list.");
    tensor_clear(&list);
    tensor_clear(&length);
  }
}

/* Lists share what they have in common, and do not see what the others append. */
TEST(lists_do_not_change_each_other) {
  Status status;
  status_init(&status);
  Tensor a = {0}, b = {0}, c = {0}, d = {0}, popped[2] = {{0}};
  CHECK_OK(run_op(EMPTY, &status, false, &a, "int32[] -1; int32[] -1", 0), &status);
  push(&a, "float[] 1", false, &a, &status);
  push(&a, "float[] 2", false, &b, &status);
  push(&a, "float[] 3", false, &c, &status);
  stacks_to(&a, "float[1] 1");
  stacks_to(&b, "float[2] 1 2");
  stacks_to(&c, "float[2] 1 3");
  CHECK_OK(run_op(POP, &status, false, popped, "int32[] -1", 1, &b), &status);
  push(&popped[0], "float[] 4", false, &d, &status);
  stacks_to(&b, "float[2] 1 2");
  stacks_to(&d, "float[2] 1 4");
  CHECK_OK(run_op("TensorListSetItem[element_dtype=float]", &status, false, &c, "int32[] 0; float[] 9", 1,
                  &b),
           &status);
  stacks_to(&b, "float[2] 1 2");
  stacks_to(&c, "float[2] 9 2");
  CHECK_OK(run_op("TensorListSetItem[element_dtype=float]", &status, true, &c, "int32[] 1; float[] 8", 1, &c),
           &status);
  stacks_to(&c, "float[2] 9 8");
  Tensor *all[] = {&a, &b, &c, &d, &popped[0], &popped[1]};
  for (int i = 0; i < 6; i++) tensor_clear(all[i]);
}

/* An item behind the end makes a list longer, without what a longer list of before left there; others keep
 * their length. */
#define RESIZE "TensorListSetItem[element_dtype=float, resize_if_index_out_of_bounds=true]"
TEST(lists_grow_when_an_item_is_set_behind_their_end) {
  Status status;
  status_init(&status);
  Tensor list = {0}, longer = {0}, popped[2] = {0}, length = {0};
  CHECK_OK(run_op("TensorListReserve[element_dtype=float, shape_type=int64]", &status, false, &list,
                  "int64[0]; int32[] 1", 0),
           &status);
  CHECK_OK(run_op(RESIZE, &status, false, &longer, "int32[] 2; float[] 7", 1, &list), &status);
  stacks_to(&list, "float[1] 0");
  stacks_to(&longer, "float[3] 0 0 7");
  CHECK_OK(run_op(RESIZE, &status, true, &longer, "int32[] 3; float[] 8", 1, &longer), &status);
  stacks_to(&longer, "float[4] 0 0 7 8");
  /* The popped list sees the first items of the long one, which goes: then they are its own, and 8 must not
   * come back. */
  CHECK_OK(run_op(POP, &status, false, popped, "int32[] -1", 1, &longer), &status);
  tensor_clear(&longer);
  CHECK_OK(run_op(RESIZE, &status, true, &longer, "int32[] 4; float[] 9", 1, &popped[0]), &status);
  stacks_to(&longer, "float[5] 0 0 7 0 9");
  CHECK_OK(run_op("TensorListLength", &status, false, &length, "", 1, &longer), &status);
  is(&length, "int32[] 5");
  CHECK_ERROR(run_op(RESIZE, &status, false, &list, "int32[] -1; float[] 7", 1, &longer), &status,
              CODE_INVALID_ARGUMENT, "Trying to modify element -1 in a list with 5 elements.");
  Tensor *all[] = {&list, &longer, &popped[0], &popped[1], &length};
  for (int i = 0; i < 5; i++) tensor_clear(all[i]);
}

TEST(lists_of_a_size_have_zeros) {
  Status status;
  status_init(&status);
  Tensor list = {0}, item = {0}, shape = {0};
  CHECK_OK(run_op("TensorListReserve[element_dtype=float, shape_type=int64]", &status, false, &list,
                  "int64[1] 2; int32[] 3", 0),
           &status);
  stacks_to(&list, "float[3,2] 0");
  CHECK_OK(run_op("TensorListSetItem[element_dtype=float]", &status, false, &list, "int32[] 1; float[2] 5 6",
                  1, &list),
           &status);
  stacks_to(&list, "float[3,2] 0 0 5 6 0 0");
  CHECK_OK(run_op("TensorListGetItem[element_dtype=float]", &status, false, &item, "int32[] 1; int32[] -1", 1,
                  &list),
           &status);
  is(&item, "float[2] 5 6");
  CHECK_OK(run_op("TensorListGetItem[element_dtype=float]", &status, false, &item, "int32[] 2; int32[] -1", 1,
                  &list),
           &status);
  is(&item, "float[2] 0 0");
  CHECK_OK(run_op("TensorListElementShape[shape_type=int32]", &status, false, &shape, "", 1, &list), &status);
  is(&shape, "int32[1] 2");
  tensor_clear(&list);
  tensor_clear(&item);
  tensor_clear(&shape);
}

TEST(lists_of_tensors_and_back) {
  Status status;
  status_init(&status);
  Tensor list = {0}, zeros = {0}, sum = {0}, words = {0};
  CHECK_OK(run_op("TensorListFromTensor[element_dtype=float, shape_type=int32]", &status, false, &list,
                  "float[3,2] 1 2 3 4 5 6; int32[1] 2", 0),
           &status);
  stacks_to(&list, "float[3,2] 1 2 3 4 5 6");
  CHECK_OK(run_op("ZerosLike[T=variant]", &status, false, &zeros, "", 1, &list), &status);
  stacks_to(&zeros, "float[3,2] 0");
  CHECK_OK(run_op("AddN[N=3, T=variant]", &status, false, &sum, "", 3, &list, &zeros, &list), &status);
  stacks_to(&sum, "float[3,2] 2 4 6 8 10 12");
  CHECK_OK(run_op("TensorListFromTensor[element_dtype=string, shape_type=int32]", &status, false, &words,
                  "string[2] a bc; int32[] -1", 0),
           &status);
  CHECK_OK(run_op("TensorListStack[element_dtype=string]", &status, false, &sum, "int32[] -1", 1, &words),
           &status);
  is(&sum, "string[2] a bc");
  CHECK_ERROR(run_op("AddN[N=2, T=variant]", &status, false, &sum, "", 2, &list, &words), &status,
              CODE_INVALID_ARGUMENT,
              "Trying to add two lists of tensors of different dtypes. One is float and the other is string");
  Tensor *all[] = {&list, &zeros, &sum, &words};
  for (int i = 0; i < 4; i++) tensor_clear(all[i]);
}

TEST(lists_in_lists_are_freed_in_bounds) {
  Status status;
  status_init(&status);
  Tensor outer = {0}, inner = {0};
  bool ok = CHECK_OK(run_op(EMPTY, &status, false, &inner, "int32[] -1; int32[] -1", 0), &status);
  int depth = 0;
  while (ok && depth < 2 * VARIANT_MAX_DEPTH) {
    Tensor next = {0};
    ok = CHECK_OK(run_op("EmptyTensorList[element_dtype=variant, shape_type=int32]", &status, false, &next,
                         "int32[] -1; int32[] -1", 0),
                  &status);
    ok = ok &&
         run_op("TensorListPushBack[element_dtype=variant]", &status, false, &outer, "", 2, &next, &inner);
    tensor_clear(&next);
    tensor_clear(&inner);
    tensor_move(&inner, &outer);
    depth += ok;
  }
  CHECK_INT_EQ(depth, VARIANT_MAX_DEPTH - 1);
  CHECK(strstr(status.message, "Variants are nested more than"));
  tensor_clear(&inner);
}

/* --- lists as values --- */

/* What a list of lists is, without sharing: an immutable tree. */
typedef struct Tree {
  int count;
  const struct Tree *items[16];
} Tree;

static const Tree kEmptyTree;

static const Tree *tree_with(Arena *arena, const Tree *tree, int at, const Tree *item) {
  Tree *made = arena_alloc(arena, sizeof *made);
  if (!made) return tree;
  *made = *tree;
  made->items[at] = item;
  if (at == made->count) made->count++;
  return made;
}

static void print_tree(const Tree *tree, StrBuf *out) {
  strbuf_append_char(out, '(');
  for (int i = 0; i < tree->count; i++) print_tree(tree->items[i], out);
  strbuf_append_char(out, ')');
}

#define LISTS "[element_dtype=variant]"

static void print_list(const Tensor *list, StrBuf *out) {
  Tensor length = {0};
  Status status;
  status_init(&status);
  strbuf_append_char(out, '(');
  int count = CHECK_OK(run_op("TensorListLength", &status, false, &length, "", 1, list), &status)
                  ? tensor_i32(&length)[0]
                  : 0;
  for (int i = 0; i < count && out->length < 4096; i++) {
    Tensor item = {0};
    char at[48];
    snprintf(at, sizeof at, "int32[] %d; int32[] -1", i);
    if (CHECK_OK(run_op("TensorListGetItem" LISTS, &status, false, &item, at, 1, list), &status))
      print_list(&item, out);
    tensor_clear(&item);
  }
  strbuf_append_char(out, ')');
  tensor_clear(&length);
}

static void is_list(const Tensor *list, const Tree *want) {
  StrBuf got = {0}, wanted = {0};
  print_list(list, &got);
  print_tree(want, &wanted);
  CHECK_STR_EQ(strbuf_text(&got), strbuf_text(&wanted));
  strbuf_free(&got);
  strbuf_free(&wanted);
}

static bool empty_list_of_lists(Tensor *list, Status *status) {
  return CHECK_OK(run_op("EmptyTensorList[element_dtype=variant, shape_type=int32]", status, false, list,
                         "int32[] -1; int32[] -1", 0),
                  status);
}

/* A list that is put into itself holds what it was before. Lengths are TensorFlow's. */
TEST(a_list_may_be_put_into_itself) {
  Status status;
  status_init(&status);
  Tensor empty = {0}, one = {0}, two = {0}, set = {0};
  empty_list_of_lists(&empty, &status);
  CHECK_OK(run_op("TensorListPushBack" LISTS, &status, false, &one, "", 2, &empty, &empty), &status);
  CHECK_OK(run_op("TensorListPushBack" LISTS, &status, false, &two, "", 2, &one, &one), &status);
  OpRun run; /* SetItem's index stands between the lists */
  CHECK_OK(op_run_begin(&run, "TensorListSetItem" LISTS, &status) &&
               tensor_assign(&run.inputs[0], &two, &status),
           &status);
  run.num_inputs = 1;
  CHECK_OK(op_run_inputs(&run, "int32[] 0", &status) && tensor_assign(&run.inputs[2], &two, &status),
           &status);
  run.num_inputs = 3;
  if (CHECK_OK(op_run_compute(&run, &status), &status)) tensor_move(&set, &run.outputs[0]);
  op_run_end(&run);
  const Tree none = {0}, first = {1, {&none}}, second = {2, {&none, &first}}, third = {2, {&second, &first}};
  is_list(&empty, &none);
  is_list(&one, &first);
  is_list(&two, &second);
  is_list(&set, &third);
  Tensor *all[] = {&empty, &one, &two, &set};
  for (int i = 0; i < 4; i++) tensor_clear(all[i]);
}

enum { POOL = 6, LIST_STEPS = 400, SMALL_TREE = 40 };

static int tree_size(const Tree *tree) {
  int size = 1;
  for (int i = 0; i < tree->count && size < 2 * SMALL_TREE; i++) size += tree_size(tree->items[i]);
  return size;
}

/* One op on lists of the pool; false when it would make something large. */
static bool change_list(Tensor *pool, const Tree **trees, uint64_t dice, Arena *arena, Status *status) {
  int to = (int)(dice % POOL), from = (int)(dice / 8 % POOL), item = (int)(dice / 64 % POOL),
      kind = (int)(dice / 512 % 6);
  const Tree *tree = trees[from];
  Tensor out[2] = {{0}};
  bool owned = kind == 1 && from != item, ok; /* the kernel may then write into the list */
  if (kind < 4) {
    if (tree->count == 12 || tree_size(tree) + tree_size(trees[item]) > SMALL_TREE) return false;
    const Tree *made = tree_with(arena, tree, tree->count, trees[item]);
    Tensor copy = {0};
    ok = CHECK_OK(!owned || tensor_assign(&copy, &pool[item], status), status);
    ok = ok && CHECK_OK(run_op("TensorListPushBack" LISTS, status, owned, out, "", 2, &pool[from],
                               owned ? &copy : &pool[item]),
                        status);
    tensor_clear(&copy);
    if (owned) empty_list_of_lists(&pool[from], status);
    if (owned) trees[from] = &kEmptyTree;
    trees[to] = made;
  } else {
    if (tree->count == 0) return false;
    Tree *shorter = arena_alloc(arena, sizeof *shorter);
    *shorter = *tree;
    shorter->count--;
    ok =
        CHECK_OK(run_op("TensorListPopBack" LISTS, status, false, out, "int32[] -1", 1, &pool[from]), status);
    is_list(&out[1], tree->items[tree->count - 1]);
    trees[to] = shorter;
  }
  tensor_clear(&pool[to]);
  tensor_move(&pool[to], &out[0]);
  tensor_clear(&out[1]);
  return ok;
}

/* Lists of lists are values, whatever they share: each is at any time what a tree without sharing says, and
 * all memory is given back. */
TEST(random_lists_of_lists_are_values) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Tensor pool[POOL] = {{0}};
  const Tree *trees[POOL];
  for (int i = 0; i < POOL; i++) {
    trees[i] = &kEmptyTree;
    empty_list_of_lists(&pool[i], &status);
  }
  uint64_t state = 20;
  int changes = 0;
  for (int step = 0; step < LIST_STEPS; step++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    changes += change_list(pool, trees, state >> 33, arena, &status);
    for (int i = 0; i < POOL && step % 10 == 0; i++) is_list(&pool[i], trees[i]);
  }
  CHECK(changes > LIST_STEPS / 4);
  for (int i = 0; i < POOL; i++) tensor_clear(&pool[i]);
  arena_free(arena);
}

TEST(lists_refuse_what_does_not_fit) {
  Status status;
  status_init(&status);
  Tensor list = {0}, out[2] = {{0}};
  CHECK_OK(run_op(EMPTY, &status, false, &list, "int32[2] 2 -1; int32[] 1", 0), &status);
  const struct {
    const char *op, *inputs, *message;
  } cases[] = {
      {PUSH, "float[3,1] 0",
       "Tried to append a tensor with incompatible shape to a list. Op element shape: [3,1] list shape: "
       "[2,?]"},
      {"TensorListPushBack[element_dtype=int32]", "int32[2,1] 0",
       "Invalid data types; list elements float but tried to append int32"},
      {"TensorListPopBack[element_dtype=int32]", "int32[] -1",
       "Invalid data types; op elements int32 but list elements float"},
      {"TensorListGetItem[element_dtype=float]", "int32[] 0; int32[] -1",
       "Trying to access element 0 in a list with 0 elements."},
      {"TensorListGetItem[element_dtype=float]", "int32[] -1; int32[] -1",
       "Trying to access element -1 in a list with 0 elements."},
      {"TensorListSetItem[element_dtype=float]", "int32[] 0; float[2,1] 0",
       "Trying to modify element 0 in a list with 0 elements."},
      {"TensorListStack[element_dtype=float]", "int32[] -1",
       "Tried to stack elements of an empty list with non-fully-defined element_shape: [2,?]"},
      {"TensorListStack[element_dtype=float, num_elements=2]", "int32[2] 2 3",
       "Operation expected a list with 2 elements but got a list with 0 elements."},
      {"TensorListStack[element_dtype=float]", "int32[] -2",
       "The only valid scalar shape tensor is the fully unknown shape specified as -1."},
      {"TensorListStack[element_dtype=float]", "int32[1] 4",
       "PartialTensorShape: Incompatible ranks during merge: 1 vs. 2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].message);
    CHECK_ERROR(run_op(cases[i].op, &status, false, out, cases[i].inputs, 1, &list), &status,
                CODE_INVALID_ARGUMENT, cases[i].message);
    status_init(&status);
  }
  push(&list, "float[2,1] 0", false, &list, &status);
  CHECK_ERROR(run_op(PUSH, &status, false, out, "float[2,1] 0", 1, &list), &status, CODE_INVALID_ARGUMENT,
              "Tried to push item into a full list");
  status_init(&status);
  CHECK_ERROR(run_op("TensorListReserve[element_dtype=float, shape_type=int32]", &status, false, out,
                     "int32[] -1; int32[] -1", 0),
              &status, CODE_INVALID_ARGUMENT,
              "The num_elements to reserve must be a non negative number, but got -1");
  status_init(&status);
  CHECK_ERROR(run_op("TensorListFromTensor[element_dtype=float, shape_type=int32]", &status, false, out,
                     "float[] 1; int32[] -1", 0),
              &status, CODE_INVALID_ARGUMENT, "Tensor must be at least a vector, but saw shape: []");
  tensor_clear(&list);
}

static NodeOutput second(NodeOutput value) { return (NodeOutput){value.node, 1}; }

/* y = (what goes into lists and comes out again); TensorListPushBack, TensorListSetItem, TensorListGetItem,
 * TensorListStack, TensorListFromTensor and TensorListPopBack are all on the way. */
TEST(gradients_of_lists) {
  Status status;
  status_init(&status);
  OpRun all_ops;
  CHECK_OK(op_run_begin(&all_ops, "TensorListLength", &status), &status);
  op_run_end(&all_ops);
  Graph *graph = graph_new();
  const char *element = "element_dtype=double", *made = "element_dtype=double, shape_type=int32";
  NodeOutput x = placeholder(graph, "x"), w = placeholder(graph, "w"), xs[] = {x, w}, dxs[2], ddxs[2];
  NodeOutput any = graph_op(graph, "any", "Const", "dtype=int32, value=-1", 0),
             zero = graph_op(graph, "zero", "Const", "dtype=int32, value=0", 0);
  NodeOutput empty = graph_op(graph, "empty", "EmptyTensorList", made, 2, any, any);
  NodeOutput one =
      graph_op(graph, "l1", "TensorListPushBack", element, 2, empty, unary(graph, "x2", "Square", x));
  NodeOutput two =
      graph_op(graph, "l2", "TensorListPushBack", element, 2, one, binary(graph, "xw", "Mul", x, w));
  NodeOutput first = graph_op(graph, "first", "TensorListGetItem", element, 3, two, zero, any);
  NodeOutput set =
      graph_op(graph, "set", "TensorListSetItem", element, 3, two, zero, unary(graph, "w2", "Square", w));
  NodeOutput stack = graph_op(graph, "stack", "TensorListStack", element, 2, set, any);
  NodeOutput squares = unary(graph, "squares", "Square", stack);
  NodeOutput back = graph_op(graph, "back", "TensorListFromTensor", made, 2, squares, any);
  NodeOutput pop = graph_op(graph, "pop", "TensorListPopBack", element, 2, back, any);
  NodeOutput left = graph_op(graph, "left", "TensorListGetItem", element, 3, pop, zero, any);
  NodeOutput y = binary(graph, "y", "Mul", first, binary(graph, "s", "AddV2", second(pop), left));
  /* x^2 (x^2 w^2 + w^4) */
  const double at[] = {0.7, -1.2};
  CHECK_NEAR(compute(graph, y, xs, at, 2), 0.49 * (0.49 * 1.44 + 1.44 * 1.44), 1e-12);
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, NULL, dxs, &status), &status);
  CHECK_NEAR(compute(graph, dxs[0], xs, at, 2), 4 * 0.343 * 1.44 + 2 * 0.7 * 1.44 * 1.44, 1e-12);
  CHECK_NEAR(compute(graph, dxs[1], xs, at, 2), -2 * 0.2401 * 1.2 - 4 * 0.49 * 1.728, 1e-12);
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(graph_add_gradients(graph, &dxs[i], 1, xs, 2, NULL, NULL, ddxs, &status), &status);
    check_central(graph, dxs[i], xs, ddxs, at, 2);
  }
  graph_free(graph);
}

/* Pushes are taken back from the end of the gradient's list, which must be that of the list before it
 * grew. */
TEST(gradients_of_lists_that_grow) {
  Status status;
  status_init(&status);
  OpRun all_ops;
  CHECK_OK(op_run_begin(&all_ops, "TensorListLength", &status), &status);
  op_run_end(&all_ops);
  Graph *graph = graph_new();
  const char *element = "element_dtype=double", *made = "element_dtype=double, shape_type=int32";
  NodeOutput x = placeholder(graph, "x"), w = placeholder(graph, "w"), xs[] = {x, w}, dxs[2];
  NodeOutput any = graph_op(graph, "any", "Const", "dtype=int32, value=-1", 0),
             zero = graph_op(graph, "zero", "Const", "dtype=int32, value=0", 0);
  NodeOutput place = graph_op(graph, "place", "Const", "dtype=int32, value=2", 0),
             last = graph_op(graph, "last", "Const", "dtype=int32, value=1", 0);
  NodeOutput empty = graph_op(graph, "empty", "EmptyTensorList", made, 2, any, any);
  NodeOutput one =
      graph_op(graph, "l1", "TensorListPushBack", element, 2, empty, unary(graph, "x2", "Square", x));
  NodeOutput two =
      graph_op(graph, "l2", "TensorListPushBack", element, 2, one, binary(graph, "xw", "Mul", x, w));
  NodeOutput set =
      graph_op(graph, "set", "TensorListSetItem", "element_dtype=double, resize_if_index_out_of_bounds=true",
               3, two, place, unary(graph, "w2", "Square", w));
  NodeOutput a = graph_op(graph, "a", "TensorListGetItem", element, 3, set, zero, any);
  NodeOutput b = graph_op(graph, "b", "TensorListGetItem", element, 3, set, last, any);
  NodeOutput c = graph_op(graph, "c", "TensorListGetItem", element, 3, set, place, any);
  NodeOutput y = binary(graph, "y", "AddV2", binary(graph, "ac", "Mul", a, c), b);
  /* x^2 w^2 + x w */
  const double at[] = {0.7, -1.2};
  CHECK_NEAR(compute(graph, y, xs, at, 2), 0.49 * 1.44 - 0.84, 1e-12);
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, NULL, dxs, &status), &status);
  CHECK_NEAR(compute(graph, dxs[0], xs, at, 2), 2 * 0.7 * 1.44 - 1.2, 1e-12);
  CHECK_NEAR(compute(graph, dxs[1], xs, at, 2), -2 * 0.49 * 1.2 + 0.7, 1e-12);
  graph_free(graph);
}
