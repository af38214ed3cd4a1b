// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"sync"
)

// A Live writes progress line by line. On a terminal the last line is a status
// that is redrawn in place; elsewhere there is none.
type Live struct {
	mu     sync.Mutex
	w      io.Writer
	tty    bool
	status string
}

// NewLive returns a live that writes to w.
func NewLive(w io.Writer) *Live { return &Live{w: w, tty: IsTerminal(w)} }

// Width is how wide a sentence may be.
func (l *Live) Width() int {
	if width := Width(l.w); width > 0 {
		return width
	}
	return unlimited
}

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

// Done takes the status away.
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
