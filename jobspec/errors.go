// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeve-run/reeve/api"
)

// Error holds all errors of one job file, in the order of the file.
type Error struct {
	Problems []Problem
	cause    *api.Error // the error with these details; nil if the text itself is invalid
}

// A Problem is one error and its position.
type Problem struct {
	File    string
	Line    int    // from 1; 0 if the problem has no position
	Column  int    // from 1, in characters
	Message string // the error and its correction, in one or a few sentences
	Excerpt string // the line with a caret below, each line ending in a newline
}

// Error formats every problem with its excerpt.
func (e *Error) Error() string {
	var b strings.Builder
	if e.cause != nil {
		b.WriteString(e.cause.Message + ":\n\n")
	}
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.String())
		if p.Excerpt != "" {
			b.WriteString("\n")
			b.WriteString(p.Excerpt)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Join returns the problems of errors about one file in the order of the file. It returns the first error
// that is not an *Error.
func Join(errs ...error) error {
	all := new(Error)
	for _, err := range errs {
		var e *Error
		switch {
		case err == nil:
			continue
		case !errors.As(err, &e):
			return err
		}
		all.Problems = append(all.Problems, e.Problems...)
		all.cause = cmp.Or(all.cause, e.cause)
	}
	if len(all.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(all.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// Unwrap returns the error as an *api.Error.
func (e *Error) Unwrap() error {
	err := &api.Error{Code: api.CodeInvalid}
	if e.cause != nil {
		err.Code = e.cause.Code
	}
	if len(e.Problems) == 1 && e.cause == nil {
		err.Message = e.Problems[0].String()
		return err
	}
	err.Message = fmt.Sprintf("the job file has %d errors", len(e.Problems))
	if e.cause != nil {
		err.Message = e.cause.Message
	}
	for _, p := range e.Problems {
		err.Detail = append(err.Detail, p.String())
	}
	return err
}

// String formats the problem without its excerpt, in the format of compilers.
func (p Problem) String() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	case p.File != "":
		return p.File + ": " + p.Message
	}
	return p.Message
}

// A span is a piece of a text, in byte offsets.
type span struct{ start, end int }

// problems collects the errors of one text.
type problems struct {
	file string
	text []byte
	list []Problem
	at   []span // place of each problem
}

// add records a problem at a piece of the text.
func (ps *problems) add(at span, format string, args ...any) {
	if slices.Contains(ps.at, at) {
		return // a dynamic block repeats its errors; report each position once
	}
	line, column, excerpt := locate(ps.text, at)
	p := Problem{File: ps.file, Line: line, Column: column, Excerpt: excerpt, Message: fmt.Sprintf(format, args...)}
	ps.list = append(ps.list, p)
	ps.at = append(ps.at, at)
}

// addOther records a problem without a position in this text.
func (ps *problems) addOther(p Problem) {
	ps.list = append(ps.list, p)
	ps.at = append(ps.at, span{-1, -1})
}

// err returns the collected Error in the order of the text, or nil.
func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	order := make([]int, len(ps.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps.at[a].start, ps.at[b].start) })
	sorted := make([]Problem, len(order))
	for i, j := range order {
		sorted[i] = ps.list[j]
	}
	return &Error{Problems: sorted}
}

// maxExcerpt bounds the part of a long line in an excerpt, in characters.
const maxExcerpt = 120

// locate returns the line and column of a piece of text, with its excerpt.
func locate(text []byte, at span) (line, column int, excerpt string) {
	start := min(max(at.start, 0), len(text))
	end := min(max(at.end, start), len(text))
	lineStart := bytes.LastIndexByte(text[:start], '\n') + 1
	lineEnd := len(text)
	if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
		lineEnd = start + i
	}
	line = bytes.Count(text[:lineStart], []byte("\n")) + 1
	column = utf8.RuneCount(text[lineStart:start]) + 1
	content := strings.TrimRight(string(text[lineStart:lineEnd]), "\r")
	if strings.TrimSpace(content) == "" {
		return line, column, ""
	}
	marks := max(1, utf8.RuneCount(text[start:min(end, lineEnd)]))
	runes := []rune(strings.ToValidUTF8(content, "\uFFFD"))
	from := 0
	if column > maxExcerpt {
		from = column - maxExcerpt/2
	}
	from = min(from, len(runes))
	to := min(len(runes), from+maxExcerpt)
	marks = max(1, min(marks, to-column+1))
	shown, pad := clean(runes[from:to]), clean(runes[from:min(column-1, len(runes))])
	gutter := fmt.Sprintf("%5d | ", line)
	return line, column, gutter + shown + "\n" +
		strings.Repeat(" ", len(gutter)-2) + "| " + blank(pad) + strings.Repeat("^", marks) + "\n"
}

// clean replaces characters that a terminal would interpret.
func clean(runes []rune) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r == 0x7f) {
			return '\uFFFD'
		}
		return r
	}, string(runes))
}

// blank converts text to spaces of the same width, and keeps tabs.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

func tooLarge(name string, size int) error {
	return &Error{Problems: []Problem{{File: name, Message: fmt.Sprintf("the file has %d bytes; a job file may have at most %d", size, MaxSize)}}}
}
