// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"
)

// maxDiags bounds the errors of one expression: a loop repeats an error for each element.
const maxDiags = 20

// addDiags records the errors of the HCL library.
func (d *decoder) addDiags(diags hcl.Diagnostics) {
	told := 0
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		if told++; told > maxDiags {
			return
		}
		at := span{}
		if diag.Subject != nil {
			at = spanOf(*diag.Subject)
		}
		d.add(at, "%s", diagMessage(diag))
	}
}

// addSyntax records the HCL library's syntax errors. It drops those after an unterminated
// text, which are consequences.
func (d *decoder) addSyntax(diags hcl.Diagnostics) {
	// The library returns the errors of its scanner before those of its parser.
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int { return cmp.Compare(start(a), start(b)) })
	for _, diag := range diags {
		switch diag.Summary {
		case "Invalid multi-line string", "Unclosed template interpolation sequence":
			d.addDiags(hcl.Diagnostics{diag})
			return
		case "Unterminated template string":
			if at, ok := d.openHeredoc(); ok {
				d.addAt(at, "the text that begins here is not closed: its end marker must stand alone on a line")
				return
			}
			d.addDiags(hcl.Diagnostics{diag})
			return
		}
		d.addDiags(hcl.Diagnostics{diag})
	}
}

func start(diag *hcl.Diagnostic) int {
	if diag.Subject == nil {
		return 0
	}
	return diag.Subject.Start.Byte
}

// openHeredoc finds the << without an end.
func (d *decoder) openHeredoc() (hcl.Range, bool) {
	tokens, _ := hclsyntax.LexConfig(d.text, d.file, hcl.InitialPos)
	var open []hcl.Range
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOHeredoc:
			open = append(open, t.Range)
		case hclsyntax.TokenCHeredoc:
			open = open[:max(0, len(open)-1)]
		}
	}
	if len(open) == 0 {
		return hcl.Range{}, false
	}
	return open[len(open)-1], true
}

// plainer maps the library's summaries of frequent errors to clearer sentences.
var plainer = map[string]string{
	"Argument or block definition required":           "expected NAME = VALUE or NAME { ... } here",
	"Extra characters after interpolation expression": "this is no HCL expression; to have ${ itself in the text, for a shell for example, write $${",
	"Invalid argument name":                           "keys must not be quoted here: in a block write key = value; for other keys use a map, as in meta = { \"a.b\" = \"c\" }",
	"Invalid block definition":                        "after a name comes = and a value, or { and a block's content, on the same line",
	"Invalid multi-line string":                       "the text is not closed on its line: a \" is missing; for several lines use <<EOF ... EOF",
	"Invalid single-argument block definition":        "a block on one line holds at most one argument: write each argument on a line of its own",
	"Missing newline after argument":                  "only one argument fits on a line: begin a new line here",
	"Missing newline after block definition":          "a block ends its line: begin a new line here",
	"Unclosed configuration block":                    "the block is not closed: a } is missing",
	"Unclosed template interpolation sequence":        "${ is not closed: a } is missing; to have ${ itself in the text, write $${",
	"Unterminated template string":                    "the text is not closed: a \" is missing on this line",
}

var (
	redefined = regexp.MustCompile(`The argument "([^"]*)" was already set at .*:(\d+),`)
	badType   = regexp.MustCompile(`The keyword "([^"]*)" is not a valid type specification`)
)

var typeNames = []string{"string", "number", "bool", "any", "list", "set", "map", "object", "tuple"}

// diagMessage returns a diagnostic in this package's wording.
func diagMessage(diag *hcl.Diagnostic) string {
	call, isCall := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag)
	if isCall && call.FunctionCallError() != nil {
		return callMessage(call.CalledFunctionName(), call.FunctionCallError())
	}
	if s, ok := plainer[diag.Summary]; ok {
		return s
	}
	if m := redefined.FindStringSubmatch(diag.Detail); m != nil {
		return fmt.Sprintf("%q is already set on line %s", m[1], m[2])
	}
	if m := badType.FindStringSubmatch(diag.Detail); m != nil {
		return fmt.Sprintf("there is no type %q%s", m[1], didYouMean(m[1], typeNames))
	}
	detail := strings.TrimSuffix(strings.Join(strings.Fields(diag.Detail), " "), ".")
	if detail == "" {
		detail = strings.TrimSuffix(diag.Summary, ".")
	}
	detail = lowerFirst(detail)
	if isCall && diag.Summary == "Invalid function argument" {
		return call.CalledFunctionName() + ": " + detail
	}
	return detail
}

func callMessage(name string, err error) string {
	var arg function.ArgError
	var panicked function.PanicError
	if errors.As(err, &panicked) {
		return fmt.Sprintf("%s: a fault of Reeve's: panic: %v", name, panicked.Value)
	}
	if err.Error() == "EOF" {
		return name + ": the text ends too early"
	}
	if errors.As(err, &arg) {
		return fmt.Sprintf("%s: argument %d: %s", name, arg.Index+1, arg.Error())
	}
	return name + ": " + err.Error()
}

func lowerFirst(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
