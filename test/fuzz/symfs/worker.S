# usr/bin/worker: a program to walk through, for the recordings of test/corpus/recording (test/fold/perfdata/write odd=1).
# gcc -nostdlib -shared -Wl,--build-id=0x000102030405060708090a0b0c0d0e0f10111213 -Wl,-z,noseparate-code,-z,norelro,-Bsymbolic -Wl,-Ttext=0x1000 -s -o usr/bin/worker worker.S
	.text
	.globl	_start, with_frame, without_frame, without_table
	.type	_start, @function
	.type	with_frame, @function
	.type	without_frame, @function
	.type	without_table, @function
_start:				# 0x1000
	.cfi_startproc
	.cfi_undefined rip
	call	with_frame
	hlt
	.cfi_endproc
	.size	_start, . - _start
	.balign	64
with_frame:			# 0x1040
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	call	without_frame
	.fill	16, 1, 0x90
	pop	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	with_frame, . - with_frame
	.balign	64
without_frame:			# 0x1080
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	sub	$16, %rsp
	.cfi_def_cfa_offset 32
	.fill	32, 1, 0x90
	add	$16, %rsp
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	without_frame, . - without_frame
	.balign	64
without_table:			# 0x10c0
	push	%rbp
	mov	%rsp, %rbp
	.fill	32, 1, 0x90
	pop	%rbp
	ret
	.size	without_table, . - without_table
	.section .note.GNU-stack, "", @progbits
