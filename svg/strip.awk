# SPDX-License-Identifier: Apache-2.0
# What travels in every picture: viewer.js and viewer.css without indentation, empty lines, and comments that stand on
# lines of their own. No line is joined, so nothing else can change.
/^[\t ]*\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }
/^[\t ]*(\/\/.*)?$/ { next }
{ sub(/^[\t ]+/, ""); print }
