/* Shape functions of array and image ops, for cases beyond the recorded facts: more records in the same
 * format (tests/c/shape_facts.h). The sizes were compared with TensorFlow's. */
#include <string.h>

#include "harness.h"
#include "shape_facts.h"

#define F "\"T\":{\"type\":\"DT_FLOAT\"}"
#define I "\"Index\":{\"type\":\"DT_INT32\"}"
#define INTS(n, values) "{\"dtype\":\"DT_INT32\",\"shape\":[" #n "],\"values\":[" values "]}"
#define INT(value) "{\"dtype\":\"DT_INT32\",\"shape\":[],\"values\":[" value "]}"
#define LONG(value) "{\"dtype\":\"DT_INT64\",\"shape\":[],\"values\":[" value "]}"
#define GATHER(batch_dims) "\"Tparams\":{\"type\":\"DT_FLOAT\"},\"batch_dims\":{\"i\":" batch_dims "}"
#define FACT(op, attrs, in, tensors, result) \
  "{\"op\":\"" op "\",\"attrs\":{" attrs "},\"in\":\"" in "\",\"tensors\":{" tensors "}," result "}"
/* Input 0 is a handle of a variable of type float and shape [3,2]. */
#define OF_VARIABLE(op, attrs, in, result)                \
  "{\"op\":\"" op "\",\"attrs\":{" attrs "},\"in\":\"" in \
  "\",\"handles\":{\"0\":[[\"[3,2]\",\"DT_FLOAT\"]]}," result "}"
#define OUT(shapes) "\"out\":\"" shapes "\""
#define ERROR(text) "\"error\":\"" text "\""

#define NOT_PADDED "\"pad_per_class\":{\"b\":false},\"clip_boxes\":{\"b\":true}"
#define LENIENT "\"incompatible_shape_error\":{\"b\":false}," F

#define SPLIT(n) "\"num_split\":{\"i\":" #n "}," F
#define PADDED "\"padding\":{\"s\":\"VALID\"}," F
#define STEPS "\"strides\":{\"list\":{\"i\":[1,2,2,1]}}," PADDED
#define POOL "\"ksize\":{\"list\":{\"i\":[1,2,2,1]}}," STEPS
#define TYPE(name, type) "\"" name "\":{\"type\":\"" type "\"}"
#define GATHERS(type) TYPE("dtype", type) "," TYPE("Tindices", "DT_INT32")
#define FLOATS(name) "\"" name "\":{\"list\":{\"type\":[\"DT_FLOAT\"]}}"
#define BRANCHES TYPE("Tcond", "DT_BOOL") "," FLOATS("Tin") "," FLOATS("Tout")
#define GATHERS_IN_BATCHES(batch_dims) GATHERS("DT_FLOAT") ",\"batch_dims\":{\"i\":" batch_dims "}"
#define AT_LEAST(want, got) ERROR("Shape must be at least rank " #want " but is rank " #got)
#define K2 "\"k\":{\"i\":2},\"T\":{\"type\":\"DT_INT32\"}"
#define RANK(want, got) ERROR("Shape must be rank " #want " but is rank " #got)

static const char *const kFacts[] = {
    /* The first sizes that clash or may clash decide. */
    FACT("Equal", LENIENT, "[2];[3]", "", OUT("[]")),
    FACT("NotEqual", LENIENT, "[0];[2]", "", OUT("[]")),
    FACT("Equal", LENIENT, "[?];[3]", "", OUT("?")),
    FACT("Equal", LENIENT, "[?];[0]", "", OUT("?")),
    FACT("Equal", LENIENT, "?;[3]", "", OUT("?")),
    FACT("Equal", LENIENT, "[2,?];[3]", "", OUT("?")),
    FACT("Equal", LENIENT, "[?,2];[4,3]", "", OUT("?")),
    FACT("Equal", LENIENT, "[2,?];[3,4]", "", OUT("[]")),
    FACT("Equal", F, "[2];[3]", "", ERROR("Dimensions must be equal, but are 2 and 3")),

    FACT("ShapeN", "\"N\":{\"i\":2}," F, "[?,2];?", "", OUT("[2];[?]")),
    FACT("Rank", F, "?", "", OUT("[]")),
    FACT("Size", F, "[?,3]", "", OUT("[]")),

    FACT("Squeeze", F, "?", "", OUT("?")),
    FACT("Squeeze", F, "[1,4,1]", "", OUT("[d0_1]")),
    FACT("Squeeze", F, "[1,?,1]", "", OUT("?")),
    FACT("Squeeze", F ",\"squeeze_dims\":{\"list\":{\"i\":[0]}}", "[1,?,1]", "", OUT("[d0_1,d0_2]")),
    FACT("Squeeze", F ",\"squeeze_dims\":{\"list\":{\"i\":[-2]}}", "[1,?,1]", "", OUT("[d0_0,d0_2]")),
    FACT("Squeeze", F ",\"squeeze_dims\":{\"list\":{\"i\":[1]}}", "[1,4]", "",
         ERROR("Can not squeeze dim[1], expected a dimension of 1, got 4")),
    FACT("Squeeze", F ",\"squeeze_dims\":{\"list\":{\"i\":[2]}}", "[1,4]", "", ERROR("not in [-2,2)")),

    FACT("Range", "", "[];[];[]", "", OUT("[?]")),
    FACT("Range", "", "[];[];[]", "\"0\":" INT("1") ",\"2\":" INT("2"), OUT("[?]")),
    FACT("Range", "", "[];[];[]", "\"0\":" INT("1") ",\"1\":" INT("8") ",\"2\":" INT("2"), OUT("[4]")),
    FACT("Range", "", "[];[];[]", "\"0\":" INT("8") ",\"1\":" INT("1") ",\"2\":" INT("2"),
         ERROR("Requires start <= limit when delta > 0: 8/1")),
    FACT("Range", "", "[];[];[]", "\"0\":" INT("1") ",\"1\":" INT("8") ",\"2\":" INT("0"),
         ERROR("Requires delta != 0")),
    FACT("Range", "", "[];[1];[]", "", ERROR("for 'limit'")),

    /* Numbers that are too large to count with. */
    FACT("GatherV2", GATHER("2147483647"), "?;?;[]", "", ERROR("Rank cannot exceed kint32max")),
    FACT("GatherV2", GATHER("9223372036854775807"), "?;?;[]", "", ERROR("Rank cannot exceed kint32max")),
    FACT("GatherV2", GATHER("0"), "?;?;[]", "\"2\":" LONG("9223372036854775807"),
         ERROR("Rank cannot exceed kint32max")),
    FACT("GatherV2", GATHER("0"), "[2];?;[]", "\"2\":" LONG("-9223372036854775808"),
         ERROR("Rank cannot exceed kint32max")),
    FACT("SpaceToBatchND", F, "?;[9223372036854775807];[9223372036854775807,2]", "",
         ERROR("Rank cannot exceed kint32max")),

    FACT("Tile", F, "?;?", "", OUT("?")),
    FACT("Tile", F, "?;[2]", "", OUT("[?,?]")),
    FACT("Tile", F, "[2,?];?", "", OUT("[?,?]")),
    FACT("Tile", F, "[2,?,4];[3]", "\"1\":" INTS(3, "3,2,1"), OUT("[6,?,d0_2]")),
    FACT("Tile", F, "[2,3];[3]", "", ERROR("Shape must be rank 2 but is rank 3")),

    FACT("ConcatV2", "\"N\":{\"i\":2}," F, "[2,?];[3,4];[]", "\"2\":" INT("0"), OUT("[5,d1_1]")),
    FACT("ConcatV2", "\"N\":{\"i\":2}," F, "[2,?];[?,4];[]", "\"2\":" INT("-1"), OUT("[d0_0,?]")),
    FACT("ConcatV2", "\"N\":{\"i\":2}," F, "[2,3];[3,4];[]", "", OUT("[?,?]")),
    FACT("ConcatV2", "\"N\":{\"i\":2}," F, "[2,3];[3,4];[]", "\"2\":" INT("0"),
         ERROR("must be equal, but are 3 and 4")),
    FACT("Concat", "\"N\":{\"i\":2}," F, "[];[2,?];[3,4]", "\"0\":" INT("0"), OUT("[5,d2_1]")),
    FACT("Concat", "\"N\":{\"i\":2}," F, "[];[2,3];[3,4]", "", OUT("[?,?]")),

    FACT("Pack", "\"N\":{\"i\":2}," F, "?;?", "", OUT("?")),
    FACT("Pack", "\"N\":{\"i\":2}," F, "[?,3];[2,?]", "", OUT("[2,d1_0,d0_1]")),
    FACT("Pack", "\"N\":{\"i\":2},\"axis\":{\"i\":-1}," F, "[?];[4]", "", OUT("[d1_0,2]")),
    FACT("Pack", "\"N\":{\"i\":2}," F, "[3];[2]", "", ERROR("must be equal, but are 3 and 2")),
    FACT("Pack", "\"N\":{\"i\":1},\"axis\":{\"i\":2}," F, "[3]", "",
         ERROR("Invalid axis: 2; must be in [-2,2)")),

    FACT("Slice", F "," I, "[2,?,4];[3];[3]", "\"1\":" INTS(3, "0,1,2") ",\"2\":" INTS(3, "-1,-1,1"),
         OUT("[d0_0,?,1]")),
    FACT("Slice", F "," I, "[2,3];[2];[2]", "\"2\":" INTS(2, "-1,2"), OUT("[?,2]")),
    FACT("Slice", F "," I, "[2,3];[2];[2]", "\"1\":" INTS(2, "0,4") ",\"2\":" INTS(2, "-1,-1"),
         ERROR("Negative dimension size")),
    FACT("Slice", F "," I, "[2,3];[2];[2]", "\"1\":" INTS(2, "0,0") ",\"2\":" INTS(2, "-1,-2"),
         ERROR("cannot be < -1")),

    FACT("StridedSlice", F "," I, "?;[1];[1];[1]", "", OUT("?")),
    FACT("StridedSlice", F "," I, "[5,?];[1];[1];[1]",
         "\"1\":" INTS(1, "1") ",\"2\":" INTS(1, "4") ",\"3\":" INTS(1, "2"), OUT("[2,d0_1]")),
    FACT("StridedSlice", F "," I, "[5,?];[2];[2];[2]", "\"3\":" INTS(2, "1,1"), OUT("[?,?]")),
    FACT("StridedSlice", F "," I ",\"begin_mask\":{\"i\":1},\"end_mask\":{\"i\":1}", "[5,4];[2];[2];[2]",
         "\"3\":" INTS(2, "-2,1"), OUT("[3,?]")),
    FACT("StridedSlice", F "," I ",\"shrink_axis_mask\":{\"i\":1},\"new_axis_mask\":{\"i\":2}",
         "[5,4];[2];[2];[2]", "\"3\":" INTS(2, "1,1"), OUT("[1,d0_1]")),
    FACT("StridedSlice", F "," I ",\"ellipsis_mask\":{\"i\":1}", "[5,4,3];[2];[2];[2]",
         "\"1\":" INTS(2, "0,1") ",\"2\":" INTS(2, "0,3") ",\"3\":" INTS(2, "1,1"), OUT("[d0_0,d0_1,2]")),
    FACT("StridedSlice", F "," I ",\"shrink_axis_mask\":{\"i\":1}", "[5];[1];[1];[1]",
         "\"1\":" INTS(1, "5") ",\"2\":" INTS(1, "6") ",\"3\":" INTS(1, "1"),
         ERROR("slice index 5 of dimension 0 out of bounds.")),
    FACT("StridedSlice", F "," I, "[5];[1];[1];[1]", "\"3\":" INTS(1, "0"),
         ERROR("strides[0] must be non-zero")),
    FACT("StridedSlice", F "," I, "[5];[2];[2];[1]", "", ERROR("must be equal, but are 2 and 1")),
    FACT("StridedSliceGrad", F "," I, "[2];[1];[1];[1];[3]", "\"0\":" INTS(2, "4,5"), OUT("[4,5]")),
    FACT("StridedSliceGrad", F "," I, "[2];[1];[1];[1];[3]", "", OUT("[?,?]")),

    FACT("Pad", F, "?;?", "", OUT("?")),
    FACT("Pad", F, "?;[2,2]", "", OUT("[?,?]")),
    FACT("Pad", F, "[1,2,3];?", "", OUT("[?,?,?]")),
    FACT("Pad", F, "[1,?,3];[3,2]", "\"1\":{\"dtype\":\"DT_INT32\",\"shape\":[3,2],\"values\":[1,2,3,4,0,0]}",
         OUT("[4,?,d0_2]")),
    FACT("Pad", F, "[1];[1,2]", "\"1\":{\"dtype\":\"DT_INT32\",\"shape\":[1,2],\"values\":[1,-2]}",
         ERROR("Paddings must be non-negative")),
    FACT("Pad", F, "[1,2];[3,2]", "", ERROR("Shape must be rank 3 but is rank 2")),
    FACT("Pad", F, "[1,2];[2,3]", "", ERROR("Dimension must be 2 but is 3")),

    FACT("Split", SPLIT(2), "[];[4,?]", "\"0\":" INT("0"), OUT("[2,d1_1];[2,d1_1]")),
    FACT("Split", SPLIT(3), "[];[?,6]", "\"0\":" INT("-1"), OUT("[d1_0,2];[d1_0,2];[d1_0,2]")),
    FACT("Split", SPLIT(2), "[];[?,6]", "\"0\":" INT("0"), OUT("[?,d1_1];[?,d1_1]")),
    FACT("Split", SPLIT(2), "[];[4,?]", "", OUT("[?,?];[?,?]")),
    FACT("Split", SPLIT(2), "[];?", "\"0\":" INT("0"), OUT("?;?")),
    FACT("Split", SPLIT(2), "[];?", "", OUT("?;?")),
    FACT("Split", SPLIT(2), "[];[3]", "\"0\":" INT("0"),
         ERROR("Dimension size must be evenly divisible by 2 but is 3")),
    FACT("Split", SPLIT(2), "[];[4]", "\"0\":" INT("1"),
         ERROR("given by scalar input 1 must be in range [-1, 1)")),
    FACT("Split", SPLIT(2), "[1];[4]", "", OUT("[?];[?]")),

    FACT("MaxPool", POOL, "[2,3]", "", RANK(4, 2)),
    FACT("AvgPool", POOL, "[2,3]", "", RANK(4, 2)),
    FACT("MaxPoolV2", PADDED, "[2,3];[4];[4]", "", RANK(4, 2)),
    FACT("MaxPoolV2", PADDED, "[1,4,4,1];[4,1];[4]", "", RANK(1, 2)),
    FACT("MaxPoolV2", PADDED, "[1,4,4,1];[4];[4,1]", "", RANK(1, 2)),
    FACT("MaxPoolGrad", POOL, "[2,3];?;?", "", RANK(4, 2)),
    FACT("MaxPoolGradV2", PADDED, "[2,3];?;?;[4];[4]", "", RANK(4, 2)),
    FACT("MaxPoolGradGrad", POOL, "[2,3];?;?", "", RANK(4, 2)),
    FACT("MaxPoolGradGrad", POOL, "[1,4,4,1];?;[1,3,4,1]", "", ERROR("must be equal, but are 4 and 3")),
    FACT("MaxPoolGradGrad", POOL, "[1,4,4,1];[1,3,2,1];?", "", ERROR("must be equal, but are 3 and 2")),
    FACT("MaxPoolGradGradV2", PADDED, "[2,3];?;?;[4];[4]", "", RANK(4, 2)),
    FACT("MaxPoolGradGradV2", PADDED, "?;?;?;[4,1];[4]", "", RANK(1, 2)),
    FACT("MaxPoolGradGradV2", PADDED, "?;?;?;[4];[4,1]", "", RANK(1, 2)),
    FACT("MaxPoolGradGradV2", PADDED, "[1,4,4,1];?;[1,3,4,1];[4];[4]", "",
         ERROR("must be equal, but are 4 and 3")),
    FACT("AvgPoolGrad", POOL, "[3];?", "", RANK(4, 3)),
    FACT("LRN", F, "[2,3]", "", RANK(4, 2)),
    FACT("LRNGrad", F, "[2,3];?;?", "", RANK(4, 2)),
    FACT("LRNGrad", F, "?;[2,3];?", "", ERROR("Shapes must be equal rank, but are 4 and 2")),
    FACT("LRNGrad", F, "?;?;[2,3]", "", ERROR("Shapes must be equal rank, but are 4 and 2")),
    FACT("Conv2DBackpropFilter", STEPS, "?;[3];?", "", RANK(4, 3)),
    FACT("DepthwiseConv2dNativeBackpropInput", STEPS, "[3];?;?", "", RANK(4, 3)),
    FACT("DepthwiseConv2dNativeBackpropFilter", STEPS, "?;[3];?", "", RANK(4, 3)),

    FACT("InTopK", K2, "[?,5];[3]", "", OUT("[d1_0]")),
    FACT("InTopK", K2, "[3,5];[?]", "", OUT("[d0_0]")),
    FACT("InTopK", K2, "[2,5];[3]", "", ERROR("must be equal, but are 2 and 3")),
    FACT("InTopK", K2, "[5];[5]", "", RANK(2, 1)),
    FACT("InTopK", K2, "[5,2];[5,1]", "", RANK(1, 2)),
    FACT("InTopKV2", "\"T\":{\"type\":\"DT_INT32\"}", "[?,5];[3];[]", "", OUT("[d1_0]")),
    FACT("InTopKV2", "\"T\":{\"type\":\"DT_INT32\"}", "[2,5];[3];[]", "",
         ERROR("must be equal, but are 2 and 3")),

    FACT("NonMaxSuppression", "", "[3,4];[3];[]", "", OUT("[?]")),
    FACT("NonMaxSuppression", "", "[3,5];[3];[]", "", ERROR("Dimension must be 4 but is 5")),
    FACT("NonMaxSuppressionWithOverlaps", "", "[3,3];[3];[];[];[]", "", OUT("[?]")),
    FACT("NonMaxSuppressionWithOverlaps", "", "[3,4];[3];[];[];[]", "",
         ERROR("must be equal, but are 3 and 4")),
    FACT("NonMaxSuppressionWithOverlaps", "", "[3,3];[3];[];[1];[]", "", RANK(0, 1)),
    FACT("CombinedNonMaxSuppression", NOT_PADDED, "[2,3,1,4];[2,3,5];[];[];[];[]", "",
         OUT("[d0_0,?,4];[d0_0,?];[d0_0,?];[d0_0]")),
    FACT("CombinedNonMaxSuppression", NOT_PADDED, "[2,3,2,4];[2,3,5];[];[];[];[]", "",
         ERROR("third dimension of boxes must be either 1 or equal to the third dimension of scores")),
    FACT("CombinedNonMaxSuppression", NOT_PADDED, "[1,3,1,4];[2,3,5];[];[];[];[]", "",
         ERROR("must be equal, but are 1 and 2")),

    OF_VARIABLE("StridedSlice", TYPE("T", "DT_RESOURCE") "," I, "[5];[1];[1];[1]",
                "\"tensors\":{\"3\":" INTS(1, "1") "}," OUT(
                    "[?]") ",\"out_handles\":{\"0\":[[\"[3,2]\",\"DT_FLOAT\"]]}"),
    OF_VARIABLE("ReadVariableOp", TYPE("dtype", "DT_FLOAT"), "[]", OUT("[3,2]")),
    OF_VARIABLE("ReadVariableOp", TYPE("dtype", "DT_DOUBLE"), "[]",
                ERROR("Trying to read variable with wrong dtype. Expected float got double")),
    OF_VARIABLE("AssignVariableOp", TYPE("dtype", "DT_DOUBLE"), "[];[3,2]",
                ERROR("Trying to read variable with wrong dtype. Expected float got double")),
    OF_VARIABLE("AssignVariableOp", TYPE("dtype", "DT_FLOAT"), "[];[2,2]",
                ERROR("must be equal, but are 3 and 2")),
    OF_VARIABLE("ResourceGather", GATHERS("DT_FLOAT"), "[];[4]", OUT("[d1_0,2]")),
    OF_VARIABLE("ResourceGather", GATHERS("DT_DOUBLE"), "[];[4]",
                ERROR("Trying to read variable with wrong dtype. Expected float got double")),
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("1"), "[];[3]", OUT("[3]")),
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("1"), "[];?", OUT("?")),
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("1"), "[];[]", AT_LEAST(1, 0)),
    /* The variable is checked first, even for indices of unknown rank. */
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("2"), "[];?", AT_LEAST(3, 2)),
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("3"), "[];[]", AT_LEAST(4, 2)),
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("-1"), "[];[3]", ERROR("batch_dims is negative (-1)")),
    OF_VARIABLE("ResourceGather", GATHERS_IN_BATCHES("9223372036854775807"), "[];?",
                ERROR("Rank cannot exceed kint32max")),
    FACT("ResourceGather", GATHERS_IN_BATCHES("1"), "[];[3]", "", OUT("?")),

    FACT("EmptyTensorList", TYPE("element_dtype", "DT_FLOAT") "," TYPE("shape_type", "DT_INT32"), "[2];[]",
         "\"0\":" INTS(2, "3,2"), OUT("[]") ",\"out_handles\":{\"0\":[[\"[3,2]\",\"DT_FLOAT\"]]}"),
    /* Nothing is said of the outputs. */
    FACT("StatelessIf", BRANCHES, "[];[2]", "", OUT("?")),
    FACT("StatelessIf", BRANCHES ",\"output_shapes\":{\"list\":{\"shape\":[]}}", "[];[2]", "", OUT("?")),
    FACT("StatelessIf", BRANCHES ",\"output_shapes\":{}", "[];[2]", "", OUT("?")),
    FACT("StatelessIf", BRANCHES ",\"output_shapes\":{\"list\":{\"shape\":[[3]]}}", "[];[2]", "", OUT("[3]")),
    FACT("StatelessIf", BRANCHES ",\"output_shapes\":{\"list\":{\"shape\":[[3],[3]]}}", "[];[2]", "",
         ERROR("`output_shapes` must be the same length as num outputs (2 vs. 1)")),

    FACT("Fill", F, "[2];[]", "\"0\":" INTS(2, "3,-1"), ERROR("Fill dimensions must be >= 0")),
    FACT("Fill", F, "[2];[1]", "", ERROR("Shape must be rank 0 but is rank 1")),
    FACT("Transpose", F, "[2,3];[2]", "\"1\":" INTS(2, "-1,0"), OUT("[d0_1,d0_0]")),
};

TEST(shape_functions_of_array_ops) {
  for (size_t i = 0; i < sizeof kFacts / sizeof kFacts[0]; i++) {
    Arena *arena = arena_new();
    const Json *fact = json_parse(arena, kFacts[i], strlen(kFacts[i]));
    CHECK_CONTEXT("%s", kFacts[i]);
    if (CHECK(fact)) {
      StrBuf why = {0};
      const Op *op = op_registry_find(op_registry_global(), json_get(fact, "op")->string);
      CHECK_INT_EQ(shape_fact_run(fact, op, &why), SHAPE_FACT_HOLDS);
      CHECK_STR_EQ(strbuf_text(&why), "");
      strbuf_free(&why);
    }
    arena_free(arena);
  }
  CHECK_CONTEXT("%s", "");
}
