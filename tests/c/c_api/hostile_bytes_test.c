/* Damaged GraphDefs: those that can still be imported are run. Errors are fine, but nothing may crash, hang
 * or leak, and an imported graph can be exported and imported again, byte for byte.
 *
 *   TFCORE_FUZZ_SEED=7 TFCORE_FUZZ_ROUNDS=50000 TFCORE_FUZZ_TRACE=1 test_c_api --filter damaged
 */
#include <inttypes.h>
#include <time.h>

#include "c_api/c_api_internal.h"
#include "c_api/random_values.h"
#include "c_api/training_graph.h"
#include "op/op_registry.h"
#include "runtime/thread_pool.h"

enum { BYTE_ROUNDS = 3000, MESSAGE_ROUNDS = 500, MAX_FEEDS = 8, SLOW_SECONDS = 10 };

/* The bytes of a training graph that also contains a function and all inputs of shape inference. */
static TF_Buffer *healthy_bytes(void) {
  Fixture f = {0};
  Training t;
  if (!begin(&f) || !CHECK(build_training(&f, &t))) return NULL;
  TF_Output inputs[] = {t.images, t.labels, t.weights[0], t.weights[1]};
  TF_Function *function =
      TF_GraphToFunction(f.graph, "Loss", 0, -1, NULL, 4, inputs, 1, &t.loss, NULL, NULL, NULL, f.status);
  if (CHECK_TF_OK(f.status)) TF_GraphCopyFunction(f.graph, function, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_DeleteFunction(function);
  op(&f, "Loss", "call", 4, inputs);
  TF_Output shape =
      constant_of(&f, "new_shape", tensor_of(TF_INT32, 1, (int64_t[]){2}, (int32_t[]){2, -1}, 8));
  TF_Output reshaped = binary(&f, "Reshape", "reshaped", t.images, shape);
  TF_Output filled =
      binary(&f, "Fill", "filled", unary(&f, "Shape", "sizes", reshaped), constant(&f, "seven", 7));
  binary(&f, "Tile", "tiled", filled, shape);
  TF_Buffer *bytes = graph_bytes(&f, f.graph);
  end(&f);
  return bytes;
}

/* ---- running an arbitrary graph ---- */

static TF_Tensor *random_value(Random *random, TF_Graph *graph, TF_Output output, TF_Status *status) {
  int64_t dims[RANDOM_MAX_RANK];
  int rank = TF_GraphGetTensorNumDims(graph, output, status);
  if (rank < 0 || rank > RANDOM_MAX_RANK || one_in(random, 10)) rank = random_rank(random);
  random_dims(random, rank, dims);
  if (rank == TF_GraphGetTensorNumDims(graph, output, status)) {
    int64_t known[RANDOM_MAX_RANK];
    TF_GraphGetTensorShape(graph, output, known, rank, status);
    for (int i = 0; i < rank; i++) {
      if (known[i] >= 0 && known[i] < 20) dims[i] = known[i];
    }
  }
  TF_DataType type = TF_OperationOutputType(output);
  TF_Tensor *value = mem_calloc(1, sizeof *value);
  if (CHECK(value) && dtype_is_valid((int)type) && !dtype_is_ref((int)type) &&
      random_tensor(random, (DataType)type, rank, dims, &value->tensor)) {
    return value;
  }
  TF_DeleteTensor(value);
  return NULL;
}

static void check_code(const TF_Status *status) {
  TF_Code code = TF_GetCode(status);
  if (code == TF_UNKNOWN || code == TF_ABORTED) CHECK_STR_EQ(TF_Message(status), "");
  /* The one user error that TensorFlow reports as internal. */
  if (code == TF_INTERNAL) CHECK_STR_CONTAINS(TF_Message(status), "Cannot create a tensor with");
  CHECK((code == TF_OK) == (TF_Message(status)[0] == '\0'));
}

static void run_everything(Random *random, Fixture *f) {
  TF_Output feeds[MAX_FEEDS];
  TF_Tensor *values[MAX_FEEDS];
  int num_feeds = 0;
  TF_Operation *operation;
  for (size_t pos = 0; num_feeds < MAX_FEEDS && (operation = TF_GraphNextOperation(f->graph, &pos));) {
    if (strcmp(TF_OperationOpType(operation), "Placeholder") != 0) continue;
    feeds[num_feeds] = (TF_Output){operation, 0};
    values[num_feeds] = random_value(random, f->graph, feeds[num_feeds], f->status);
    num_feeds += values[num_feeds] != NULL;
  }
  TF_Session *session = TF_NewSession(f->graph, NULL, f->status);
  CHECK_TF_OK(f->status);
  for (size_t pos = 0; session && (operation = TF_GraphNextOperation(f->graph, &pos));) {
    const TF_Operation *targets[] = {operation};
    TF_Output output = {operation, 0};
    TF_Tensor *result = NULL;
    bool fetches = TF_OperationNumOutputs(operation) > 0;
    TF_SessionRun(session, NULL, feeds, values, num_feeds, &output, &result, fetches ? 1 : 0, targets,
                  fetches ? 0 : 1, NULL, f->status);
    check_code(f->status);
    TF_DeleteTensor(result);
  }
  TF_DeleteSession(session, f->status);
  for (int i = 0; i < num_feeds; i++) TF_DeleteTensor(values[i]);
}

static TF_Output random_output(Random *random, TF_Graph *graph) {
  int count = num_operations(graph), chosen = count > 0 ? random_below(random, count) : 0;
  size_t pos = 0;
  TF_Operation *operation = NULL;
  for (int i = 0; i <= chosen; i++) operation = TF_GraphNextOperation(graph, &pos);
  return (TF_Output){operation, 0};
}

static void differentiate(Random *random, Fixture *f) {
  TF_Output y = random_output(random, f->graph), x = random_output(random, f->graph), dx;
  TF_Operation *loss = TF_GraphOperationByName(f->graph, "loss");
  if (loss && !one_in(random, 3)) y.oper = loss;
  TF_AddGradients(f->graph, &y, 1, &x, 1, NULL, f->status, &dx);
  check_code(f->status);
}

static void export_and_import(Fixture *f) {
  Fixture g = {0};
  if (!begin(&g)) return;
  TF_Buffer *first = graph_bytes(f, f->graph);
  TF_GraphImportGraphDef(g.graph, first, NULL, g.status);
  if (CHECK_TF_OK(g.status)) {
    TF_Buffer *second = graph_bytes(&g, g.graph);
    if (CHECK_INT_EQ(second->length, first->length)) CHECK_MEM_EQ(second->data, first->data, first->length);
    TF_DeleteBuffer(second);
  }
  TF_DeleteBuffer(first);
  end(&g);
}

static bool import_and_run(Random *random, const void *data, size_t length) {
  Fixture f = {0};
  if (!begin(&f)) return false;
  TF_Buffer bytes = {data, length, NULL};
  TF_GraphImportGraphDef(f.graph, &bytes, NULL, f.status);
  check_code(f.status);
  bool imported = TF_GetCode(f.status) == TF_OK;
  if (imported) {
    export_and_import(&f);
    differentiate(random, &f);
    run_everything(random, &f);
  } else {
    CHECK_INT_EQ(num_operations(f.graph), 0);
  }
  end(&f);
  return imported;
}

/* ---- damage to bytes ---- */

static void damage_bytes(Random *random, uint8_t *bytes, size_t *length, size_t capacity) {
  for (int changes = 1 + random_below(random, 4); changes > 0 && *length > 1; changes--) {
    size_t at = (size_t)random_below(random, (int)*length), rest = *length - at;
    size_t count = 1 + (size_t)random_below(random, 12);
    if (count > rest) count = rest;
    switch (random_below(random, 8)) {
      case 0: /* remove a piece */
        memmove(bytes + at, bytes + at + count, rest - count);
        *length -= count;
        break;
      case 1: /* repeat a piece */
        if (*length + count > capacity) break;
        memmove(bytes + at + count, bytes + at, rest);
        *length += count;
        break;
      case 2: bytes[at] = (uint8_t)random_bits(random); break;
      case 3: bytes[at] = one_in(random, 2) ? 0xff : 0x80; break;
      case 4: bytes[at] = 0; break;
      case 5:
        if (one_in(random, 10)) *length = at;
        break;
      default: bytes[at] ^= (uint8_t)(1 << random_below(random, 8));
    }
  }
}

/* ---- damage to messages ---- */

static NodeDef *random_node(Random *random, GraphDef *def) {
  return def->node[random_below(random, (int)def->n_node)];
}

static AttrEntry *random_attr(Random *random, GraphDef *def) {
  NodeDef *node = random_node(random, def);
  return node->n_attr > 0 ? node->attr[random_below(random, (int)node->n_attr)] : NULL;
}

static void damage_value(Random *random, AttrValue *value) {
  static const int types[] = {DT_FLOAT,    DT_INT32, DT_INT64, DT_DOUBLE, DT_BOOL, DT_STRING,
                              DT_RESOURCE, DT_HALF,  0,        99,        101};
  TensorShapeProto *shape = NULL;
  switch ((int)value->value_case) {
    case ATTR_INT: value->i = random_int(random); break;
    case ATTR_BOOL: value->b = !value->b; break;
    case ATTR_TYPE:
      value->type = (Tensorflow__DataType)types[random_below(random, sizeof types / sizeof *types)];
      break;
    case ATTR_SHAPE: shape = value->shape; break;
    case ATTR_TENSOR:
      shape = value->tensor->tensor_shape;
      if (one_in(random, 3))
        value->tensor->dtype =
            (Tensorflow__DataType)types[random_below(random, sizeof types / sizeof *types)];
      for (size_t i = 0; i < value->tensor->tensor_content.len; i++) {
        if (one_in(random, 4))
          value->tensor->tensor_content.data[i] = one_in(random, 2) ? 0xff : (uint8_t)random_below(random, 4);
      }
      for (size_t i = 0; i < value->tensor->n_int_val; i++)
        value->tensor->int_val[i] = (int32_t)random_int(random);
      break;
    default: break;
  }
  if (shape && shape->n_dim > 0 && one_in(random, 2))
    shape->dim[random_below(random, (int)shape->n_dim)]->size = random_int(random);
  if (shape && shape->n_dim > 0 && one_in(random, 4)) shape->n_dim--;
  if (shape && one_in(random, 10)) shape->unknown_rank = true;
}

static void damage_message(Random *random, GraphDef *def) {
  NodeDef *node = random_node(random, def), *other = random_node(random, def);
  AttrEntry *attr = random_attr(random, def), *from = random_attr(random, def);
  switch (random_below(random, 12)) {
    case 0: /* another source */
      if (node->n_input > 0) node->input[random_below(random, (int)node->n_input)] = other->name;
      break;
    case 1:
      if (node->n_input > 0) node->n_input--;
      break;
    case 2: node->op = other->op; break;
    case 3:
      node->op = (char *)op_registry_name(op_registry_global(),
                                          random_below(random, op_registry_count(op_registry_global())));
      break;
    case 4:
      if (node->n_attr > 0) node->n_attr--;
      break;
    case 5:
      if (attr && from) attr->value = from->value;
      break;
    case 6:
      if (attr && from) attr->key = from->key;
      break;
    case 7: def->node[random_below(random, (int)def->n_node)] = node; break; /* one twice, one gone */
    case 8:
      if (node->n_input > 1) node->input[0] = node->input[node->n_input - 1];
      break;
    default:
      if (attr) damage_value(random, attr->value);
  }
}

typedef bool DamageFn(Random *random, const TF_Buffer *healthy);

static bool damaged_bytes_round(Random *random, const TF_Buffer *healthy) {
  size_t capacity = healthy->length + 256, length = healthy->length;
  uint8_t *bytes = malloc(capacity);
  memcpy(bytes, healthy->data, length);
  damage_bytes(random, bytes, &length, capacity);
  bool imported = import_and_run(random, bytes, length);
  free(bytes);
  return imported;
}

static bool damaged_message_round(Random *random, const TF_Buffer *healthy) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *message;
  StrBuf bytes = {0};
  bool imported = false;
  if (CHECK_OK(proto_parse(kGraphDef, healthy->data, healthy->length, arena, &message, &status), status)) {
    for (int changes = 1 + random_below(random, 3); changes > 0; changes--) damage_message(random, message);
    bool ok = CHECK_OK(proto_serialize(message, &bytes, &status), status);
    imported = ok && import_and_run(random, strbuf_text(&bytes), (size_t)bytes.length);
  }
  strbuf_free(&bytes);
  arena_free(arena);
  return imported;
}

static void damage_often(DamageFn *round_of, int default_rounds) {
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
  REQUIRE(mem_set_allocator(&kSmallBlocks));
  uint64_t seed = setting("TFCORE_FUZZ_SEED", 1);
  int rounds = (int)setting("TFCORE_FUZZ_ROUNDS", (uint64_t)default_rounds), imported = 0;
  bool trace = setting("TFCORE_FUZZ_TRACE", 0) > 0;
  TF_Buffer *healthy = healthy_bytes();
  for (int round = 0; healthy && round < rounds; round++) {
    CHECK_CONTEXT("TFCORE_FUZZ_SEED=%" PRIu64 " round %d", seed, round);
    if (trace) printf("round %d\n", round);
    if (trace) fflush(stdout);
    Random random = {seed ^ ((uint64_t)round << 32)};
    clock_t start = clock();
    imported += round_of(&random, healthy);
    CHECK(clock() - start < (clock_t)SLOW_SECONDS * CLOCKS_PER_SEC);
  }
  CHECK_CONTEXT("%s", "");
  if (trace) printf("%d of %d imported\n", imported, rounds);
  CHECK(imported > 0 || rounds < default_rounds); /* otherwise nothing was run */
  TF_DeleteBuffer(healthy);
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
  CHECK(mem_set_allocator(NULL));
}

TEST(graphs_with_damaged_bytes_do_no_harm) { damage_often(damaged_bytes_round, BYTE_ROUNDS); }

TEST(graphs_with_damaged_nodes_do_no_harm) { damage_often(damaged_message_round, MESSAGE_ROUNDS); }
