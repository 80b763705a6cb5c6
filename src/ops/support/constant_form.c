#include "ops/support/constant_form.h"

#include "base/alloc.h"
#include "base/work_stop.h"

bool constant_form_get(ConstantForm *form, int64_t size, MakeConstantForm *make, const void *arg,
                       const Parallel *parallel, const void **made, Status *status) {
  void *known = atomic_load_explicit(&form->made, memory_order_acquire);
  if (!known) {
    void *own = size < 0 ? NULL : mem_alloc(size);
    if (!own) return status_oom(status, "a form of a constant");
    WorkStop *stop = work_stop_set(NULL); /* later steps use it, too */
    make(arg, parallel, own);
    work_stop_set(stop);
    if (atomic_compare_exchange_strong_explicit(&form->made, &known, own, memory_order_acq_rel,
                                                memory_order_acquire)) {
      known = own;
    } else {
      mem_free(own);
    }
  }
  *made = known;
  return true;
}

void constant_form_free(ConstantForm *form) {
  mem_free(atomic_load_explicit(&form->made, memory_order_relaxed));
}
