// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"text/template"
	"unicode"
)

func toLower(s string) string { return strings.ToLower(s) }
func toUpper(s string) string { return strings.ToUpper(s) }

// toTitle turns the first letter of each word into upper case.
func toTitle(s string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(before) || unicode.IsPunct(before) && before != '\'' {
			before = r
			return unicode.ToTitle(r)
		}
		before = r
		return r
	}, s)
}

func split(sep, s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, sep)
}

// splitToMap reads pairs such as "a=1;b=2".
func splitToMap(between, inside, s string) (map[string]string, error) {
	m := map[string]string{}
	for _, pair := range split(between, s) {
		key, value, ok := strings.Cut(pair, inside)
		if !ok {
			return nil, errors.New("a pair has no separator")
		}
		m[key] = value
	}
	return m, nil
}

func join(sep string, list []any) (string, error) {
	parts := make([]string, len(list))
	for i, one := range list {
		s, ok := asText(one)
		if !ok {
			return "", errors.New("an element of the list is not a text")
		}
		parts[i] = s
	}
	return strings.Join(parts, sep), nil
}

func trim(cut, s string) string          { return strings.Trim(s, cut) }
func trimPrefix(prefix, s string) string { return strings.TrimPrefix(s, prefix) }
func trimSuffix(suffix, s string) string { return strings.TrimSuffix(s, suffix) }
func trimSpace(s string) string          { return strings.TrimSpace(s) }
func hasPrefix(prefix, s string) bool    { return strings.HasPrefix(s, prefix) }
func hasSuffix(suffix, s string) bool    { return strings.HasSuffix(s, suffix) }
func hasText(part, s string) bool        { return strings.Contains(s, part) }
func quote(s string) string              { return fmt.Sprintf("%q", s) }
func squote(s string) string             { return "'" + s + "'" }
func toText(s string) string             { return s }
func html(s string) string               { return template.HTMLEscapeString(s) }
func js(s string) string                 { return template.JSEscapeString(s) }
func urlquery(s string) string           { return template.URLQueryEscaper(s) }

func nospace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// trunc keeps the first n bytes; with a negative n, the last.
func trunc(n int, s string) string {
	if n >= 0 {
		return s[:min(n, len(s))]
	}
	return s[max(0, len(s)+max(n, -len(s))):]
}

// fits charges a result of n bytes before it is made.
func (x *execution) fits(n int) error {
	if n < 0 || n > x.limits.Output {
		x.exceeded = errBudget(fmt.Sprintf("it makes a text of more than %d bytes", x.limits.Output))
		return x.exceeded
	}
	return x.bytes(n)
}

func (x *execution) indent(spaces int, s string) (string, error) {
	if spaces < 0 {
		return "", errors.New("the number of spaces is negative")
	}
	if spaces > x.limits.Output {
		return "", x.fits(spaces)
	}
	if err := x.fits(len(s) + spaces*(strings.Count(s, "\n")+1)); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", spaces)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

func (x *execution) nindent(spaces int, s string) (string, error) {
	s, err := x.indent(spaces, s)
	return "\n" + s, err
}

func (x *execution) repeat(n int, s string) (string, error) {
	if n < 0 || n > x.limits.Output {
		return "", x.fits(n)
	}
	if err := x.fits(n * len(s)); err != nil {
		return "", err
	}
	return strings.Repeat(s, n), nil
}

func (x *execution) replaceAll(from, to, s string) (string, error) {
	n := strings.Count(s, from)
	if err := x.fits(len(s) + n*len(to)); err != nil {
		return "", err
	}
	return strings.ReplaceAll(s, from, to), nil
}

// Bounds of regular expressions. A match takes time in proportion to the product of expression and text.
const (
	maxExpression = 1 << 10 // bytes
	matchUnit     = 512     // instructions times bytes per step
)

var errExpression = errors.New("the regular expression is not valid")

func (x *execution) expression(text string, subject int) (*regexp.Regexp, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the regular expression has more than %d bytes", maxExpression)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, errExpression
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, errExpression
	}
	if err := x.charge(len(program.Inst)/8 + len(program.Inst)*(subject+1)/matchUnit + 1); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errExpression
	}
	return re, nil
}

func (x *execution) regexMatch(expression, s string) (bool, error) {
	re, err := x.expression(expression, len(s))
	if err != nil {
		return false, err
	}
	return re.MatchString(s), nil
}

func (x *execution) regexReplaceAll(expression, to, s string) (string, error) {
	re, err := x.expression(expression, len(s))
	if err != nil {
		return "", err
	}
	n := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		n += m[1] - m[0]
	}
	matches := len(re.FindAllStringIndex(s, -1))
	// Each match may insert itself as often as the replacement names it.
	if err := x.fits(len(s) + matches*len(to) + n*strings.Count(to, "$")); err != nil {
		return "", err
	}
	return re.ReplaceAllString(s, to), nil
}

// maxWidth is the largest width and precision of a verb.
const maxWidth = 1000

func (x *execution) printf(format string, args ...any) (string, error) {
	verbs := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		verbs++
		width := 0
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[i]) >= 0; i++ {
			if format[i] == '*' {
				return "", errors.New("a width cannot be an argument: write it into the format")
			}
			if width = width*10 + int(format[i]-'0'); format[i] < '0' || format[i] > '9' {
				width = 0
			}
			if width > maxWidth {
				return "", fmt.Errorf("a width is larger than %d", maxWidth)
			}
		}
	}
	size := 0
	for _, arg := range args {
		if s, ok := asText(arg); ok {
			size = max(size, len(s))
		} else {
			size = max(size, x.limits.Output/16)
		}
	}
	if strings.Contains(format, "[") { // a verb may name any argument again
		if err := x.fits(len(format) + verbs*(size*4+2*maxWidth)); err != nil {
			return "", err
		}
	}
	if err := x.bytes(len(format) + verbs*maxWidth); err != nil {
		return "", err
	}
	return fmt.Sprintf(format, args...), nil
}
