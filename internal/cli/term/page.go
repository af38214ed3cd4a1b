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
	Complete bool // diffs include unchanged parts
	Width    int  // columns of the terminal; 0 means no limit
}

// TextWidth returns the maximum width of a sentence.
func (p *Page) TextWidth() int {
	if p.Width == 0 {
		return unlimited
	}
	return p.Width
}

// unlimited is a width that no text reaches.
const unlimited = 1 << 20

// Line writes one line.
func (p *Page) Line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// Section starts a new section with a title.
func (p *Page) Section(title string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.Line("%s", p.Style.Bold(title))
}

// Field is one line of a block: a name and a value.
type Field [2]string

// Fields writes names and values in two columns. It omits fields without a value.
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

// Next writes suggested commands below the page.
func (p *Page) Next(commands ...string) {
	if len(commands) == 0 {
		return
	}
	p.WriteByte('\n')
	for _, command := range commands {
		p.Line("%s", p.Style.Dim(command))
	}
}
