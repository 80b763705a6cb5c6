/* Shapes with unknown sizes, as attrs have them. */
#ifndef TFCORE_OPS_SUPPORT_SHAPE_PATTERN_H_
#define TFCORE_OPS_SUPPORT_SHAPE_PATTERN_H_

#include "tensor/shape.h"

/* Whether a shape has the known sizes of `wanted`. */
bool partial_shape_allows(const TensorShapeProto *wanted, const Shape *shape);
/* "[?,3]", "<unknown>" without a rank; truncated at the array's size. Returns `text`. */
const char *partial_shape_text(const TensorShapeProto *shape, char text[SHAPE_TEXT_CAPACITY]);

#endif
