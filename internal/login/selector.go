// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/go-bexpr"
	"github.com/hashicorp/go-bexpr/grammar"
)

// maxExpressions bounds a selector, so that it cannot exhaust the parser.
const maxExpressions = 10_000

// selects reports whether a selector matches a user.
func selects(selector string, id *Identity) (bool, error) {
	if strings.TrimSpace(selector) == "" {
		return true, nil
	}
	// The evaluator compares an unknown name as a value that equals nothing, so that a selector with
	// != and a mistyped name would match everyone.
	ast, err := grammar.Parse("", []byte(selector), grammar.MaxExpressions(maxExpressions))
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return false, fmt.Errorf("the selector cannot be read: %s", first)
	}
	if unknown := id.unknown(ast.(grammar.Expression), nil); unknown != "" {
		return false, fmt.Errorf("the selector names %s, which the claim mappings of the auth method do not have", unknown)
	}
	e, err := bexpr.CreateEvaluator(selector, bexpr.WithMaxExpressions(maxExpressions))
	if err != nil {
		return false, fmt.Errorf("the selector cannot be read: %w", err)
	}
	ok, err := e.Evaluate(map[string]any{"value": id.Value, "list": id.List})
	if err != nil {
		return false, fmt.Errorf("the selector does not fit the claim mappings of the auth method: %w", err)
	}
	return ok, nil
}

// unknown returns the first name in an expression that the identity does not have; "": it has all. bound are
// the names that an enclosing expression gives to members of a list.
func (id *Identity) unknown(e grammar.Expression, bound map[string]bool) string {
	switch e := e.(type) {
	case *grammar.UnaryExpression:
		return id.unknown(e.Operand, bound)
	case *grammar.BinaryExpression:
		if left := id.unknown(e.Left, bound); left != "" {
			return left
		}
		return id.unknown(e.Right, bound)
	case *grammar.MatchExpression:
		if !id.has(e.Selector.Path, bound) {
			return strings.Join(e.Selector.Path, ".")
		}
		return ""
	case *grammar.CollectionExpression:
		if !id.has(e.Selector.Path, bound) {
			return strings.Join(e.Selector.Path, ".")
		}
		inner := map[string]bool{e.NameBinding.Default: true, e.NameBinding.Index: true, e.NameBinding.Value: true}
		maps.Copy(inner, bound)
		delete(inner, "")
		return id.unknown(e.Inner, inner)
	}
	return "an expression of an unknown kind"
}

func (id *Identity) has(path []string, bound map[string]bool) bool {
	if len(path) > 0 && bound[path[0]] {
		return true
	}
	if len(path) < 2 {
		return false
	}
	_, value := id.Value[path[1]]
	_, list := id.List[path[1]]
	return path[0] == "value" && len(path) == 2 && value || path[0] == "list" && list
}
