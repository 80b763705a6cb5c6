/* Gradients of arithmetic on sparse tensors. */
#include "gradient_cases.h"

#define NO_SECOND "TensorFlow has no gradient of the op that computes the first."

GRADIENT_CASES(sparse_reorder,
               {"SparseReorder[T=double]", "int64[3,2] 1 0 0 2 0 1; double[3] 1 2 3; int64[2] 2 3"},
               {"SparseReorder[T=double]", "int64[2,1] 3 1; double[2] 1 2; int64[1] 5"},
               {"SparseReorder[T=complex128]", "int64[1,3] 1 0 2; complex128[1] 1+2i; int64[3] 2 2 3"})

GRADIENT_CASES(
    sparse_slice,
    {"SparseSlice[T=double]",
     "int64[3,2] 0 1 1 2 1 4; double[3] 1 2 3; int64[2] 2 5; int64[2] 0 1; int64[2] 2 3", NO_SECOND},
    {"SparseSlice[T=complex128]",
     "int64[2,2] 0 1 1 2; complex128[2] 1+2i 3; int64[2] 2 5; int64[2] 1 0; int64[2] 1 5", NO_SECOND},
    {"SparseSlice[T=double]", "int64[2,1] 0 2; double[2] 1 2; int64[1] 3; int64[1] 1; int64[1] 2", NO_SECOND})

#define ADD "SparseAdd[T=double, Treal=double]"

GRADIENT_CASES(
    sparse_add,
    {ADD,
     "int64[2,2] 0 1 1 2; double[2] 1 2; int64[2] 2 3; int64[2,2] 0 1 1 0; double[2] 3 4; int64[2] 2 3; "
     "double[] 0.1",
     NO_SECOND},
    {ADD, "int64[2,1] 0 2; double[2] 1 2; int64[1] 3; int64[1,1] 2; double[1] 3; int64[1] 3; double[] 0",
     NO_SECOND},
    {ADD,
     "int64[1,2] 0 2; double[1] 1; int64[2] 1 3; int64[1,2] 0 2; double[1] -1.01; int64[2] 1 3; "
     "double[] 0.5",
     NO_SECOND},
    {"SparseAdd[T=complex128, Treal=double]",
     "int64[1,1] 2; complex128[1] 1+2i; int64[1] 3; int64[1,1] 2; complex128[1] 3-1i; int64[1] 3; "
     "double[] 0",
     NO_SECOND})

#define DENSE_ADD "SparseTensorDenseAdd[T=double, Tindices=int64]"

GRADIENT_CASES(sparse_dense_add,
               {DENSE_ADD, "int64[2,2] 0 1 1 2; double[2] 1 2; int64[2] 2 3; double[2,3] 1 2 3 4 5 6"},
               {DENSE_ADD, "int64[3,1] 2 0 2; double[3] 1 2 3; int64[1] 3; double[3] 1 2 3"},
               {"SparseTensorDenseAdd[T=complex128, Tindices=int32]",
                "int32[1,2] 1 2; complex128[1] 1+2i; int32[2] 2 3; complex128[2,3] 1 0+2i 3 4 5 6"})

#define CWISE "SparseDenseCwiseAdd|SparseDenseCwiseMul|SparseDenseCwiseDiv[T=double]"

GRADIENT_CASES(sparse_dense_cwise,
               {CWISE, "int64[2,2] 0 1 1 2; double[2] 1 2; int64[2] 2 3; double[3] 1 2 3"},
               {CWISE, "int64[3,2] 0 1 0 2 1 2; double[3] 1 2 3; int64[2] 2 3; double[2,1] 1 2"},
               {CWISE, "int64[2,1] 2 0; double[2] 1 2; int64[1] 3; double[3] 1 2 4"},
               {CWISE, "int64[2,1] 2 0; double[2] 1 2; int64[1] 3; double[] 4"})

#define REDUCE "SparseReduceSum[T=double, keep_dims=false]"

GRADIENT_CASES(sparse_reduce, {REDUCE, "int64[3,2] 0 1 0 2 1 0; double[3] 1 2 3; int64[2] 2 3; int32[1] 1"},
               {REDUCE, "int64[3,2] 0 1 0 2 1 0; double[3] 1 2 3; int64[2] 2 3; int32[2] 0 -1"},
               {REDUCE, "int64[2,3] 0 1 0 1 2 1; double[2] 1 2; int64[3] 2 3 2; int32[] 1"},
               {REDUCE, "int64[2,3] 0 1 0 1 2 1; double[2] 1 2; int64[3] 2 3 2; int32[0]"},
               {"SparseReduceSum[T=complex128, keep_dims=true]",
                "int64[3,2] 0 1 0 2 1 0; complex128[3] 1+2i 2 3-1i; int64[2] 2 3; int32[1] 0"})

GRADIENT_CASES(sparse_softmax,
               {"SparseSoftmax[T=double]", "int64[3,2] 0 1 0 2 1 0; double[3] 1 2 3; int64[2] 2 3"},
               {"SparseSoftmax[T=double]",
                "int64[4,3] 0 0 1 0 1 0 0 1 2 1 0 0; double[4] 1 2 3 4; int64[3] 2 2 3"},
               {"SparseSoftmax[T=double]", "int64[2,2] 0 0 0 1; double[2] 1 -2; int64[2] 1 3"})

#define MATMUL(type, a, b) \
  "SparseTensorDenseMatMul[T=" type ", Tindices=int64, adjoint_a=" a ", adjoint_b=" b "]"

GRADIENT_CASES(sparse_matmul,
               {MATMUL("double", "false", "false"),
                "int64[3,2] 0 1 1 2 1 0; double[3] 1 2 3; int64[2] 2 3; double[3,2] 1 2 3 4 5 6"},
               {MATMUL("double", "true", "false"),
                "int64[2,2] 0 1 1 2; double[2] 1 2; int64[2] 2 3; double[2,2] 1 2 3 4"},
               {MATMUL("double", "false", "true"),
                "int64[2,2] 0 1 1 2; double[2] 1 2; int64[2] 2 3; double[1,3] 1 2 3"},
               {MATMUL("double", "true", "true"),
                "int64[2,2] 0 1 1 2; double[2] 1 2; int64[2] 2 3; double[3,2] 1 2 3 4 5 6"},
               {MATMUL("complex128", "false", "false"),
                "int64[2,2] 0 1 1 0; complex128[2] 1+2i 2; int64[2] 2 2; complex128[2,1] 1 2-1i"},
               {MATMUL("complex128", "true", "false"),
                "int64[2,2] 0 1 1 0; complex128[2] 1+2i 2; int64[2] 2 2; complex128[2,1] 1 2-1i"},
               {MATMUL("complex128", "false", "true"),
                "int64[2,2] 0 1 1 0; complex128[2] 1+2i 2; int64[2] 2 2; complex128[1,2] 1 2-1i"},
               {MATMUL("complex128", "true", "true"),
                "int64[2,2] 0 1 1 0; complex128[2] 1+2i 2; int64[2] 2 2; complex128[1,2] 1 2-1i"})

#define SEGMENT_GRAD "SparseSegmentSumGrad[T=double]"

GRADIENT_CASES(sparse_segment_sum_grad,
               {SEGMENT_GRAD, "double[2,2] 1 2 3 4; int32[3] 3 1 3; int32[3] 0 0 1; int32[] 5"},
               {SEGMENT_GRAD, "double[3] 1 2 3; int32[2] 0 1; int32[2] 1 2; int32[] 2"},
               {SEGMENT_GRAD, "double[1,2,2] 1 2 3 4; int32[1] 0; int32[1] 0; int32[] 2"})
