// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches sequences that terminals interpret as commands: CSI and OSC sequences,
// and shorter ones.
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?|\x1b[ -~]?`)

// Printable converts untrusted text to one line that is safe to print on a terminal. It
// removes escape sequences, control and formatting characters and invalid UTF-8, replaces
// tabs and line breaks with blanks, and cuts the line after limit runes.
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
