// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"sync"
)

// A live writes progress line by line. On a terminal the last line is a status
// that is redrawn in place; elsewhere there is none.
type live struct {
	mu     sync.Mutex
	w      io.Writer
	tty    bool
	status string
}

func (c *cli) live() *live { return newLive(c.Stderr) }

// newLive returns a live that writes to w.
func newLive(w io.Writer) *live { return &live{w: w, tty: isTerminal(w)} }

// width is how wide a sentence may be.
func (l *live) width() int {
	if width := terminalWidth(l.w); width > 0 {
		return width
	}
	return unlimited
}

// say writes one line above the status.
func (l *live) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	fmt.Fprintf(l.w, format+"\n", args...)
	l.draw()
}

// show replaces the status.
func (l *live) show(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.status = fmt.Sprintf(format, args...)
	l.draw()
}

// done takes the status away.
func (l *live) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.status = ""
}

func (l *live) erase() {
	if l.tty && l.status != "" {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}

func (l *live) draw() {
	if l.tty && l.status != "" {
		fmt.Fprint(l.w, l.status)
	}
}
