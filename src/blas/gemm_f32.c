#include <stddef.h>
#include <string.h>

#include "blas/gemm.h"
#include "simd/simd.h"

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define VFN(name) f32x4_##name
#define GEMM(name) gemm_f32_##name
/* Measured in V8. With a fused multiply-add, 6 x 8 keeps both its units busy from 12 sums, and there is no register left
 * for a second depth. Without, 4 x 8 leaves room for two depths per turn, which halves the engine's loop overhead. */
#ifdef TFCORE_RELAXED_SIMD
#define MR 6
#define UNROLL 1
#else
#define MR 4
#define UNROLL 2
#endif
#define KC 256
#define MC 960
#define NC 1024
#include "blas/gemm_packed.inc"

int64_t gemm_f32_workspace(const GemmArgs *args) { return packed_workspace_f32(args); }
void gemm_f32(const GemmArgs *args, const Parallel *parallel, void *workspace) { packed_f32(args, parallel, workspace); }
