/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer's bytes (assets.h). The Makefile knows that this depends on both files. */

	.section .rodata
	.global assets_viewer_begin, assets_viewer_end, assets_css_begin, assets_css_end

assets_viewer_begin:
#if __has_include("viewer.js")
	.incbin "svg/viewer.js"
#endif
assets_viewer_end:

assets_css_begin:
#if __has_include("viewer.css")
	.incbin "svg/viewer.css"
#endif
assets_css_end:

	.section .note.GNU-stack, "", %progbits
