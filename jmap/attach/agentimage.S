/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the agent (agentimage.h), as the build made it. */

	.section .rodata
	.global agentimage_begin, agentimage_bytes

	.balign 8
agentimage_bytes:
	.quad agentimage_end - agentimage_begin

agentimage_begin:
	.incbin "agent.so"
agentimage_end:

	.section .note.GNU-stack, "", %progbits
