// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"
)

// addDiags records what the HCL library complains about.
func (d *decoder) addDiags(diags hcl.Diagnostics) {
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		at := span{}
		if diag.Subject != nil {
			at = spanOf(*diag.Subject)
		}
		d.add(at, "%s", diagMessage(diag))
	}
}

// plainer are sentences for what the library says about frequent mistakes, by
// its summary.
var plainer = map[string]string{
	"Invalid argument name":                  "keys must not be quoted here: in a block write key = value; for other keys use a map, as in meta = { \"a.b\" = \"c\" }",
	"Unclosed configuration block":           "the block is not closed: a } is missing",
	"Unterminated template string":           "the text is not closed: a \" is missing on this line",
	"Invalid multi-line string":              "a quoted text cannot go over several lines; use <<EOF ... EOF",
	"Unterminated heredoc":                   "the text that begins with << is not closed: its end marker must stand alone on a line",
	"Missing newline after argument":         "only one argument fits on a line: begin a new line here",
	"Missing newline after block definition": "a block ends its line: begin a new line here",
	"Invalid single-quoted string":           "text is written in double quotes",
	"Unsupported operator":                   "HCL has no such operator",
	"Argument or block definition required":  "a name is expected here: key = value, or a block { ... }",
}

// diagMessage is a diagnostic in this package's tone.
func diagMessage(diag *hcl.Diagnostic) string {
	if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag); ok {
		if err := call.FunctionCallError(); err != nil {
			return callMessage(call.CalledFunctionName(), err)
		}
	}
	if s, ok := plainer[diag.Summary]; ok {
		return s
	}
	detail := strings.TrimSuffix(strings.Join(strings.Fields(diag.Detail), " "), ".")
	if detail == "" {
		detail = strings.TrimSuffix(diag.Summary, ".")
	}
	if strings.Contains(detail, "template interpolation") || diag.Summary == "Extra characters after interpolation expression" {
		detail += "; to have ${ itself in a text, write $${"
	}
	return lowerFirst(detail)
}

func callMessage(name string, err error) string {
	var arg function.ArgError
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
