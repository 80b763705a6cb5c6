/* Pieces of gradient text for ops that broadcast two inputs x and y. */
#ifndef TFCORE_OPS_BROADCAST_GRADIENT_H_
#define TFCORE_OPS_BROADCAST_GRADIENT_H_

/* Over which dimensions each side's gradient is summed. */
#define BROADCAST_AXES      \
  "  sx = Shape[T=$T](x)\n" \
  "  sy = Shape[T=$T](y)\n" \
  "  axes = BroadcastGradientArgs(sx:output:0, sy:output:0)\n"

/* From `gx` and `gy`, written in the output's shape, to dx and dy in those of the inputs. */
#define REDUCE_TO_X(gx)       \
  "  total_x = Sum[T=$T](" gx \
  ", axes:r0:0)\n"            \
  "  dx = Reshape[T=$T](total_x:output:0, sx:output:0)\n"
#define REDUCE_TO_Y(gy)       \
  "  total_y = Sum[T=$T](" gy \
  ", axes:r1:0)\n"            \
  "  dy = Reshape[T=$T](total_y:output:0, sy:output:0)\n"
#define RETURN_DX_DY "  return dx = dx:output:0, dy = dy:output:0\n}\n"

#endif
