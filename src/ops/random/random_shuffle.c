#include "ops/random/random_shuffle.h"

#include "op/op_registry.h"
#include "ops/random/random_fill.h"
#include "ops/support/array_box.h"

static int64_t rows_of(const Tensor *value) {
  return value->shape.rank == 0 ? 1 : shape_dim(&value->shape, 0);
}

uint64_t random_shuffle_groups(const KernelContext *context) {
  int64_t rows = rows_of(context->inputs[0]);
  return rows <= 1 || tensor_num_elements(context->inputs[0]) <= 1 ? 0 : (uint64_t)(rows - 1 + 3) / 4;
}

/* Each row changes places with one of those that follow, or stays. */
static void draw_order(const Philox *start, int64_t *order, int64_t rows) {
  PhiloxStream stream = {.generator = *start};
  for (int64_t i = 0; i < rows; i++) order[i] = i;
  for (int64_t i = 0; i < rows - 1 && !work_is_stopped_in_round(i); i++) {
    int64_t other = i + philox_stream_next(&stream) % (uint32_t)(rows - i), row = order[i];
    order[i] = order[other];
    order[other] = row;
  }
}

bool random_shuffle(KernelContext *context, const Philox *start, Status *status) {
  const Tensor *value = context->inputs[0];
  Tensor *out;
  int64_t rows = rows_of(value);
  if (random_shuffle_groups(context) == 0) return kernel_set_output(context, 0, value, NULL, status);
  if (rows > UINT32_MAX) return status_invalid(status, "%lld rows are too many to shuffle", (long long)rows);
  int64_t *order;
  Buffer *scratch = array_row_numbers(context, rows, &order, status);
  if (!scratch) return false;
  draw_order(start, order, rows);
  bool ok = kernel_allocate_output(context, 0, &value->shape, &out, status) &&
            array_gather_rows(value, order, rows, tensor_num_elements(value) / rows, out, context->parallel,
                              status);
  buffer_unref(scratch);
  return ok;
}

static bool shuffle(KernelContext *context, Status *status) {
  Philox start = random_state_reserve(context->state, random_shuffle_groups(context));
  return random_shuffle(context, &start, status);
}

const OpRegistration kOpRandomShuffle = {
    .name = "RandomShuffle",
    .inputs = {"value: T"},
    .outputs = {"output: T"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "T: type"},
    .is_stateful = true,
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RandomState),
    .construct = random_state_construct,
    .kernels = {{DT_INVALID, shuffle}},
};
