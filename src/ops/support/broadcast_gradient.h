/* Gradient texts of ops z = f(x, y) that broadcast x and y.
 *
 *   BROADCAST_GRADIENT("Mul", "gx:z:0", "gy:z:0",
 *                      "  gx = Mul[T=$T](dz, y)\n"
 *                      "  gy = Mul[T=$T](x, dz)\n")
 *
 * The given lines compute gx and gy, the gradients in the shape of z. The macro appends lines that sum each
 * over the dimensions along which its input was broadcast.
 */
#ifndef TFCORE_OPS_SUPPORT_BROADCAST_GRADIENT_H_
#define TFCORE_OPS_SUPPORT_BROADCAST_GRADIENT_H_

#define BROADCAST_GRADIENT(op, gx, gy, lines) \
  BROADCAST_GRADIENT_OF(op "Gradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T)", gx, gy, lines)

/* With a different head: other attrs, or y before x. */
#define BROADCAST_GRADIENT_OF(head, gx, gy, lines) \
  head " {\n" BROADCAST_AXES_ lines SUM_X_ gx TO_DX_ SUM_Y_ gy TO_DY_

/* For an op without a gradient by y. */
#define BROADCAST_GRADIENT_BY_X(head, gx, lines) head " {\n" BROADCAST_AXES_ lines SUM_X_ gx TO_DX_ NO_DY_

#define BROADCAST_AXES_     \
  "  sx = Shape[T=$T](x)\n" \
  "  sy = Shape[T=$T](y)\n" \
  "  axes = BroadcastGradientArgs(sx:output:0, sy:output:0)\n"
#define SUM_X_ "  total_x = Sum[T=$T]("
#define TO_DX_     \
  ", axes:r0:0)\n" \
  "  dx = Reshape[T=$T](total_x:output:0, sx:output:0)\n"
#define SUM_Y_ "  total_y = Sum[T=$T]("
#define TO_DY_                                            \
  ", axes:r1:0)\n"                                        \
  "  dy = Reshape[T=$T](total_y:output:0, sy:output:0)\n" \
  "  return dx = dx:output:0, dy = dy:output:0\n"         \
  "}\n"
#define NO_DY_                               \
  "  dy = ZerosLike[T=$T](y)\n"              \
  "  return dx = dx:output:0, dy = dy:y:0\n" \
  "}\n"

#endif
