// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"
)

// A page is text for people, written section by section.
type page struct {
	bytes.Buffer
	style    style
	now      time.Time
	complete bool // diffs show also what is the same
	width    int  // of the terminal; 0: as wide as it takes
}

func (c *cli) page() *page {
	return &page{style: c.stdoutStyle(), now: c.Now(), width: terminalWidth(c.Stdout)}
}

// textWidth is how wide a sentence may be.
func (p *page) textWidth() int {
	if p.width == 0 {
		return unlimited
	}
	return p.width
}

// unlimited is a width that nothing reaches.
const unlimited = 1 << 20

// line writes one line.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// section starts a new part of the page, under a title.
func (p *page) section(title string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.line("%s", p.style.bold(title))
}

// field is one line of a block: a name and a value.
type field [2]string

// fields writes names and values in two columns; a field without a value is
// left out.
func (p *page) fields(fields ...field) {
	width := 0
	for _, f := range fields {
		if f[1] != "" {
			width = max(width, utf8.RuneCountInString(f[0]))
		}
	}
	for _, f := range fields {
		if f[1] != "" {
			p.line("%-*s = %s", width, f[0], f[1])
		}
	}
}
