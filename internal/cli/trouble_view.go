// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// troubles writes what is wrong with a job's instances, and what to type about
// each.
func (p *page) troubles(job string, list []*api.Trouble) {
	if len(list) == 0 {
		return
	}
	p.section("What is wrong")
	for _, t := range list {
		p.line("%s", p.style.red("- ")+wrap(troubleInWords(t, p.now), 2, p.textWidth()))
		for _, next := range troubleNext(job, t) {
			p.line("  %s", next)
		}
	}
}

// longestWords bounds what is shown of a trouble, in characters.
const longestWords = 320

// pageBegins finds where an answer is a page for browsers.
var pageBegins = regexp.MustCompile(`(?i):?\s*<(!doctype|html|head|body)\b`)

// troubleWords is what is wrong, without pages for browsers.
func troubleWords(t *api.Trouble) string {
	words := t.String()
	if at := pageBegins.FindStringIndex(words); at != nil {
		words = words[:at[0]]
	}
	return cut(words, longestWords)
}

// isOfCheck reports whether it is a check that fails.
func isOfCheck(t *api.Trouble) bool {
	switch t.Kind {
	case api.TroubleCheckFailed, api.TroubleCheckTimeout, api.TroubleCheckRefused:
		return true
	}
	return false
}

// withoutSlowStarts leaves out checks that have failed for a moment only, where
// something else is wrong.
func withoutSlowStarts(list []*api.Trouble, now time.Time) []*api.Trouble {
	settled := slices.DeleteFunc(slices.Clone(list), func(t *api.Trouble) bool { return isOfCheck(t) && now.Sub(t.At) < checkPatience })
	if len(settled) == 0 {
		return list
	}
	return settled
}

// troubleInWords is a trouble with how often it happened, and what comes next.
func troubleInWords(t *api.Trouble, now time.Time) string {
	var about []string
	if t.Count > 1 {
		about = append(about, fmt.Sprintf("%d times in a row", t.Count))
	}
	if now.Sub(t.At) >= time.Second && !t.At.IsZero() {
		word := "since "
		if t.Count > 0 {
			word = "last "
		}
		about = append(about, word+age(now, t.At))
	}
	switch wait := t.NextAttempt.Sub(now); {
	case t.Final:
		about = append(about, "no further attempt")
	case !t.NextAttempt.IsZero() && wait >= time.Second:
		about = append(about, "next attempt in "+shortDuration(wait))
	}
	if len(about) == 0 {
		return troubleWords(t)
	}
	return troubleWords(t) + " (" + strings.Join(about, ", ") + ")"
}

// troubleNext suggests what to type about a trouble.
func troubleNext(job string, t *api.Trouble) []string {
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
		return []string{"See all that is in the way:  reeve job explain " + job}
	case api.TroubleNodeSilent:
		if t.NodeID != "" {
			return []string{"See its node:  reeve node status " + api.ShortID(t.NodeID)}
		}
	case api.TroubleExited, api.TroubleKilled:
		return next
	case api.TroubleOutOfMemory:
		next = append(next, "Give it more:  resources { memory = ... } in task \""+t.Task+"\" of the job file")
	}
	if id != "" {
		next = append(next, "See all of it: reeve alloc status "+id)
	}
	return next
}

// troubleKey is the same for a trouble as long as nobody needs to hear of it
// again: numbers in its words, as ports and process ids, may change.
func troubleKey(t *api.Trouble) string {
	return fmt.Sprint(t.Group, t.JobVersion, t.Kind, t.Task, t.Service, t.Check, t.ExitCode, t.Signal, t.StatusCode,
		strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, t.Message))
}
