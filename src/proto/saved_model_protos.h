/* The messages of SavedModels, with short names. */
#ifndef TFCORE_PROTO_SAVED_MODEL_PROTOS_H_
#define TFCORE_PROTO_SAVED_MODEL_PROTOS_H_

#include "proto/proto.h"
#include "tensorflow/core/protobuf/meta_graph.pb-c.h"
#include "tensorflow/core/protobuf/saved_model.pb-c.h"
#include "tensorflow/core/protobuf/saver.pb-c.h"

typedef Tensorflow__SavedModel SavedModelProto;
typedef Tensorflow__MetaGraphDef MetaGraphDef;
typedef Tensorflow__MetaGraphDef__MetaInfoDef MetaInfoDef;
typedef Tensorflow__MetaGraphDef__SignatureDefEntry SignatureEntry;
typedef Tensorflow__MetaGraphDef__CollectionDefEntry CollectionEntry;
typedef Tensorflow__SaverDef SaverDef;
typedef Tensorflow__SignatureDef SignatureDef;
typedef Tensorflow__CollectionDef CollectionDef;
typedef Tensorflow__CollectionDef__Any Any;
typedef Tensorflow__TensorInfo TensorInfo;
typedef Tensorflow__AssetFileDef AssetFileDef;

#define kSavedModel (&tensorflow__saved_model__descriptor)
#define kMetaGraphDef (&tensorflow__meta_graph_def__descriptor)
#define kAny (&tensorflow__collection_def__any__descriptor)
#define kAssetFileDef (&tensorflow__asset_file_def__descriptor)

#endif
