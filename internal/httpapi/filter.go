// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/hashicorp/go-bexpr"
	"github.com/mitchellh/pointerstructure"

	"github.com/reeve-run/reeve/api"
)

// Bounds of a filter: what people write is far below, what hurts is above.
const (
	maxFilterLength      = 16 << 10
	maxFilterExpressions = 100_000
)

// filterPlace is how the parser says where: "1:9 (8): ...".
var filterPlace = regexp.MustCompile(`^(\d+):(\d+) \(\d+\): `)

// filterSelector is how the evaluator says what it looked for.
var filterSelector = regexp.MustCompile(`datum: /(\S+) at part`)

// parseFilter reads a filter expression. Selectors name fields as the JSON
// does.
func parseFilter(expression string) (*bexpr.Evaluator, error) {
	if len(expression) > maxFilterLength {
		return nil, api.Errorf(api.CodeInvalid, "filter: the expression is longer than %d characters", maxFilterLength)
	}
	f, err := bexpr.CreateEvaluator(expression, bexpr.WithTagName("json"), bexpr.WithHookFn(named), bexpr.WithMaxExpressions(maxFilterExpressions))
	if err == nil {
		return f, nil
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	if at := filterPlace.FindStringSubmatch(message); at != nil {
		return nil, api.Errorf(api.CodeInvalid, "filter: failed to read %q at line %s, column %s: %s",
			expression, at[1], at[2], message[len(at[0]):])
	}
	return nil, api.Errorf(api.CodeInvalid, "filter: failed to read %q: %s", expression, message)
}

// matches reports whether an object passes the filter. An object on whose way
// to the selected field something is absent does not.
func (c *call) matches(object any) (bool, error) {
	if c.filter == nil {
		return true, nil
	}
	return matchesFilter(c.filter, object)
}

func matchesFilter(f *bexpr.Evaluator, object any) (bool, error) {
	ok, err := f.Evaluate(named(reflect.ValueOf(object)).Interface())
	switch {
	case err == nil:
		return ok, nil
	case errors.Is(err, pointerstructure.ErrInvalidKind) && strings.HasSuffix(err.Error(), ": invalid"):
		return false, nil
	}
	return false, misfit(f.Expression(), err)
}

// misfit says which part of a filter the objects do not have.
func misfit(expression string, err error) error {
	at := filterSelector.FindStringSubmatch(err.Error())
	if at == nil {
		return api.Errorf(api.CodeInvalid, "filter: %q does not fit what is listed here: %v", expression, err)
	}
	selector := strings.ReplaceAll(at[1], "/", ".")
	column := 1 + max(0, strings.Index(expression, selector))
	return api.Errorf(api.CodeInvalid, "filter: %q does not fit what is listed here: column %d: there is no %s", expression, column, selector)
}
