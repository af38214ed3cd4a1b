// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"slices"
	"strings"
)

// Table writes rows below a heading. Every column is as wide as its widest cell, without
// colours. On a narrow terminal, Table clips the widest columns.
func (p *Page) Table(heading []string, rows [][]string) {
	widths := columnWidths(heading, rows)
	if p.Width > 0 {
		narrow(widths, leastWidths(rows, len(heading)), p.Width)
	}
	p.row(widths, heading, p.Style.Dim)
	for _, row := range rows {
		p.row(widths, row, nil)
	}
}

// TableLess is Table, but on a narrow terminal it first omits the columns in less, one
// by one.
func (p *Page) TableLess(heading []string, rows [][]string, less ...string) {
	for _, name := range less {
		i := slices.Index(heading, name)
		if p.Width == 0 || i < 0 || tableWidth(columnWidths(heading, rows)) <= p.Width {
			continue
		}
		heading = slices.Delete(slices.Clone(heading), i, i+1)
		fewer := make([][]string, len(rows))
		for j, row := range rows {
			fewer[j] = slices.Delete(slices.Clone(row), i, i+1)
		}
		rows = fewer
	}
	p.Table(heading, rows)
}

// columnWidths returns the widths of the widest cells.
func columnWidths(heading []string, rows [][]string) []int {
	widths := make([]int, len(heading))
	for i, h := range heading {
		widths[i] = VisibleWidth(h)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], VisibleWidth(cell))
		}
	}
	return widths
}

// columnGap is the space between two columns.
const columnGap = 2

func tableWidth(widths []int) int {
	width := -columnGap
	for _, w := range widths {
		width += w + columnGap
	}
	return width
}

// leastWidths returns the minimum widths of columns: at least a short id, and full ids
// stay complete.
func leastWidths(rows [][]string, columns int) []int {
	least := slices.Repeat([]int{8}, columns)
	for _, row := range rows {
		for i, cell := range row {
			if len(cell) == IDWidth && strings.Count(cell, "-") == 4 {
				least[i] = IDWidth
			}
		}
	}
	return least
}

// narrow reduces the widest columns until a line fits its width.
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

func (p *Page) row(widths []int, cells []string, paint func(string) string) {
	var b strings.Builder
	for i, cell := range cells {
		cell = Cut(cell, widths[i])
		b.WriteString(cell)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-VisibleWidth(cell)+columnGap))
		}
	}
	text := strings.TrimRight(b.String(), " ")
	if paint != nil {
		text = paint(text)
	}
	p.Line("%s", text)
}

// IDWidth is the length of a full id.
const IDWidth = 36
