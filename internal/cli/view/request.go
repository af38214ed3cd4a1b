// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Requests shows records of requests, one per line, and the reasons of refusals.
func Requests(p *term.Page, records []*api.RequestRecord) {
	for _, r := range records {
		p.Line("%s", RequestLine(r))
		if r.Refused && r.Reason != "" {
			p.Line("    %s", p.Style.Red(api.Printable(r.Reason, 400)))
		}
	}
}

// RequestLine describes a record. Callers choose its texts, so they are made printable.
func RequestLine(r *api.RequestRecord) string {
	words := []string{r.Time.UTC().Format(time.DateTime), printable(r.Server)}
	if r.Dropped > 0 {
		return strings.Join(append(words, human.Count(r.Dropped, "record was dropped", "records were dropped")), "  ")
	}
	who := printable(r.Caller)
	if r.TokenName != "" {
		who += " " + printable(r.TokenName)
	}
	if r.Accessor != "" {
		who += " (" + printable(api.ShortID(r.Accessor)) + ")"
	}
	what := printable(r.Method) + " " + printable(r.Path)
	if r.Object != "" {
		what += " [" + printable(r.Object) + "]"
	}
	if r.Namespace != "" && r.Namespace != api.DefaultNamespace {
		what += " in " + printable(r.Namespace)
	}
	outcome := "outcome unknown"
	if r.Status != 0 {
		outcome = fmt.Sprint(r.Status)
	}
	if r.Refused {
		outcome += " refused"
	}
	if r.Repeated > 0 {
		outcome += fmt.Sprintf(", and %d more failed", r.Repeated)
	}
	from := human.Dash(printable(r.Address))
	if r.Via != "" {
		from += " via node " + printable(api.ShortID(r.Via))
	}
	return strings.Join(append(words, who, from, what, outcome), "  ")
}

func printable(text string) string { return api.Printable(text, 256) }
