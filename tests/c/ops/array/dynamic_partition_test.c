/* DynamicPartition, DynamicStitch, ParallelDynamicStitch. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(dynamic_partition_deals_out_slices) {
  op_gives("DynamicPartition[num_partitions=2, T=float]", "float[4] 1 2 3 4; int32[4] 1 0 1 1",
           "float[1] 2; float[3] 1 3 4");
  op_gives("DynamicPartition[num_partitions=3, T=int32]", "int32[3,2] 1 2 3 4 5 6; int32[3] 2 0 2",
           "int32[1,2] 3 4; int32[0,2]; int32[2,2] 1 2 5 6");
  op_gives("DynamicPartition[num_partitions=2, T=string]", "string[2,1] a b; int32[2,1] 1 0",
           "string[1] b; string[1] a");
  op_gives("DynamicPartition[num_partitions=2, T=half]", "half[2] 1 2; int32[] 1",
           "half[0,2]; half[1,2] 1 2");
  op_gives("DynamicPartition[num_partitions=1, T=bool]", "bool[0,3]; int32[0]", "bool[0,3]");
}

TEST(dynamic_partition_refuses_what_does_not_fit) {
  op_fails("DynamicPartition[num_partitions=2, T=float]", "float[3] 0; int32[3] 0 1 2", CODE_INVALID_ARGUMENT,
           "partitions[2] = 2 is not in [0, 2)");
  op_fails("DynamicPartition[num_partitions=2, T=float]", "float[1,2] 0; int32[1,2] 0 -1",
           CODE_INVALID_ARGUMENT, "partitions[0,1] = -1 is not in [0, 2)");
  op_fails("DynamicPartition[num_partitions=2, T=float]", "float[3] 0; int32[2] 0", CODE_INVALID_ARGUMENT,
           "data.shape must start with partitions.shape, got data.shape = [3], partitions.shape = [2]");
}

TEST(dynamic_stitch_puts_slices_together) {
  op_gives("DynamicStitch[N=2, T=float]", "int32[2] 0 3; int32[] 1; float[2] 1 4; float[] 2",
           "float[4] 1 2 0 4");
  op_gives("DynamicStitch[N=2, T=int32]", "int32[2] 0 1; int32[1] 1; int32[2,2] 1 2 3 4; int32[1,2] 5 6",
           "int32[2,2] 1 2 5 6");
  op_gives("ParallelDynamicStitch[N=1, T=string]", "int32[1,2] 1 0; string[1,2] a b", "string[2] b a");
  op_gives("DynamicStitch[N=1, T=complex64]", "int32[0]; complex64[0,2]", "complex64[0,2]");
}

TEST(dynamic_stitch_refuses_what_does_not_fit) {
  op_fails("DynamicStitch[N=1, T=float]", "int32[2] 0 -1; float[2] 0", CODE_INVALID_ARGUMENT,
           "indices[1] is out of range");
  op_fails("DynamicStitch[N=1, T=float]", "int32[2] 0 1; float[3] 0", CODE_INVALID_ARGUMENT,
           "data[0].shape = [3] does not start with indices[0].shape = [2]");
  op_fails("DynamicStitch[N=2, T=float]", "int32[1] 0; int32[1] 1; float[1,2] 0; float[1,3] 0",
           CODE_INVALID_ARGUMENT,
           "Need data[0].shape[1:] = data[1].shape[1:], got data[0].shape = [1,2], data[1].shape = [1,3], "
           "indices[0].shape = [1], indices[1].shape = [1]");
}

GRADIENT_CASES(dynamic_partition,
               {"DynamicPartition[num_partitions=2, T=double]", "double[4] 1 2 3 4; int32[4] 1 0 1 1"},
               {"DynamicPartition[num_partitions=3, T=double]", "double[3,2] 1 2 3 4 5 6; int32[3] 2 0 2"},
               {"DynamicPartition[num_partitions=1, T=double]", "double[1,2] 1 2; int32[1,2] 0"},
               {"DynamicPartition[num_partitions=2, T=complex128]", "complex128[2] 1+1i 2; int32[] 1"},
               {"DynamicStitch|ParallelDynamicStitch[N=2, T=double]",
                "int32[2] 0 3; int32[] 1; double[2] 1 4; double[] 2"},
               {"DynamicStitch|ParallelDynamicStitch[N=2, T=double]",
                "int32[2] 0 1; int32[1] 2; double[2,2] 1 2 3 4; double[1,2] 5 6"},
               {"DynamicStitch|ParallelDynamicStitch[N=1, T=complex128]",
                "int32[1,2] 1 0; complex128[1,2] 1+1i 2-1i"})
