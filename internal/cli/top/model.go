// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A View is one page of the screen.
type View int

// Views, in the order of their keys.
const (
	ViewCluster View = iota
	ViewServers
	ViewJobs
	ViewNodes
	views
)

// titles are the names of views in the first line.
var titles = [views]string{"Cluster", "Servers", "Jobs", "Nodes"}

// PageSize is the number of jobs or nodes that a reading has at most.
const PageSize = 500

// longestFilter is the maximum length of a filter, in characters.
const longestFilter = 64

// A Model is the state of the screen.
type Model struct {
	View     View
	Quit     bool
	Filter   string // text that shown jobs and nodes contain
	Editing  bool   // keys go to the draft of the filter
	draft    string
	sorts    [views]int // index into sortKeys
	reversed [views]bool
	offset   int // first shown row
	rows     int // rows of the current view, set by Lines
	room     int // rows that fit on the screen, set by Lines
	last     *Snapshot
	rates    *Rates
	notice   string
}

// Show takes a new reading. notice tells what went wrong while reading, or is empty.
func (m *Model) Show(s *Snapshot, notice string) {
	if rates := RatesOf(m.last, s); rates != nil || m.last == nil || m.last.Address != s.Address {
		m.rates = rates
	}
	m.last, m.notice = s, notice
}

// Fail keeps the last reading, and shows why no newer one exists.
func (m *Model) Fail(notice string) { m.notice = notice }

// Press applies one key. It reports whether other data is needed: another view, or another filter.
func (m *Model) Press(k Key) (reread bool) {
	if m.Editing {
		return m.edit(k)
	}
	before := m.View
	switch k {
	case 'q', KeyInterrupt:
		m.Quit = true
	case '1', '2', '3', '4':
		m.View = View(k - '1')
	case KeyTab:
		m.View = (m.View + 1) % views
	case KeyBackTab:
		m.View = (m.View + views - 1) % views
	case '/':
		m.Editing, m.draft = true, m.Filter
	case KeyEscape:
		if m.Filter != "" {
			m.Filter, m.offset = "", 0
			return true
		}
	case 's':
		if n := len(sortKeys[m.View]); n > 0 {
			m.sorts[m.View], m.offset = (m.sorts[m.View]+1)%n, 0
		}
	case 'r':
		m.reversed[m.View] = !m.reversed[m.View]
	case 'k', KeyUp:
		m.scroll(-1)
	case 'j', KeyDown:
		m.scroll(1)
	case KeyPageUp:
		m.scroll(-m.room)
	case KeyPageDown:
		m.scroll(m.room)
	}
	if m.View != before {
		m.offset = 0
	}
	return m.View != before
}

// edit applies one key to the draft of the filter.
func (m *Model) edit(k Key) (reread bool) {
	switch {
	case k == KeyInterrupt:
		m.Quit = true
	case k == KeyEscape:
		m.Editing = false
	case k == KeyEnter:
		reread = m.draft != m.Filter
		m.Editing, m.Filter, m.offset = false, m.draft, 0
	case k == KeyBackspace:
		_, size := utf8.DecodeLastRuneInString(m.draft)
		m.draft = m.draft[:len(m.draft)-size]
	case k <= utf8.MaxRune && unicode.IsPrint(rune(k)) && k != '`' && utf8.RuneCountInString(m.draft) < longestFilter:
		m.draft += string(rune(k)) // a backquote would end the text in the filter expression
	}
	return reread
}

func (m *Model) scroll(by int) { m.offset = max(0, min(m.offset+by, m.rows-m.room)) }

// sorted returns a copy of the items in the order of the current view.
func sorted[T any](m *Model, items []T, compare func(a, b T) int) []T {
	items = slices.Clone(items)
	slices.SortStableFunc(items, compare)
	if m.reversed[m.View] {
		slices.Reverse(items)
	}
	return items
}
