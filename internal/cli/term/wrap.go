// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"strings"
)

// Wrap breaks text into lines of a width. It indents all lines but the first.
func Wrap(text string, margin, width int) string {
	var b strings.Builder
	column := margin
	for i, word := range strings.Fields(text) {
		if i > 0 {
			if column+1+len(word) > width {
				b.WriteString("\n" + strings.Repeat(" ", margin))
				column = margin
			} else {
				b.WriteByte(' ')
				column++
			}
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
