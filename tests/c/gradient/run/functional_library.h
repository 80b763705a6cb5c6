/* Functions that the tests of functional gradients share; functional_gradient_test.c has them. */
#ifndef TFCORE_TESTS_GRADIENT_RUN_FUNCTIONAL_LIBRARY_H_
#define TFCORE_TESTS_GRADIENT_RUN_FUNCTIONAL_LIBRARY_H_

/* Of double and int32 scalars, with one result that is differentiated: loops, branches, calls, and what they
 * have within. */
extern const char kFunctionalLibrary[];

#endif
