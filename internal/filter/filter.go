// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package filter evaluates the filter expressions of lists and of the event stream.
// Selectors name fields as the JSON of the API does.
package filter

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/hashicorp/go-bexpr"
	"github.com/mitchellh/pointerstructure"

	"github.com/reeve-run/reeve/api"
)

// Limits of an expression, far above the needs of users and below the size that
// exhausts a server.
const (
	maxLength      = 16 << 10
	maxExpressions = 100_000
)

// A Filter is a parsed expression. A nil Filter matches every object.
type Filter struct {
	evaluator *bexpr.Evaluator
}

// parsePosition matches the position in an error of the parser: "1:9 (8): ...".
var parsePosition = regexp.MustCompile(`^(\d+):(\d+) \(\d+\): `)

// missingSelector matches the selector in an error of the evaluator.
var missingSelector = regexp.MustCompile(`datum: /(\S+) at part`)

// Parse reads a filter expression.
func Parse(expression string) (*Filter, error) {
	if len(expression) > maxLength {
		return nil, api.Errorf(api.CodeInvalid, "filter: the expression is longer than %d characters", maxLength)
	}
	e, err := bexpr.CreateEvaluator(expression, bexpr.WithTagName("json"), bexpr.WithHookFn(named), bexpr.WithMaxExpressions(maxExpressions))
	if err == nil {
		return &Filter{e}, nil
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	if at := parsePosition.FindStringSubmatch(message); at != nil {
		return nil, api.Errorf(api.CodeInvalid, "filter: failed to read %q at line %s, column %s: %s",
			expression, at[1], at[2], message[len(at[0]):])
	}
	return nil, api.Errorf(api.CodeInvalid, "filter: failed to read %q: %s", expression, message)
}

// Matches reports whether an object matches the filter. An object does not match if the
// selected field is absent because a pointer on the way to it is nil. Matches returns an
// error if objects of this type do not have the field.
func (f *Filter) Matches(object any) (bool, error) {
	if f == nil {
		return true, nil
	}
	ok, err := f.evaluator.Evaluate(named(reflect.ValueOf(object)).Interface())
	switch {
	case err == nil:
		return ok, nil
	case errors.Is(err, pointerstructure.ErrInvalidKind) && strings.HasSuffix(err.Error(), ": invalid"):
		return false, nil
	}
	return false, misfit(f.evaluator.Expression(), err)
}

// misfit returns an error that names the selector that the objects do not have.
func misfit(expression string, err error) error {
	at := missingSelector.FindStringSubmatch(err.Error())
	if at == nil {
		return api.Errorf(api.CodeInvalid, "filter: %q does not fit the listed objects: %v", expression, err)
	}
	selector := strings.ReplaceAll(at[1], "/", ".")
	column := 1 + max(0, strings.Index(expression, selector))
	return api.Errorf(api.CodeInvalid, "filter: %q does not fit the listed objects: column %d: unknown field %s", expression, column, selector)
}
