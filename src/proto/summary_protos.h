/* The messages of summaries, with short names. */
#ifndef TFCORE_PROTO_SUMMARY_PROTOS_H_
#define TFCORE_PROTO_SUMMARY_PROTOS_H_

#include "proto/proto.h"
#include "tensorflow/core/framework/summary.pb-c.h"

typedef Tensorflow__Summary Summary;
typedef Tensorflow__Summary__Value SummaryValue;
typedef Tensorflow__Summary__Image SummaryImage;
typedef Tensorflow__HistogramProto HistogramProto;
typedef Tensorflow__SummaryMetadata SummaryMetadata;

#define kSummary (&tensorflow__summary__descriptor)
#define kSummaryValue (&tensorflow__summary__value__descriptor)
#define kSummaryImage (&tensorflow__summary__image__descriptor)
#define kHistogramProto (&tensorflow__histogram_proto__descriptor)
#define kSummaryMetadata (&tensorflow__summary_metadata__descriptor)

#endif
