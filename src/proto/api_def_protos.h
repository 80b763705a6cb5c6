/* The messages that describe how clients present ops, with short names. */
#ifndef TFCORE_PROTO_API_DEF_PROTOS_H_
#define TFCORE_PROTO_API_DEF_PROTOS_H_

#include "proto/proto.h"
#include "tensorflow/core/framework/api_def.pb-c.h"

typedef Tensorflow__ApiDef ApiDef;
typedef Tensorflow__ApiDef__Endpoint ApiDefEndpoint;
typedef Tensorflow__ApiDef__Arg ApiDefArg;
typedef Tensorflow__ApiDef__Attr ApiDefAttr;
typedef Tensorflow__ApiDefs ApiDefs;

#define kApiDef (&tensorflow__api_def__descriptor)
#define kApiDefEndpoint (&tensorflow__api_def__endpoint__descriptor)
#define kApiDefArg (&tensorflow__api_def__arg__descriptor)
#define kApiDefAttr (&tensorflow__api_def__attr__descriptor)
#define kApiDefs (&tensorflow__api_defs__descriptor)

#endif
