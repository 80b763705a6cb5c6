/* The depthwise convolutions of conv.h, for each type. */
#include <string.h>

#include "blas/conv.h"
#include "simd/templates.h"
#include "simd/simd.h"

/* The factor of the filter's gradient of which all sums of a tap use one channel. */
typedef enum OneChannel { ONE_OF_NONE, ONE_OF_X, ONE_OF_DY } OneChannel;

#define TEMPLATE "blas/depthwise.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
