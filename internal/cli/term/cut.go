// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"strings"
	"unicode/utf8"
)

// Cut shortens a line to a width. Colours take no space, and are reset.
func Cut(line string, width int) string {
	if VisibleWidth(line) <= width {
		return line
	}
	var b strings.Builder
	room, coloured := width-1, false
	for len(line) > 0 {
		if strings.HasPrefix(line, "\x1b[") {
			end := strings.IndexByte(line, 'm')
			if end < 0 {
				break
			}
			b.WriteString(line[:end+1])
			coloured = line[:end+1] != "\x1b[0m"
			line = line[end+1:]
			continue
		}
		if room <= 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(line)
		b.WriteString(line[:size])
		line = line[size:]
		room--
	}
	b.WriteString("…")
	if coloured {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// VisibleWidth counts the characters of a cell without colour codes.
func VisibleWidth(s string) int {
	width := 0
	for len(s) > 0 {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexByte(s, 'm')
			if end < 0 {
				break
			}
			s = s[end+1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		width++
	}
	return width
}
