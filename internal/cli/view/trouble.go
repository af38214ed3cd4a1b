// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Troubles writes the troubles of a job, with the next commands for each.
func Troubles(p *term.Page, job string, list []*api.Trouble) {
	if len(list) == 0 {
		return
	}
	p.Section("Problems")
	for _, t := range list {
		p.Line("%s", p.Style.Red("- ")+term.Wrap(TroubleInWords(t, p.Now), 2, p.TextWidth()))
		for _, next := range TroubleNext(job, t) {
			p.Line("  %s", next)
		}
	}
}

// longestWords limits the length of a trouble, in characters.
const longestWords = 320

// pageBegins matches the start of an HTML page in a response.
var pageBegins = regexp.MustCompile(`(?i):?\s*<(!doctype|html|head|body)\b`)

// troubleWords returns the message of a trouble without HTML pages.
func troubleWords(t *api.Trouble) string {
	words := t.String()
	if at := pageBegins.FindStringIndex(words); at != nil {
		words = words[:at[0]]
	}
	return term.Cut(words, longestWords)
}

// IsOfCheck reports whether a check fails.
func IsOfCheck(t *api.Trouble) bool {
	switch t.Kind {
	case api.TroubleCheckFailed, api.TroubleCheckTimeout, api.TroubleCheckRefused:
		return true
	}
	return false
}

// WithoutSlowStarts omits checks that have failed only briefly, if other troubles exist.
func WithoutSlowStarts(list []*api.Trouble, now time.Time) []*api.Trouble {
	settled := slices.DeleteFunc(slices.Clone(list), func(t *api.Trouble) bool { return IsOfCheck(t) && now.Sub(t.At) < CheckPatience })
	if len(settled) == 0 {
		return list
	}
	return settled
}

// TroubleInWords describes a trouble with its frequency and next attempt.
func TroubleInWords(t *api.Trouble, now time.Time) string {
	var about []string
	if t.Count > 1 {
		about = append(about, fmt.Sprintf("%d times in a row", t.Count))
	}
	if now.Sub(t.At) >= time.Second && !t.At.IsZero() {
		word := "since "
		if t.Count > 0 {
			word = "last "
		}
		about = append(about, word+human.Age(now, t.At))
	}
	switch wait := t.NextAttempt.Sub(now); {
	case t.Final:
		about = append(about, "no further attempt")
	case !t.NextAttempt.IsZero() && wait >= time.Second:
		about = append(about, "next attempt in "+human.Duration(wait))
	}
	if len(about) == 0 {
		return troubleWords(t)
	}
	return troubleWords(t) + " (" + strings.Join(about, ", ") + ")"
}

// TroubleNext suggests the next commands for a trouble.
func TroubleNext(job string, t *api.Trouble) []string {
	id := api.ShortID(t.Allocation)
	var next []string
	if t.Log != "" && id != "" {
		stream := ""
		if t.Log == api.LogStderr {
			stream = "-stderr "
		}
		next = append(next, "Read its log:  reeve alloc logs "+stream+strings.TrimSpace(id+" "+t.Task))
	}
	switch t.Kind {
	case api.TroubleNoRoom:
		return []string{"List all obstacles:  reeve job explain " + job}
	case api.TroubleNodeSilent:
		if t.NodeID != "" {
			return []string{"Show its node:  reeve node status " + api.ShortID(t.NodeID)}
		}
	case api.TroubleExited, api.TroubleKilled:
		return next
	case api.TroubleOutOfMemory:
		next = append(next, "Increase its memory:  resources { memory = ... } in task \""+t.Task+"\" of the job file")
	}
	if id != "" {
		next = append(next, "Show details:  reeve alloc status "+id)
	}
	return next
}

// TroubleKey returns a key that is the same for repeated reports of a trouble. It
// ignores numbers in messages, such as ports and process ids.
func TroubleKey(t *api.Trouble) string {
	return fmt.Sprint(t.Group, t.JobVersion, t.Kind, t.Task, t.Service, t.Check, t.ExitCode, t.Signal, t.StatusCode,
		strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, t.Message))
}

// CheckPatience is the time for which a check must fail before it is reported, because
// tasks need a moment until they listen.
const CheckPatience = 3 * time.Second
