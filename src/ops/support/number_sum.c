#include "ops/support/number_sum.h"

#include <string.h>

#include "ops/support/element_types.h"

/* Elements [begin, end). */
typedef void SumLoop(const Tensor *const *inputs, int count, void *out, int64_t begin, int64_t end);

typedef struct SumJob {
  const Tensor *const *inputs;
  int count;
  void *out;
  SumLoop *loop;
} SumJob;

static void run_sum(void *arg, int64_t begin, int64_t end) {
  const SumJob *job = arg;
  job->loop(job->inputs, job->count, job->out, begin, end);
}

#define TEMPLATE "ops/support/number_sum.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

static SumLoop *loop_of(DataType type) {
  switch (type) {
    case DT_FLOAT: return sum_f32;
    case DT_DOUBLE: return sum_f64;
    case DT_HALF: return sum_f16;
    case DT_BFLOAT16: return sum_bf16;
    case DT_INT32: return sum_i32;
    case DT_INT64: return sum_i64;
    case DT_UINT8: return sum_u8;
    case DT_INT8: return sum_i8;
    case DT_INT16: return sum_i16;
    case DT_UINT16: return sum_u16;
    case DT_UINT32: return sum_u32;
    case DT_UINT64: return sum_u64;
    case DT_COMPLEX64: return sum_c64;
    case DT_COMPLEX128: return sum_c128;
    default: return NULL;
  }
}

bool number_sum(const Tensor *const *inputs, int count, const Tensor *out, const Parallel *parallel,
                Status *status) {
  SumJob job = {inputs, count, out->data, loop_of(out->dtype)};
  if (!job.loop)
    return status_set(status, CODE_UNIMPLEMENTED, "AddN of %s is not supported", dtype_name(out->dtype));
  parallel_work(parallel, tensor_num_elements(out), 1, run_sum, &job);
  return true;
}
