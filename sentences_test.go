// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reeve_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// descriptions are the fields that hold sentences for people. Code branches on the reasons
// next to them.
var descriptions = []string{"DesiredDescription", "StatusDescription", "ClientDescription", "HeldReason"}

// searches are the functions that find out what a sentence says.
var searches = []string{"Contains", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "Index", "TrimPrefix", "TrimSuffix", "MatchString"}

// TestNoBranchDependsOnASentence looks for comparisons with sentences, other than with "",
// which asks whether the object has one. A comparison of one object's field with another's
// looks for a change, and is allowed.
func TestNoBranchDependsOnASentence(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.isGenerated() {
			continue
		}
		for _, at := range branchesOnSentences(s.ast) {
			t.Errorf("%s: the code depends on the wording of a description: compare a reason (api/reason.go)", s.fset.Position(at))
		}
	}
}

func branchesOnSentences(f *ast.File) (found []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				if x, y := isDescription(n.X), isDescription(n.Y); x && !y && !isEmpty(n.Y) && !isHeld(n.Y) || y && !x && !isEmpty(n.X) {
					found = append(found, n.Pos())
				}
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isDescription(n.Tag) {
				found = append(found, n.Pos())
			}
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(searches, fun.Sel.Name) && slices.ContainsFunc(n.Args, isDescription) {
				found = append(found, n.Pos())
			}
		case *ast.IndexExpr:
			if isDescription(n.Index) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

func isDescription(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && slices.Contains(descriptions, s.Sel.Name)
}

// isHeld reports whether the expression is the field Held of an evaluation, which the
// HeldReason of a job repeats.
func isHeld(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Held"
}

func isEmpty(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	return ok && l.Value == `""`
}

func TestBranchesOnSentencesAreFound(t *testing.T) {
	for body, want := range map[string]int{
		`if a.DesiredDescription == why {}`:                           1,
		`if "x" != d.StatusDescription {}`:                            1,
		`switch (a.ClientDescription) { case "x": }`:                  1,
		`if strings.HasPrefix(e.StatusDescription, "x") {}`:           1,
		`_ = words[a.DesiredDescription]`:                             1,
		`if a.DesiredDescription != "" { a.DesiredDescription = "" }`: 0,
		`if job.HeldReason == e.HeldReason {}`:                        0,
		`show(a.DesiredDescription)`:                                  0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() {"+body+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(branchesOnSentences(f)); got != want {
			t.Errorf("%s has %d branches on sentences, want %d", body, got, want)
		}
	}
}
