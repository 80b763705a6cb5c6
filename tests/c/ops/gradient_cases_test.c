/* Runs the gradient cases of all test files, and checks that the registry's ops have them. */
#include "gradient_cases.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op/op_registry.h"
#include "op/shape_inference.h"

GradientCaseList *gradient_case_lists;

enum { MAX_NAME = 64, MAX_TEXT = 512 };

/* The next op of "Add|Sub[T=double]": its name, and its text for op_runner.h. False at the end. */
static bool next_op(const char **names, const char *attrs, char name[MAX_NAME], char text[MAX_TEXT]) {
  if (*names == attrs) return false;
  size_t length = strcspn(*names, "|[");
  snprintf(name, MAX_NAME, "%.*s", (int)length, *names);
  snprintf(text, MAX_TEXT, "%s%s", name, attrs);
  *names += length + ((*names)[length] == '|');
  return true;
}

static const char *attrs_of(const GradientCase *c) { return (*c)[CASE_OP] + strcspn((*c)[CASE_OP], "["); }

TEST(gradient_cases_hold) {
  char name[MAX_NAME], text[MAX_TEXT];
  for (const GradientCaseList *list = gradient_case_lists; list; list = list->next) {
    for (int i = 0; i < list->count; i++) {
      GradientCase *c = &list->cases[i];
      for (const char *names = (*c)[CASE_OP]; next_op(&names, attrs_of(c), name, text);) {
        if (!(*c)[CASE_ONCE]) {
          gradient_holds_twice(text, (*c)[CASE_INPUTS]);
        } else {
          gradient_holds(text, (*c)[CASE_INPUTS]);
        }
      }
    }
  }
}

/* --- coverage --- */

/* Ops whose gradients need more than placeholders around one node, with the tests that check them. */
static const struct {
  const char *op, *file, *test;
} kElsewhere[] = {
    {"ReadVariableOp", "ops/state/variable_test.c", "gradients_flow_into_variables"},
    {"Polygamma", "ops/math/special_test.c", "gradients_of_polygamma"},
    {"If", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"StatelessIf", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"Case", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"StatelessCase", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"_If", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"_While", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"OptionalFromValue", "ops/lists/optional_test.c", "gradients_flow_through_optionals"},
    {"OptionalGetValue", "ops/lists/optional_test.c", "gradients_flow_through_optionals"},
    {"While", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"StatelessWhile", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"For", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"PartitionedCall", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"StatefulPartitionedCall", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"RemoteCall", "gradient/run/functional_gradient_test.c", "gradients_of_branches_and_loops"},
    {"MapAccumulate", "gradient/run/functional_gradient_test.c", "gradients_of_map_accumulate"},
    {"MapAccumulateGrad", "gradient/run/functional_gradient_test.c", "gradients_of_map_accumulate"},
    {"SymbolicGradient", "gradient/run/functional_gradient_test.c", "gradients_of_gradients_as_nodes"},
    {"TensorArrayWriteV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_elements_of_arrays"},
    {"TensorArrayReadV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_elements_of_arrays"},
    {"TensorArrayScatterV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_rows_of_arrays"},
    {"TensorArrayGatherV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_rows_of_arrays"},
    {"TensorArraySplitV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_parts_of_arrays"},
    {"TensorArrayConcatV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_parts_of_arrays"},
    {"TensorArrayGradV3", "gradient/run/tensor_array_gradient_test.c",
     "gradients_flow_through_arrays_of_gradients"},
    {"TensorArrayGradWithShape", "gradient/run/tensor_array_gradient_test.c",
     "gradients_of_arrays_of_gradients_of_other_shapes_are_refused"},
    {"TensorListPushBack", "ops/lists/tensor_list_test.c", "gradients_of_lists"},
    {"TensorListPopBack", "ops/lists/tensor_list_test.c", "gradients_of_lists"},
    {"TensorListGetItem", "ops/lists/tensor_list_test.c", "gradients_of_lists"},
    {"TensorListSetItem", "ops/lists/tensor_list_test.c", "gradients_of_lists"},
    {"TensorListStack", "ops/lists/tensor_list_test.c", "gradients_of_lists"},
    {"TensorListFromTensor", "ops/lists/tensor_list_test.c", "gradients_of_lists"},
    {"TensorListGather", "ops/lists/tensor_list_rows_test.c", "gradients_of_gathered_items"},
    {"TensorListScatter", "ops/lists/tensor_list_rows_test.c", "gradients_of_scattered_rows"},
    {"TensorListScatterV2", "ops/lists/tensor_list_rows_test.c", "gradients_of_scattered_rows"},
    {"TensorListScatterIntoExistingList", "ops/lists/tensor_list_rows_test.c", "gradients_of_scattered_rows"},
    {"TensorListConcat", "ops/lists/tensor_list_rows_test.c", "gradients_of_concatenated_and_split_items"},
    {"TensorListConcatV2", "ops/lists/tensor_list_rows_test.c", "gradients_of_concatenated_and_split_items"},
    {"TensorListSplit", "ops/lists/tensor_list_rows_test.c", "gradients_of_concatenated_and_split_items"},
    {"TensorListResize", "ops/lists/tensor_list_rows_test.c", "gradients_of_concatenated_and_split_items"},
    {"RandomGamma", "ops/random/random_samples_test.c",
     "gradients_of_drawn_gamma_samples_keep_probabilities"},
    {"StatelessRandomGammaV2", "ops/random/random_samples_test.c",
     "gradients_of_gamma_samples_keep_probabilities"},
    {"StatelessRandomGammaV3", "ops/random/random_samples_test.c",
     "gradients_of_gamma_samples_keep_probabilities"},
    {"TopK", "ops/nn/top_k_test.c", "gradients_of_top_k_in_old_graphs"},
    {"PreventGradient", "ops/array/identity_test.c", "gradients_are_prevented"},
    {"RefIdentity", "c_api/reference_variables_test.c", "gradients_of_references_are_those_of_values"},
    {"RaggedTensorToVariant", "ops/sparse/ragged_variant_test.c", "gradients_flow_through_variants_of_rows"},
    {"RaggedTensorFromVariant", "ops/sparse/ragged_variant_test.c",
     "gradients_flow_through_variants_of_rows"},
    {"Cholesky", "ops/linalg/linalg_differences_test.c", "gradients_of_cholesky_are_hermitian"},
    {"MatrixSolveLs", "ops/linalg/linalg_differences_test.c", "gradients_of_least_squares"},
    {"Betainc", "ops/math/special_functions_test.c", "gradients_by_the_last_input"},
    {"Zeta", "ops/math/special_functions_test.c", "gradients_by_the_last_input"},
    {"ResourceGather", "ops/state/variable_test.c", "gradients_flow_into_gathered_variables"},
    {"LSTMBlockCell", "ops/nn/recurrent_cells_test.c", "gradients_of_lstm_cells_are_those_of_their_states"},
    {"BlockLSTM", "ops/nn/recurrent_cells_test.c", "gradients_of_lstms_over_time_are_those_of_their_states"},
    {"BlockLSTMV2", "ops/nn/recurrent_cells_test.c",
     "gradients_of_lstms_over_time_are_those_of_their_states"},
    {"FakeQuantWithMinMaxArgs", "ops/quant/quantization_test.c", "gradients_pass_through_quantization"},
    {"FakeQuantWithMinMaxVars", "ops/quant/quantization_test.c", "gradients_pass_through_quantization"},
    {"FakeQuantWithMinMaxVarsPerChannel", "ops/quant/quantization_test.c",
     "gradients_pass_through_quantization"},
    {"QuantizeAndDequantize", "ops/quant/quantization_test.c",
     "gradients_pass_through_quantization_in_old_graphs"},
    {"QuantizeAndDequantizeV2", "ops/quant/quantization_test.c", "gradients_pass_through_quantization"},
    {"QuantizeAndDequantizeV3", "ops/quant/quantization_test.c", "gradients_pass_through_quantization"},
    {"QuantizeAndDequantizeV4", "ops/quant/quantization_test.c", "gradients_pass_through_quantization"},
    {"CTCLoss", "ops/ctc/ctc_test.c", "gradients_of_ctc_losses"},
    {"CTCLossV2", "ops/ctc/ctc_test.c", "gradients_of_ctc_losses"},
    {"GRUBlockCell", "ops/nn/recurrent_cells_test.c", "gradients_of_gru_cells_are_those_of_their_state"},
};
enum { NUM_ELSEWHERE = sizeof kElsewhere / sizeof kElsewhere[0], MAX_SHAPES = 64, CASES_WANTED = 3 };

/* The coverage by the cases of one op. */
typedef struct Coverage {
  char shapes[MAX_SHAPES][MAX_TEXT];
  int count;
  bool broadcasts, complex;
} Coverage;

/* "double[2,3] 1 2; double[] 3" has the shapes "[2,3][]". */
static void shapes_of(const char *inputs, char shapes[MAX_TEXT]) {
  size_t length = 0;
  bool inside = false;
  for (const char *p = inputs; *p != '\0' && length < MAX_TEXT - 1; p++) {
    inside = inside || *p == '[';
    if (inside) shapes[length++] = *p;
    inside = inside && *p != ']';
  }
  shapes[length] = '\0';
}

/* Whether the first two inputs differ in shape. */
static bool broadcasts(const char *shapes) {
  const char *first = strchr(shapes, ']');
  if (!first) return false;
  size_t length = (size_t)(first - shapes) + 1;
  return first[1] == '[' && (strncmp(shapes, first + 1, length) != 0);
}

static void cover(Coverage *coverage, const GradientCase *c) {
  char shapes[MAX_TEXT];
  shapes_of((*c)[CASE_INPUTS], shapes);
  coverage->complex = coverage->complex || strstr((*c)[CASE_INPUTS], "complex128[");
  coverage->broadcasts = coverage->broadcasts || broadcasts(shapes);
  for (int i = 0; i < coverage->count; i++) {
    if (strcmp(coverage->shapes[i], shapes) == 0) return;
  }
  if (coverage->count < MAX_SHAPES) snprintf(coverage->shapes[coverage->count++], MAX_TEXT, "%s", shapes);
}

static void find_coverage(const char *op, Coverage *coverage) {
  char name[MAX_NAME], text[MAX_TEXT];
  for (const GradientCaseList *list = gradient_case_lists; list; list = list->next) {
    for (int i = 0; i < list->count; i++) {
      const GradientCase *c = &list->cases[i];
      for (const char *names = (*c)[CASE_OP]; next_op(&names, attrs_of(c), name, text);) {
        if (strcmp(name, op) == 0) cover(coverage, c);
      }
    }
  }
}

/* Whether the file has a test of that name that mentions the op. */
static bool has_test(const char *file_name, const char *test, const char *op) {
  char path[MAX_TEXT], line[1024], head[MAX_TEXT];
  snprintf(path, sizeof path, "tests/c/%s", file_name);
  snprintf(head, sizeof head, "TEST(%s)", test);
  FILE *file = fopen(path, "r");
  if (!CHECK(file)) return false;
  bool found = false, speaks = false;
  while (fgets(line, sizeof line, file)) {
    found = found || strncmp(line, head, strlen(head)) == 0;
    speaks = speaks || strstr(line, op);
  }
  fclose(file);
  return CHECK(found) && CHECK(speaks);
}

static bool is_elsewhere(const char *op) {
  for (int i = 0; i < NUM_ELSEWHERE; i++) {
    if (strcmp(kElsewhere[i].op, op) == 0) return has_test(kElsewhere[i].file, kElsewhere[i].test, op);
  }
  return false;
}

/* Ops on complex numbers whose gradients in TensorFlow are not derivatives there. */
static const struct {
  const char *op, *why;
} kNoDerivative[] = {
    {"EuclideanNorm", "the norm has no imaginary part, but that of dy is used"},
    {"LogMatrixDeterminant", "the logarithm has no imaginary part, and the sign has no gradient"},
    {"Sign", "the gradient is zero, but z / |z| turns with z"},
    {"SquaredDifference", "|x - y|^2 has no imaginary part, but that of dy is used"},
};

/* Whether a kernel computes with complex numbers, rather than moving any type. */
static bool has_complex_derivative(const OpRegistration *r) {
  for (size_t i = 0; i < sizeof kNoDerivative / sizeof kNoDerivative[0]; i++) {
    if (strcmp(kNoDerivative[i].op, r->name) == 0) return false;
  }
  for (int i = 0; i < OP_MAX_KERNELS && r->kernels[i].compute; i++) {
    if (r->kernels[i].type == DT_COMPLEX128) return true;
  }
  return false;
}

TEST(every_gradient_has_cases) {
  int ops = 0, elsewhere = 0;
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    const char *name = op_registry_name(op_registry_global(), i);
    const Op *op = op_registry_find(op_registry_global(), name);
    CHECK_CONTEXT("%s", name);
    if (!CHECK(op)) continue;
    const OpRegistration *r = op->registration;
    if (r->gradient == NO_GRADIENT || (!r->gradient && !r->gradient_fn)) continue;
    ops++;
    if (is_elsewhere(name)) {
      elsewhere++;
      continue;
    }
    Coverage coverage = {.count = 0};
    find_coverage(name, &coverage);
    if (coverage.count < CASES_WANTED) {
      char message[MAX_TEXT];
      snprintf(message, sizeof message, "%d GRADIENT_CASES of different shapes", coverage.count);
      CHECK_STR_EQ(message, "at least 3");
    }
    if (r->shape == shape_broadcast_binary) CHECK(coverage.broadcasts);
    if (has_complex_derivative(r)) CHECK(coverage.complex);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(ops > 50);
  CHECK_INT_EQ(elsewhere, NUM_ELSEWHERE);
}

/* A case names an existing op, and one without a second derivative has a reason. */
TEST(gradient_cases_are_of_ops) {
  char name[MAX_NAME], text[MAX_TEXT];
  for (const GradientCaseList *list = gradient_case_lists; list; list = list->next) {
    for (int i = 0; i < list->count; i++) {
      const GradientCase *c = &list->cases[i];
      if ((*c)[CASE_ONCE]) CHECK(strlen((*c)[CASE_ONCE]) > 10);
      for (const char *names = (*c)[CASE_OP]; next_op(&names, attrs_of(c), name, text);) {
        CHECK_CONTEXT("%s", text);
        const Op *op = op_registry_find(op_registry_global(), name);
        CHECK(op && (op->registration->gradient || op->registration->gradient_fn));
      }
    }
  }
  CHECK_CONTEXT("%s", "");
}
