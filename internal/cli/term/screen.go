// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Screen is the lower end of a terminal. It draws a block of lines in place,
// repeatedly.
type Screen struct {
	w     io.Writer
	Size  func() (width, height int)
	width int // width at the last draw
	drawn int // lines of the last draw
}

// ScreenOf returns a Screen on a stream, or nil if the stream is not a terminal that
// supports it.
func ScreenOf(stream io.Writer, terminal string) *Screen {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || terminal == "dumb" {
		return nil
	}
	return &Screen{w: f, Size: func() (int, int) {
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

// Draw replaces the previous block. It cuts lines at the width of the terminal.
func (s *Screen) Draw(lines []string) {
	width, _ := s.Size()
	var b strings.Builder
	b.WriteString(hideCursor + noWrap)
	switch {
	case s.drawn > 0 && width != s.width:
		b.WriteString(clearScreen) // the terminal has wrapped the old lines differently
	case s.drawn > 0:
		fmt.Fprintf(&b, "\r\x1b[%dA", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(Cut(line, width) + clearLine + "\n")
	}
	b.WriteString(clearBelow + doWrap)
	io.WriteString(s.w, b.String())
	s.width, s.drawn = width, len(lines)
}

// Leave releases the terminal, and keeps the last block.
func (s *Screen) Leave() {
	io.WriteString(s.w, showCursor)
	s.drawn = 0
}
