// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are what terminals take for orders: CSI and OSC sequences, and
// shorter ones.
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?|\x1b[ -~]?`)

// Printable makes one line of foreign text fit to be shown on a terminal. It
// drops escape sequences, control and formatting characters and what is not
// UTF-8, makes blanks of tabs and line breaks, and cuts the line after limit
// runes.
func Printable(text string, limit int) string {
	if strings.ContainsRune(text, '\x1b') {
		text = escapes.ReplaceAllString(text, "")
	}
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimRightFunc(strings.ToValidUTF8(text, ""), unicode.IsSpace) {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case !unicode.IsPrint(r):
			continue
		}
		if n == limit {
			return b.String() + "..."
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
