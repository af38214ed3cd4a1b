// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"io"
	"strings"
)

// A Full is a whole terminal in raw mode, with a screen of its own. Close shows the previous
// contents again.
type Full struct{ w io.Writer }

// EnterFull switches a terminal to that screen.
func EnterFull(w io.Writer) *Full {
	io.WriteString(w, "\x1b[?1049h"+hideCursor+noWrap+clearScreen)
	return &Full{w: w}
}

// Draw replaces the screen. lines must fit.
func (f *Full) Draw(lines []string) {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n") // raw mode does not add the carriage return
		}
		b.WriteString(line + clearLine)
	}
	b.WriteString(clearBelow)
	io.WriteString(f.w, b.String())
}

// Close leaves the screen.
func (f *Full) Close() { io.WriteString(f.w, doWrap+showCursor+"\x1b[?1049l") }
