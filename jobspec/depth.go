// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The HCL library parses and evaluates by recursion and sets itself no limit; a
// stack that overflows ends the process and cannot be caught. So the tokens are
// counted before they are parsed.
const (
	maxDepth     = 250  // brackets, quotes and directives within each other
	maxOperators = 1000 // operators and index brackets in one expression
)

// depth follows the nesting of a text, token by token.
type depth struct {
	levels     []level
	directives int
}

// level is what is between two brackets.
type level struct {
	opener    hclsyntax.TokenType
	operators int
}

// tooDeep finds the place at which a text nests too deep.
func tooDeep(text []byte, name string) (hcl.Range, bool) {
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	d := depth{levels: make([]level, 1, maxDepth)}
	for i, t := range tokens {
		d.take(t.Type)
		if t.Type == hclsyntax.TokenTemplateControl && i+1 < len(tokens) {
			d.direct(string(tokens[i+1].Bytes))
		}
		if len(d.levels) > maxDepth || d.directives > maxDepth || d.levels[len(d.levels)-1].operators > maxOperators {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}

func (d *depth) take(t hclsyntax.TokenType) {
	here := &d.levels[len(d.levels)-1]
	switch t {
	case hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
		here.operators++
		d.levels = append(d.levels, level{opener: t})
	case hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		d.levels = append(d.levels, level{opener: t})
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		if len(d.levels) > 1 {
			d.levels = d.levels[:len(d.levels)-1]
		}
	case hclsyntax.TokenComma:
		here.operators = 0
	case hclsyntax.TokenNewline:
		// In parentheses and lists an expression goes on over the line's end.
		if here.opener == hclsyntax.TokenOBrace || here.opener == 0 {
			here.operators = 0
		}
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenComment, hclsyntax.TokenEqual, hclsyntax.TokenDot:
	default:
		here.operators++
	}
}

// direct counts the %{ if } and %{ for } that are open.
func (d *depth) direct(keyword string) {
	switch keyword {
	case "if", "for":
		d.directives++
	case "endif", "endfor":
		d.directives = max(0, d.directives-1)
	}
}
