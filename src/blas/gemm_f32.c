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
#ifndef MR
#ifdef TFCORE_RELAXED_SIMD
#define MR 6
#else
#define MR 4
#endif
#endif
#ifndef KC
#define KC 256
#endif
#define MC 960
#define NC 1024
#include "blas/gemm_packed.inc"

int64_t gemm_f32_workspace(const GemmArgs *args) { return packed_workspace_f32(args); }
void gemm_f32(const GemmArgs *args, const Parallel *parallel, void *workspace) { packed_f32(args, parallel, workspace); }
