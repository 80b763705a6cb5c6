/* Shared by convolutions and pooling: their attrs, output positions, and images in the layout of blas/:
 * [batch, rows, columns, channels], in float or double. Tensors of other formats and of 16-bit floats are
 * converted on input and output. */
#ifndef TFCORE_OPS_SUPPORT_WINDOW_ATTRS_H_
#define TFCORE_OPS_SUPPORT_WINDOW_ATTRS_H_

#include "blas/conv.h"
#include "op/kernel.h"
#include "op/shape_window.h"

/* Attrs; those that an op lacks have their defaults. */
typedef struct WindowAttrs {
  bool channels_first;
  WindowPadding padding;
  int64_t strides[WINDOW_AXES], dilations[WINDOW_AXES];
  int64_t pads[WINDOW_AXES][2]; /* before and after, for PADDING_EXPLICIT */
} WindowAttrs;

/* data_format and padding. */
MUST_CHECK bool window_read_format(const NodeDef *node, WindowAttrs *attrs, Status *status);
/* explicit_paddings, which must be given if padding is EXPLICIT, and must be empty otherwise. */
MUST_CHECK bool window_read_pads(const NodeDef *node, WindowAttrs *attrs, Status *status);
/* All of these, strides, dilations and explicit_paddings, with a convolution's errors. */
MUST_CHECK bool window_read_attrs(const NodeDef *node, WindowAttrs *attrs, Status *status);

/* The sizes of an image in any format: batch, rows, columns, channels. */
typedef struct ImageSizes {
  int64_t batch, space[WINDOW_AXES], channels;
} ImageSizes;

/* `dims` has four entries. */
ImageSizes image_sizes(const int64_t *dims, bool channels_first);
/* The inverse. */
void image_dims(const ImageSizes *sizes, bool channels_first, int64_t dims[4]);

/* Computes `out` and `pad` from the other fields. `pads`: before and after, for PADDING_EXPLICIT.
 * INVALID_ARGUMENT as for window_place. */
MUST_CHECK bool window_place_axis(WindowPadding padding, const int64_t pads[2], WindowAxis *axis,
                                  Status *status);
/* Computes in, out, pad and the other fields of both axes. INVALID_ARGUMENT for a stride below 1, a window
 * that does not fit, or sizes that are too large. */
MUST_CHECK bool window_place(const WindowAttrs *attrs, const ImageSizes *input,
                             const int64_t filter[WINDOW_AXES], WindowAxis axis[WINDOW_AXES], Status *status);

/* An image in the layout of blas/. All zeros is an empty image, for which image_drop is valid. */
typedef struct Image {
  void *data;
  Buffer *buffer; /* owns data, unless the tensor does */
} Image;

/* The elements of `tensor`: an image if `sizes` is given, else any dense tensor (which is only widened). */
MUST_CHECK bool image_read(KernelContext *context, const Tensor *tensor, const ImageSizes *sizes,
                           bool channels_first, Image *image, Status *status);
/* Memory for the elements of output tensor `out`; image_finish stores them there. */
MUST_CHECK bool image_begin(KernelContext *context, Tensor *out, bool channels_first, Image *image,
                            Status *status);
MUST_CHECK bool image_finish(KernelContext *context, const Image *image, const ImageSizes *sizes,
                             bool channels_first, Tensor *out, Status *status);
void image_drop(Image *image);

/* Computes a product of a convolution on images in the layout of blas/: `a` and `b` as in ConvProduct. */
typedef bool WindowProduct(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                           const void *b, void *result, Status *status);
/* Computes the product into output tensor `out`. The inputs are the image and the filter, one of which may be
 * given by its sizes, and the incoming gradient; if one is empty, the result is zero. */
MUST_CHECK bool window_compute(KernelContext *context, ConvProduct product, const Conv *conv,
                               bool channels_first, WindowProduct *compute, Tensor *out, Status *status);

#endif
