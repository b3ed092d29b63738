/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmti.h - the part of the JVM Tool Interface that the agent uses: functions by their slots, which never change.
 *
 * The numbers are those of the JVM TI specification, which counts slots from 1, and of the JNI specification
 * (invocation interface). The JDK's header is not used, so the agent builds without a JDK.
 *
 *	int (*dispose)(void *) = (int (*)(void *))jvmti_function(env, JVMTI_DISPOSE_ENVIRONMENT);
 *	dispose(env);
 */
#ifndef PJ_JVMTI_H
#define PJ_JVMTI_H

#include <stdint.h>

/* An environment is a pointer to this type, which points to the function table. */
typedef const void *const *jvmti_env;
/* opaque values of the JVM: a jmethodID, and a local reference to a class that is valid until the callback returns */
typedef void *jvmti_method, *jvmti_class;

/* JVMTI_VERSION_1_0: version of the interface that the agent requests; JNI_GET_ENV: slot of GetEnv in the JNI table,
 * counted from 0; JVMTI_ENABLE: mode that enables an event */
enum { JVMTI_VERSION_1_0 = 0x30010000, JNI_GET_ENV = 6, JVMTI_ENABLE = 1 };

/* Slots of functions in the table of an environment, counted from 1. The functions, in this order:
 * SetEventNotificationMode, Deallocate, GetClassSignature, GetMethodName, GetMethodDeclaringClass, SetEventCallbacks,
 * GenerateEvents, DisposeEnvironment, AddCapabilities. */
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

/* Numbers of events. The table of callbacks has one slot for each event from JVMTI_FIRST_EVENT on; JVMTI_CALLBACKS is
 * the number of slots up to the last event that the agent uses. */
enum jvmti_event {
	JVMTI_FIRST_EVENT = 50,
	JVMTI_COMPILED_METHOD_LOAD = 68,
	JVMTI_DYNAMIC_CODE_GENERATED = 70,
	JVMTI_CALLBACKS = 21
};

/* JVMTI_CAN_GENERATE_...: bit of the capability that the agent needs before it enables JVMTI_COMPILED_METHOD_LOAD,
 * counted from the lowest bit of the first byte. JVMTI_CAPABILITY_BYTES: size of the set of capabilities in bytes. */
enum { JVMTI_CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS = 27, JVMTI_CAPABILITY_BYTES = 16 };

/* Returns the function in a slot of an environment. The caller casts it to its type in the JVM TI specification, whose
 * first parameter is the environment. All functions return 0 on success, else a jvmtiError. */
static inline const void *jvmti_function(const void *env, enum jvmti_slot slot)
{
	return (*(jvmti_env const *)env)[slot - 1];
}

#endif
