/* Makes the WebAssembly code of a fused loop. */
#ifndef TFCORE_OPS_SUPPORT_FUSED_EMIT_H_
#define TFCORE_OPS_SUPPORT_FUSED_EMIT_H_

#include "ops/support/fused_loop.h"

/* Installs the code in the place of `before` (base/emitted_code.h); NULL if that is not possible. */
EmittedLoop *fused_emit(const FusedLoop *loop, EmittedLoop *before);

#endif
