// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package term writes to terminals and plain streams: pages with tables, colours,
// status lines, and blocks that are redrawn in place.
package term

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"
)

// A Page is text for people, written section by section.
type Page struct {
	bytes.Buffer
	Style    Style
	Now      time.Time
	Complete bool // diffs show also what is the same
	Width    int  // of the terminal; 0: as wide as it takes
}

// TextWidth is how wide a sentence may be.
func (p *Page) TextWidth() int {
	if p.Width == 0 {
		return unlimited
	}
	return p.Width
}

// unlimited is a width that nothing reaches.
const unlimited = 1 << 20

// Line writes one line.
func (p *Page) Line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// Section starts a new part of the page, under a title.
func (p *Page) Section(title string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.Line("%s", p.Style.Bold(title))
}

// Field is one line of a block: a name and a value.
type Field [2]string

// Fields writes names and values in two columns; a field without a value is
// left out.
func (p *Page) Fields(fields ...Field) {
	width := 0
	for _, f := range fields {
		if f[1] != "" {
			width = max(width, utf8.RuneCountInString(f[0]))
		}
	}
	for _, f := range fields {
		if f[1] != "" {
			p.Line("%-*s = %s", width, f[0], f[1])
		}
	}
}

// Next writes what could be done now, below the page.
func (p *Page) Next(commands ...string) {
	if len(commands) == 0 {
		return
	}
	p.WriteByte('\n')
	for _, command := range commands {
		p.Line("%s", p.Style.Dim(command))
	}
}
