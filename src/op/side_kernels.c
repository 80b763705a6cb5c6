#include "op/side_kernels.h"

#include <stdatomic.h>

static atomic_bool missing, wanted;

bool side_kernels_missing(void) { return atomic_load(&missing); }

void side_kernels_set_missing(bool are_missing) { atomic_store(&missing, are_missing); }

void side_kernels_want(void) { atomic_store(&wanted, true); }

bool side_kernels_wanted(void) { return side_kernels_missing() && atomic_load(&wanted); }
