// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"sync"
)

// A Live writes progress line by line. On a terminal, its last line is a status that is
// redrawn in place.
type Live struct {
	mu     sync.Mutex
	w      io.Writer
	tty    bool
	status string
}

// NewLive returns a Live that writes to w.
func NewLive(w io.Writer) *Live { return &Live{w: w, tty: IsTerminal(w)} }

// Width returns the maximum width of a sentence.
func (l *Live) Width() int {
	if width := Width(l.w); width > 0 {
		return width
	}
	return unlimited
}

// IsTerminal reports whether the status is visible.
func (l *Live) IsTerminal() bool { return l.tty }

// Say writes one line above the status.
func (l *Live) Say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	fmt.Fprintf(l.w, format+"\n", args...)
	l.draw()
}

// Show replaces the status.
func (l *Live) Show(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.status = fmt.Sprintf(format, args...)
	l.draw()
}

// Done removes the status.
func (l *Live) Done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.status = ""
}

func (l *Live) erase() {
	if l.tty && l.status != "" {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}

func (l *Live) draw() {
	if l.tty && l.status != "" {
		fmt.Fprint(l.w, l.status)
	}
}
