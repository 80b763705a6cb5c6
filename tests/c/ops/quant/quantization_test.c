/* Quantised values: gradients that pass through rounding, and what has no golden case. */
#include <stdio.h>

#include "gradient/graph_gradients.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

/* They are no derivatives: rounding has none. */
TEST(gradients_pass_through_quantization) {
  gradient_is("FakeQuantWithMinMaxArgs[min=-1, max=1]", "float[3] -2 0.5 3", "float[3] 0 1 0");
  gradient_is("FakeQuantWithMinMaxVars", "float[4] -2 0.5 3 4; float[] -1; float[] 1",
              "float[4] 0 1 0 0; float[] 1; float[] 2");
  gradient_is("FakeQuantWithMinMaxVarsPerChannel",
              "float[2,3] -2 0.5 3 4 -5 0; float[3] -1 -1 0; float[3] 1 1 0",
              "float[2,3] 0 1 1 0 0 1; float[3] 1 1 0; float[3] 1 0 0");
  gradient_is("QuantizeAndDequantizeV2[T=float, range_given=true]",
              "float[3] -2 0.5 3; float[] -1; float[] 1", "float[3] 1 1 1; float[] 0; float[] 0");
  gradient_is("QuantizeAndDequantizeV3[T=float]", "float[3] -2 0.5 3; float[] -1; float[] 1; int32[] 8",
              "float[3] 1 1 1; float[] 0; float[] 0");
  gradient_is("QuantizeAndDequantizeV4[T=float, range_given=true]",
              "float[3] -2 0.5 3; float[] -1; float[] 1", "float[3] 0 1 0; float[] 0; float[] 0");
}

/* In a graph of an old version, because current graphs must not have QuantizeAndDequantize. */
TEST(gradients_pass_through_quantization_in_old_graphs) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  versions.producer = 21;
  NodeOutput x, y, dx = {NULL, 0};
  if (CHECK_OK(graph_set_versions(graph, &versions, &status), status) &&
      CHECK_OK(op_add_node(graph, "x", "Placeholder[dtype=float]", NULL, 0, &x, &status), status) &&
      CHECK_OK(op_add_node(graph, "y", "QuantizeAndDequantize[T=float]", &x, 1, &y, &status), status) &&
      CHECK_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), status) &&
      CHECK(dx.node)) {
    CHECK_STR_EQ(dx.node->op->def->name, "Identity");
  }
  graph_free(graph);
}

TEST(the_first_version_rounds_as_the_second_one) {
  op_gives_about("QuantizeAndDequantize[T=float, range_given=true, input_min=-1, input_max=1, num_bits=3]",
                 "float[4] -2 0.3 0.1 0.9", "float[4] -1.33333333 0.33333333 0 1", 1e-6);
  op_fails("QuantizeAndDequantize[T=float, range_given=true, input_min=2, input_max=1]", "float[1] 0",
           CODE_INVALID_ARGUMENT, "Invalid range: input_min 2 > input_max 1");
}

/* TensorFlow refuses them. */
TEST(ranges_of_channels_are_given_for_an_axis) {
  op_gives_about("QuantizeAndDequantizeV2[T=float, range_given=true, axis=1, num_bits=2, signed_input=false]",
                 "float[2,2] 0.9 1.9 2.2 7; float[2] 0 0; float[2] 3 6", "float[2,2] 1 2 2 6", 1e-6);
  op_fails("QuantizeAndDequantizeV2[T=float, range_given=true, axis=1]",
           "float[2,2] 0; float[1] 0; float[1] 3", CODE_INVALID_ARGUMENT,
           "min has incorrect size, expected 2 was 1");
}

TEST(scalars_have_no_channels) {
  op_fails("FakeQuantWithMinMaxVarsPerChannel", "float[] 1; float[1] 0; float[1] 1", CODE_INVALID_ARGUMENT,
           "inputs must have at least one dimension");
}

/* TensorFlow infers no shape for these. */
TEST(slices_of_an_axis_have_ranges_of_their_own) {
  op_gives_about("Dequantize[T=quint8, axis=1]", "quint8[2,2] 0 255 255 0; float[2] -1 0; float[2] 1 2",
                 "float[2,2] -1 2 1 0", 1e-6);
  op_gives_about("Dequantize[T=qint8, axis=0, mode=SCALED]",
                 "qint8[2,1] 127 127; float[2] -1 0; float[2] 1 2", "float[2,1] 1 2", 1e-6);
  op_fails("Dequantize[T=quint8, axis=2]", "quint8[2,2] 0; float[2] 0; float[2] 1", CODE_INVALID_ARGUMENT,
           "Axis must be less than input dimension(2), got 2");
  op_fails("Dequantize[T=quint8, axis=1]", "quint8[2,2] 0; float[1] 0; float[2] 1", CODE_INVALID_ARGUMENT,
           "input_min_tensor must have as many elements as input on the dequantization axis (1), got 1, "
           "expected 2");
  op_fails("Dequantize[T=quint8, axis=1, mode=MIN_FIRST]", "quint8[2,2] 0; float[2] 0; float[2] 1",
           CODE_UNIMPLEMENTED, "MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
}

/* Kernels write qint32: other types of outputs would be too small for that. */
TEST(quantized_products_and_sums_have_no_other_outputs_than_qint32) {
  static const char *const kRanges = "float[] -1; float[] 1; float[] -1; float[] 1";
  static const char *const kOps[][2] =
      {{"QuantizedMatMul[T1=quint8, T2=quint8, Toutput=qint8]", "quint8[2,2] 1; quint8[2,2] 1"},
       {"QuantizedConv2D[Tinput=quint8, Tfilter=quint8, out_type=quint8, strides=[1, 1, 1, 1], padding=SAME]",
        "quint8[1,2,2,1] 1; quint8[1,1,1,1] 1"},
       {"QuantizedBiasAdd[T1=quint8, T2=quint8, out_type=qint8]", "quint8[2,2] 1; quint8[2] 1"},
       {"QuantizedAdd[T1=quint8, T2=quint8, Toutput=qint16]", "quint8[2] 1; quint8[2] 1"},
       {"QuantizedMul[T1=quint8, T2=quint8, Toutput=qint8]", "quint8[2] 1; quint8[2] 1"}};
  for (size_t i = 0; i < sizeof kOps / sizeof kOps[0]; i++) {
    char inputs[160];
    snprintf(inputs, sizeof inputs, "%s; %s", kOps[i][1], kRanges);
    op_fails(kOps[i][0], inputs, CODE_NOT_FOUND, "has outputs of type q");
  }
  op_fails("QuantizedAdd[T1=quint8, T2=qint32, Toutput=qint32]",
           "quint8[2] 1; qint32[2] 1; float[] -1; float[] 1; float[] -1; float[] 1", CODE_NOT_FOUND,
           "No kernel of Op 'QuantizedAdd' has inputs of type qint32");
}

/* TensorFlow aborts. */
TEST(instance_norms_are_of_images) {
  op_fails("QuantizedInstanceNorm[T=quint8]", "quint8[2,2] 1; float[] -1; float[] 1", CODE_INVALID_ARGUMENT,
           "x must be 4-dimensional[2,2]");
}

/* TensorFlow leaves some elements of such sums as they are in memory. */
TEST(quantized_sums_of_a_column_and_a_row_are_refused) {
  op_fails("QuantizedAdd[T1=quint8, T2=quint8, Toutput=qint32]",
           "quint8[2,1] 1; quint8[1,3] 1; float[] -1; float[] 1; float[] -1; float[] 1", CODE_UNIMPLEMENTED,
           "Broadcast between [2,1] and [1,3] is not supported yet.");
}

TEST(the_range_of_a_whole_tensor_is_a_scalar) {
  op_gives("QuantizeV2[T=quint8, mode=MIN_FIRST]", "float[2] 0 255; float[1,1] 0; float[1] 255",
           "quint8[2] 0 255; float[] 0; float[] 255");
}
