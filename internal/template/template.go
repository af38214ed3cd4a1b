// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// Options change how a template is read.
type Options struct {
	Left, Right string // delimiters; default: {{ and }}
	Strict      bool   // a missing key of a map is an error
}

// A Template is a parsed template. It is safe for concurrent use.
type Template struct {
	t      *template.Template
	strict bool
}

// An Error is an error in a template. It contains no value.
type Error struct {
	Line    int // from 1; 0: unknown
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	}
	return e.Message
}

// name is the name of the main template in the library's messages.
const name = "template"

var unknownFunction = regexp.MustCompile(`^function "([^"]*)" not defined`)

// Parse reads a template.
func Parse(text string, o Options) (*Template, error) {
	left, right := o.Left, o.Right
	if left == "" {
		left = "{{"
	}
	if right == "" {
		right = "}}"
	}
	switch actions := strings.Count(text, left); {
	case len(text) > maxText:
		return nil, &Error{Message: fmt.Sprintf("it has %d bytes; at most %d are allowed", len(text), maxText)}
	case actions > maxActions:
		return nil, &Error{Message: fmt.Sprintf("it has %d actions; at most %d are allowed", actions, maxActions)}
	}
	t := template.New(name).Delims(left, right).Funcs(stubs)
	if o.Strict {
		t.Option("missingkey=error")
	} else {
		t.Option("missingkey=zero")
	}
	if _, err := t.Parse(text); err != nil {
		return nil, syntaxError(err, left, right)
	}
	instrument(t)
	return &Template{t, o.Strict}, nil
}

// A Result is the result of a rendering.
type Result struct {
	Output  []byte    // nil if Missing is not empty
	Missing []Missing // in the order of the template
	// Needs are all values that the template asked for, in the order of the template. A template that waits may ask for
	// more once it has them.
	Needs []Dependency
}

// Render renders the template. An error means that the same values would fail again.
func (t *Template) Render(s Source, l Limits) (r Result, err error) {
	clone, err := t.t.Clone()
	if err != nil {
		return r, &Error{Message: "it cannot be prepared"}
	}
	x := &execution{budget: newBudget(l), source: s, strict: t.strict, asked: map[Dependency]bool{}}
	w := &writer{b: x.budget}
	defer func() {
		if recover() != nil { // a value of a kind that the library does not expect
			r, err = Result{Needs: x.needs}, &Error{Message: "it fails with these values"}
		}
	}()
	err = clone.Funcs(x.functions()).Execute(w, nil)
	r.Missing, r.Needs = x.missing, x.needs
	switch {
	case x.exceeded != nil:
		return r, &Error{Line: lineOf(err), Message: x.exceeded.Error()}
	case len(r.Missing) > 0: // errors may be due to that
		return r, nil
	case err != nil:
		return r, executionError(err)
	}
	if r.Output = w.out; r.Output == nil {
		r.Output = []byte{}
	}
	return r, nil
}

var position = regexp.MustCompile(`^template: (?:[^:\s]*):(\d+)(?::\d+)?: `)

// syntaxError converts an error of the parser.
func syntaxError(err error, left, right string) error {
	message := err.Error()
	line := lineOf(err)
	if at := position.FindString(message); at != "" {
		message = message[len(at):]
	}
	if m := unknownFunction.FindStringSubmatch(message); m != nil {
		message = explainUnknown(m[1])
	}
	return &Error{line, explainSyntax(message, left, right)}
}

func lineOf(err error) int {
	if err == nil {
		return 0
	}
	if m := position.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return line
	}
	return 0
}

// executionError converts an error of an execution. The library's messages quote the template, and values of maps'
// keys that a template computed; own functions quote nothing.
func executionError(err error) error {
	line := lineOf(err)
	var own *failure
	if errors.As(err, &own) {
		return &Error{line, own.Error()}
	}
	message := err.Error()
	if at := position.FindString(message); at != "" {
		message = message[len(at):]
	}
	if _, rest, ok := strings.Cut(message, ">: "); ok { // executing "template" at <...>: reason
		message = rest
	}
	if i := strings.Index(message, "error calling "); i >= 0 { // a built-in function, whose reasons may quote values
		called, _, _ := strings.Cut(message[i+len("error calling "):], ":")
		message = "function " + called + " fails with these values"
	}
	return &Error{line, message}
}

// A failure is the error of a function of this package.
type failure struct{ function, reason string }

func (f *failure) Error() string {
	if f.function == "" {
		return f.reason
	}
	return "function " + f.function + ": " + f.reason
}
