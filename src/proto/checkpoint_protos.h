/* The messages of checkpoints, with short names. */
#ifndef TFCORE_PROTO_CHECKPOINT_PROTOS_H_
#define TFCORE_PROTO_CHECKPOINT_PROTOS_H_

#include "proto/proto.h"
#include "tensorflow/core/framework/tensor_slice.pb-c.h"
#include "tensorflow/core/protobuf/saved_tensor_slice.pb-c.h"
#include "tensorflow/core/protobuf/tensor_bundle.pb-c.h"

typedef Tensorflow__TensorSliceProto TensorSliceProto;
typedef Tensorflow__TensorSliceProto__Extent SliceExtentProto;
typedef Tensorflow__BundleHeaderProto BundleHeader;
typedef Tensorflow__BundleEntryProto BundleEntry;
typedef Tensorflow__SavedSliceMeta SavedSliceMeta;
typedef Tensorflow__SavedTensorSliceMeta SavedTensorSliceMeta;
typedef Tensorflow__SavedSlice SavedSlice;
typedef Tensorflow__SavedTensorSlices SavedTensorSlices;

#define kTensorSliceProto (&tensorflow__tensor_slice_proto__descriptor)
#define kSliceExtentProto (&tensorflow__tensor_slice_proto__extent__descriptor)
#define kBundleHeader (&tensorflow__bundle_header_proto__descriptor)
#define kBundleEntry (&tensorflow__bundle_entry_proto__descriptor)
#define kSavedSliceMeta (&tensorflow__saved_slice_meta__descriptor)
#define kSavedTensorSliceMeta (&tensorflow__saved_tensor_slice_meta__descriptor)
#define kSavedSlice (&tensorflow__saved_slice__descriptor)
#define kSavedTensorSlices (&tensorflow__saved_tensor_slices__descriptor)

#endif
