/* Equations of Einsum: "ij,jk->ik", "...ij->...ji", "ii->i".
 *
 * Each byte but '.' is a label of one axis; "..." stands for any number of axes, which broadcast.
 */
#ifndef TFCORE_OPS_MATH_EINSUM_EQUATION_H_
#define TFCORE_OPS_MATH_EINSUM_EQUATION_H_

#include "base/status.h"
#include "base/str.h"
#include "proto/proto.h"
#include "tensor/shape.h"

/* What stands in EinsumTerm.labels for the ellipsis. */
enum { EINSUM_ELLIPSIS = 256 };

typedef struct EinsumTerm {
  int count;
  int ellipsis; /* its place in labels; -1: there is none */
  int16_t labels[SHAPE_MAX_RANK + 1];
} EinsumTerm;

typedef struct EinsumEquation {
  int num_inputs;
  EinsumTerm inputs[2], output;
} EinsumEquation;

/* Reads attr `equation`, for a node with that many inputs. INVALID_ARGUMENT in TensorFlow's words. */
MUST_CHECK bool einsum_read_equation(const NodeDef *node, int num_inputs, EinsumEquation *equation,
                                     Status *status);
bool einsum_term_has(const EinsumTerm *term, int label);

#endif
