/* The messages of SequenceExamples and of readers, with short names. */
#ifndef TFCORE_PROTO_EXAMPLE_PROTOS_H_
#define TFCORE_PROTO_EXAMPLE_PROTOS_H_

#include "proto/proto.h"
#include "tensorflow/core/example/example.pb-c.h"
#include "tensorflow/core/framework/reader_base.pb-c.h"

typedef Tensorflow__Feature Feature;
typedef Tensorflow__Features FeatureMap;
typedef Tensorflow__FeatureList FeatureList;
typedef Tensorflow__FeatureLists FeatureListMap;
typedef Tensorflow__SequenceExample SequenceExample;
typedef Tensorflow__ReaderBaseState ReaderBaseState;

#define kSequenceExample (&tensorflow__sequence_example__descriptor)
#define kReaderBaseState (&tensorflow__reader_base_state__descriptor)

#endif
