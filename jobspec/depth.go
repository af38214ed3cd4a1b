// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The HCL library parses and evaluates recursively without a limit, and a stack overflow ends
// the process. So the tokens are counted before they are parsed.
const (
	maxDepth     = 250  // brackets, quotes and directives within each other
	maxOperators = 1000 // operators and index brackets in one expression
)

// depth tracks the nesting of a text, token by token.
type depth struct {
	levels     []level
	directives int
}

// A level is the text between two brackets.
type level struct {
	opener    hclsyntax.TokenType
	operators int
}

// tooDeep finds the position at which a text exceeds the limits.
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
		// In parentheses and lists, an expression continues on the next line.
		if here.opener == hclsyntax.TokenOBrace || here.opener == 0 {
			here.operators = 0
		}
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenComment, hclsyntax.TokenEqual, hclsyntax.TokenDot:
	default:
		here.operators++
	}
}

// direct counts the open %{ if } and %{ for } directives.
func (d *depth) direct(keyword string) {
	switch keyword {
	case "if", "for":
		d.directives++
	case "endif", "endfor":
		d.directives = max(0, d.directives-1)
	}
}
