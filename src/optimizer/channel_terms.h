/* Constant factors and terms by channel, which follow a product:
 *
 *   BatchNorm(AddV2(product, b)) = product * scale + offset
 *
 * with one scale and one offset for each channel, computed in double.
 */
#ifndef TFCORE_OPTIMIZER_CHANNEL_TERMS_H_
#define TFCORE_OPTIMIZER_CHANNEL_TERMS_H_

#include "graph/graph.h"

typedef struct ChannelTerms {
  DataType type; /* of the product: float or double */
  int32_t rank;  /* of the product */
  int32_t after; /* the dimensions after that of the channels */
  int32_t split; /* 1, or: the product is reshaped, and so many last dimensions are its channels */
  int64_t channels;
  double *scale, *offset; /* one for each channel */
  bool has_scale, has_offset;
  const Node *constant; /* one of those added */
} ChannelTerms;

/* Factors of one and terms of zero, in `arena`. The first five fields are set. */
MUST_CHECK bool channel_terms_begin(ChannelTerms *terms, Arena *arena, Status *status);
/* Adds the node that reads the result at input `input`, if it is a Mul, an addition, a Sub or a batch norm of
 * inference with constants by channel; *added is false for other nodes. `may_scale`: whether factors are
 * allowed. */
MUST_CHECK bool channel_terms_add(ChannelTerms *terms, const Node *node, int input, bool may_scale,
                                  bool *added, Status *status);

/* Multiplies the elements of `from`, of which `run` adjacent ones belong to a channel, and the next ones to
 * the next channel. */
void channel_terms_scale(const ChannelTerms *terms, const Tensor *from, int64_t run, Tensor *to);
/* The offsets as a vector of the product's type. */
MUST_CHECK bool channel_terms_offset(const ChannelTerms *terms, Tensor *to, Status *status);

#endif
