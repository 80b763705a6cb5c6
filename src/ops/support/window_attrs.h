/* What convolutions and pooling share: their attrs, the places of a window, and images in the form that the
 * cores of blas/ want: [batch, rows, columns, channels], in float or double. Tensors of other formats and of
 * 16-bit floats are converted on the way in and out. */
#ifndef TFCORE_OPS_SUPPORT_WINDOW_ATTRS_H_
#define TFCORE_OPS_SUPPORT_WINDOW_ATTRS_H_

#include "blas/conv.h"
#include "op/kernel.h"
#include "op/shape_window.h"

/* Attrs; those that an op lacks are as they are by default. */
typedef struct WindowAttrs {
  bool channels_first;
  WindowPadding padding;
  int64_t strides[WINDOW_AXES], dilations[WINDOW_AXES];
  int64_t pads[WINDOW_AXES][2]; /* before and after, for PADDING_EXPLICIT */
} WindowAttrs;

/* data_format and padding. */
MUST_CHECK bool window_read_format(const NodeDef *node, WindowAttrs *attrs, Status *status);
/* explicit_paddings, which must be there if padding is EXPLICIT, and empty else. */
MUST_CHECK bool window_read_pads(const NodeDef *node, WindowAttrs *attrs, Status *status);
/* Those, strides, dilations and explicit_paddings, with a convolution's errors. */
MUST_CHECK bool window_read_attrs(const NodeDef *node, WindowAttrs *attrs, Status *status);

/* Sizes of an image, whatever its format: batch, rows, columns, channels. */
typedef struct ImageSizes {
  int64_t batch, space[WINDOW_AXES], channels;
} ImageSizes;

/* `dims` are four. */
ImageSizes image_sizes(const int64_t *dims, bool channels_first);
/* The reverse. */
void image_dims(const ImageSizes *sizes, bool channels_first, int64_t dims[4]);

/* Fills in out, pad and the rest of both axes. INVALID_ARGUMENT for a stride below 1, a window that does not
 * fit, sizes too large. */
MUST_CHECK bool window_place(const WindowAttrs *attrs, const ImageSizes *input,
                             const int64_t filter[WINDOW_AXES], WindowAxis axis[WINDOW_AXES], Status *status);

/* An image as a core wants it. Zeroed it is empty; image_drop may be called on that. */
typedef struct Image {
  void *data;
  Buffer *buffer; /* owns data, unless the tensor does */
} Image;

/* The elements of `tensor`, an image when `sizes` is given, else anything dense (then only widened). */
MUST_CHECK bool image_read(KernelContext *context, const Tensor *tensor, const ImageSizes *sizes,
                           bool channels_first, Image *image, Status *status);
/* Where to write the elements of output tensor `out`; image_finish then puts them there. */
MUST_CHECK bool image_begin(KernelContext *context, Tensor *out, bool channels_first, Image *image,
                            Status *status);
MUST_CHECK bool image_finish(KernelContext *context, const Image *image, const ImageSizes *sizes,
                             bool channels_first, Tensor *out, Status *status);
void image_drop(Image *image);

/* Computes a product of a convolution on images as cores want them: `a` and `b` as ConvProduct says. */
typedef bool WindowProduct(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                           const void *b, void *result, Status *status);
/* The product into output tensor `out`. Inputs are image and filter, where the sizes of what is computed
 * stand for it, and the gradient that arrives; where one is empty the result is zero. */
MUST_CHECK bool window_compute(KernelContext *context, ConvProduct product, const Conv *conv,
                               bool channels_first, WindowProduct *compute, Tensor *out, Status *status);

#endif
