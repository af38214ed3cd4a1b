// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// table writes rows under a heading, every column as wide as its widest cell.
// Cells may hold colours: those take no room. On a terminal that is too narrow
// the widest columns are clipped.
func (p *page) table(heading []string, rows [][]string) {
	widths := columnWidths(heading, rows)
	if p.width > 0 {
		narrow(widths, leastWidths(rows, len(heading)), p.width)
	}
	p.row(widths, heading, p.style.dim)
	for _, row := range rows {
		p.row(widths, row, nil)
	}
}

// tableLess is table; on a terminal that is too narrow it first leaves out the
// columns that less names, one by one.
func (p *page) tableLess(heading []string, rows [][]string, less ...string) {
	for _, name := range less {
		i := slices.Index(heading, name)
		if p.width == 0 || i < 0 || tableWidth(columnWidths(heading, rows)) <= p.width {
			continue
		}
		heading = slices.Delete(slices.Clone(heading), i, i+1)
		fewer := make([][]string, len(rows))
		for j, row := range rows {
			fewer[j] = slices.Delete(slices.Clone(row), i, i+1)
		}
		rows = fewer
	}
	p.table(heading, rows)
}

// columnWidths are the widths of the widest cells.
func columnWidths(heading []string, rows [][]string) []int {
	widths := make([]int, len(heading))
	for i, h := range heading {
		widths[i] = visibleWidth(h)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], visibleWidth(cell))
		}
	}
	return widths
}

// columnGap is the room between two columns.
const columnGap = 2

func tableWidth(widths []int) int {
	width := -columnGap
	for _, w := range widths {
		width += w + columnGap
	}
	return width
}

// leastWidths are how narrow columns may become: none narrower than a short id,
// and whole ids stay whole.
func leastWidths(rows [][]string, columns int) []int {
	least := slices.Repeat([]int{8}, columns)
	for _, row := range rows {
		for i, cell := range row {
			if len(cell) == fullID && strings.Count(cell, "-") == 4 {
				least[i] = fullID
			}
		}
	}
	return least
}

// narrow takes from the widest columns what a line has more than its width.
func narrow(widths, least []int, width int) {
	for over := tableWidth(widths) - width; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (p *page) row(widths []int, cells []string, paint func(string) string) {
	var b strings.Builder
	for i, cell := range cells {
		cell = cut(cell, widths[i])
		b.WriteString(cell)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-visibleWidth(cell)+columnGap))
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
