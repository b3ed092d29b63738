/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the viewer and its style sheet (assets.h), which svg/viewer/assemble wrote to the folder of the build. */

	.section .rodata
	.global assets_viewer_begin, assets_viewer_end, assets_css_begin, assets_css_end
	.global assets_heat_begin, assets_heat_end, assets_heat_css_begin, assets_heat_css_end

assets_viewer_begin:
	.incbin "viewer.js"
assets_viewer_end:

assets_css_begin:
	.incbin "viewer.css"
assets_css_end:

assets_heat_begin:
	.incbin "heat.js"
assets_heat_end:

assets_heat_css_begin:
	.incbin "heat.css"
assets_heat_css_end:

	.section .note.GNU-stack, "", %progbits
