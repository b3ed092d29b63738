/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmti.h - as much of the JVM Tool Interface as the agent needs: functions by their slots, which are fixed for ever.
 *
 * Numbers are those of the JVM TI specification, which counts slots from 1, and of the JNI specification (invocation
 * interface).
 */
#ifndef PJ_JVMTI_H
#define PJ_JVMTI_H

#include <stdint.h>

typedef const void *const *jvmti_env; /* *env is the table of functions */
typedef void *jvmti_method, *jvmti_class;

enum { JVMTI_VERSION_1_0 = 0x30010000, JNI_GET_ENV = 6, JVMTI_ENABLE = 1 };

enum jvmti_slot {
	JVMTI_SET_EVENT_NOTIFICATION_MODE = 2,
	JVMTI_DEALLOCATE = 47,
	JVMTI_GET_CLASS_SIGNATURE = 48,
	JVMTI_GET_METHOD_NAME = 64,
	JVMTI_GET_METHOD_DECLARING_CLASS = 65,
	JVMTI_SET_EVENT_CALLBACKS = 122,
	JVMTI_GENERATE_EVENTS = 123,
	JVMTI_DISPOSE_ENVIRONMENT = 127,
	JVMTI_ADD_CAPABILITIES = 142
};

enum jvmti_event {
	JVMTI_FIRST_EVENT = 50,
	JVMTI_COMPILED_METHOD_LOAD = 68,
	JVMTI_DYNAMIC_CODE_GENERATED = 70,
	JVMTI_CALLBACKS = 21
};

enum { JVMTI_CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS = 27, JVMTI_CAPABILITY_BYTES = 16 }; /* bits from the lowest */

static inline const void *jvmti_function(const void *env, enum jvmti_slot slot)
{
	return (*(jvmti_env const *)env)[slot - 1];
}

#endif
