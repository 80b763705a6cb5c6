/* CheckNumerics: passes the input on, unless it has a NaN or an infinity. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"

typedef struct CheckState {
  Str message; /* of the node */
} CheckState;

static bool check_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_string(construction->node, "message", &((CheckState *)memory)->message, status);
}

/* 1 if there is a NaN among the elements, 2 for an infinity, 3 for both. */
typedef int FindAbnormal(const void *data, int64_t count);

/* Its data is a FindAbnormal. */
static bool check_numerics(KernelContext *context, Status *status) {
  static const char *const kWhat[] = {"", "NaN", "Inf", "Inf and NaN"};
  const Tensor *input = context->inputs[0];
  int found = ((FindAbnormal *)context->data)(input->data, tensor_num_elements(input));
  const Str *message = &((const CheckState *)context->state)->message;
  if (found == 0) return kernel_set_output(context, 0, input, NULL, status);
  return status_invalid(status, "%.*s : Tensor had %s values", (int)message->length, message->data,
                        kWhat[found]);
}

#define TEMPLATE "ops/array/check_numerics_each.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

/* The gradient is checked as well. */
const OpRegistration kOpCheckNumerics = {
    .name = "CheckNumerics",
    .inputs = {"tensor: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {bfloat16, half, float, double}", "message: string"},
    .is_stateful = true,
    .shape = shape_unchanged,
    .gradient =
        "CheckNumericsGradient[T:type](tensor:T, dy:T) -> (dtensor:T) {\n"
        "  d = CheckNumerics[T=$T, message=\"Not a number (NaN) or infinity (Inf) values detected in "
        "gradient.\"](dy)\n"
        "  return dtensor = d:output:0\n"
        "}\n",
    .state_size = sizeof(CheckState),
    .construct = check_construct,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(check_numerics, find_abnormal)},
};
