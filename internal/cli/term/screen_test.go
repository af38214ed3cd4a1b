// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// fakeTerminal does what a terminal does with what a screen writes.
type fakeTerminal struct {
	lines  []string
	row    int
	column int
	hidden bool
}

var controlSequence = regexp.MustCompile(`^\x1b\[(\??\d*)([A-Za-z])`)

func (f *fakeTerminal) Write(b []byte) (int, error) {
	for s := string(b); s != ""; {
		if m := controlSequence.FindStringSubmatch(s); m != nil {
			f.control(m[1], m[2])
			s = s[len(m[0]):]
			continue
		}
		c, size := utf8.DecodeRuneInString(s)
		f.put(c)
		s = s[size:]
	}
	return len(b), nil
}

func (f *fakeTerminal) put(c rune) {
	switch c {
	case '\r':
		f.column = 0
	case '\n':
		f.row, f.column = f.row+1, 0
	default:
		f.pad()
		line := []rune(f.lines[f.row])
		for len(line) <= f.column {
			line = append(line, ' ')
		}
		line[f.column] = c
		f.lines[f.row] = string(line)
		f.column++
	}
}

func (f *fakeTerminal) pad() {
	for len(f.lines) <= f.row {
		f.lines = append(f.lines, "")
	}
}

func (f *fakeTerminal) control(argument, letter string) {
	n, _ := strconv.Atoi(argument)
	switch letter {
	case "A":
		f.row = max(0, f.row-n)
	case "K":
		f.pad()
		line := []rune(f.lines[f.row])
		f.lines[f.row] = string(line[:min(f.column, len(line))])
	case "J":
		f.lines = f.lines[:min(f.row, len(f.lines))]
		if n == 2 {
			f.lines, f.row, f.column = nil, 0, 0
		}
	case "l", "h":
		if argument == "?25" {
			f.hidden = letter == "l"
		}
	}
}

func TestScreenIsDrawnInPlace(t *testing.T) {
	f, width := &fakeTerminal{}, 20
	s := &Screen{w: f, Size: func() (int, int) { return width, 10 }}
	f.Write([]byte("$ reeve\n"))
	expect := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, f.lines); diff != "" {
			t.Errorf("the terminal shows (-want +got):\n%s", diff)
		}
	}
	s.Draw([]string{"a long first line", "second", "third"})
	expect("$ reeve", "a long first line", "second", "third")
	s.Draw([]string{"first", "second line"})
	expect("$ reeve", "first", "second line")
	width = 8
	s.Draw([]string{"first", "second line"})
	if !f.hidden {
		t.Error("the cursor is shown while the screen is drawn on")
	}
	if f.lines[0] != "first" || f.lines[1] != "second …" {
		t.Errorf("after the window was made narrower the terminal shows %q", f.lines)
	}
	s.Leave()
	if f.hidden {
		t.Error("the cursor is still hidden after the screen was left")
	}
}
