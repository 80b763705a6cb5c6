/* Functions shared by the tests of functional gradients; functional_gradient_test.c defines them. */
#ifndef TFCORE_TESTS_GRADIENT_RUN_FUNCTIONAL_LIBRARY_H_
#define TFCORE_TESTS_GRADIENT_RUN_FUNCTIONAL_LIBRARY_H_

/* Functions of double and int32 scalars with one differentiable result: loops, branches, calls, and their
 * parts. */
extern const char kFunctionalLibrary[];

#endif
