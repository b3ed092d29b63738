/* secret.h - where the set-uid program of the tests holds its secret. */
#ifndef PJ_TEST_SECRET_H
#define PJ_TEST_SECRET_H

#include <stdint.h>

#define SECRET_AT UINT64_C(0x7e5500000000)

#endif
