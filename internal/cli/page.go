// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A page is text for people, written section by section.
type page struct {
	bytes.Buffer
	style    style
	now      time.Time
	complete bool // diffs show also what is the same
}

func (c *cli) page() *page { return &page{style: c.stdoutStyle(), now: c.Now()} }

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

// field is one line of a block of names and values.
type field struct{ name, value string }

// fields writes names and values in two columns; a field without a value is
// left out.
func (p *page) fields(fields ...field) {
	width := 0
	for _, f := range fields {
		if f.value != "" {
			width = max(width, utf8.RuneCountInString(f.name))
		}
	}
	for _, f := range fields {
		if f.value != "" {
			p.line("%-*s = %s", width, f.name, f.value)
		}
	}
}

// table writes rows under a heading, every column as wide as its widest cell.
// Cells may hold colours: those take no room.
func (p *page) table(heading []string, rows [][]string) {
	widths := make([]int, len(heading))
	for i, h := range heading {
		widths[i] = visibleWidth(h)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], visibleWidth(cell))
		}
	}
	p.row(widths, heading, p.style.dim)
	for _, row := range rows {
		p.row(widths, row, nil)
	}
}

func (p *page) row(widths []int, cells []string, paint func(string) string) {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString(cell)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-visibleWidth(cell)+2))
		}
	}
	text := strings.TrimRight(b.String(), " ")
	if paint != nil {
		text = paint(text)
	}
	p.line("%s", text)
}

// visibleWidth counts the characters of a cell that take up room: colour codes
// do not.
func visibleWidth(s string) int {
	width := 0
	for len(s) > 0 {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexByte(s, 'm')
			if end < 0 {
				break
			}
			s = s[end+1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		width++
	}
	return width
}
