// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A screen is the lower end of a terminal, on which a block of lines is drawn
// again and again in the same place.
type screen struct {
	w     io.Writer
	size  func() (width, height int)
	width int // that it was drawn for
	drawn int // lines
}

// screenOf returns a screen on a stream, or nil when that is not a terminal that
// can be drawn on.
func screenOf(stream io.Writer, terminal string) *screen {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || terminal == "dumb" {
		return nil
	}
	return &screen{w: f, size: func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}}
}

// Control sequences.
const (
	hideCursor  = "\x1b[?25l"
	showCursor  = "\x1b[?25h"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
	clearScreen = "\x1b[2J\x1b[H"
	noWrap      = "\x1b[?7l"
	doWrap      = "\x1b[?7h"
)

// draw replaces what was drawn before. What does not fit the width is cut.
func (s *screen) draw(lines []string) {
	width, _ := s.size()
	var b strings.Builder
	b.WriteString(hideCursor + noWrap)
	switch {
	case s.drawn > 0 && width != s.width:
		b.WriteString(clearScreen) // lines that were wrapped anew are not where they were
	case s.drawn > 0:
		fmt.Fprintf(&b, "\r\x1b[%dA", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(cut(line, width) + clearLine + "\n")
	}
	b.WriteString(clearBelow + doWrap)
	io.WriteString(s.w, b.String())
	s.width, s.drawn = width, len(lines)
}

// leave gives the terminal back, with the last block on it.
func (s *screen) leave() {
	io.WriteString(s.w, showCursor)
	s.drawn = 0
}

// cut shortens a line to a width. Colours take no room, and are ended.
func cut(line string, width int) string {
	if visibleWidth(line) <= width {
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
