/* The messages of traced steps, with short names. */
#ifndef TFCORE_PROTO_STEP_STATS_PROTOS_H_
#define TFCORE_PROTO_STEP_STATS_PROTOS_H_

#include "proto/proto.h"
#include "tensorflow/core/framework/step_stats.pb-c.h"

typedef Tensorflow__AllocationDescription AllocationDescription;
typedef Tensorflow__AllocationRecord AllocationRecord;
typedef Tensorflow__AllocatorMemoryUsed AllocatorMemoryUsed;
typedef Tensorflow__TensorDescription TensorDescription;
typedef Tensorflow__NodeOutput OutputStats;
typedef Tensorflow__MemoryStats MemoryStats;
typedef Tensorflow__NodeExecStats NodeExecStats;
typedef Tensorflow__DeviceStepStats DeviceStepStats;
typedef Tensorflow__StepStats StepStats;
typedef Tensorflow__RunMetadata RunMetadata;

#define kAllocationDescription (&tensorflow__allocation_description__descriptor)
#define kAllocationRecord (&tensorflow__allocation_record__descriptor)
#define kAllocatorMemoryUsed (&tensorflow__allocator_memory_used__descriptor)
#define kTensorDescription (&tensorflow__tensor_description__descriptor)
#define kOutputStats (&tensorflow__node_output__descriptor)
#define kMemoryStats (&tensorflow__memory_stats__descriptor)
#define kNodeExecStats (&tensorflow__node_exec_stats__descriptor)
#define kDeviceStepStats (&tensorflow__device_step_stats__descriptor)
#define kStepStats (&tensorflow__step_stats__descriptor)
#define kRunMetadata (&tensorflow__run_metadata__descriptor)

#endif
