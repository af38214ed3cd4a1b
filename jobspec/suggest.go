// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// nearest is the candidate that somebody who wrote name most likely meant, or
// "". Equal up to case, underscores and a plural is always near; otherwise at most
// a third of the letters may differ.
func nearest(name string, candidates []string) string {
	folded := fold(name)
	best, bestDistance := "", max(1, (len(folded)+1)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		f := fold(c)
		if f == folded || f+"s" == folded || f == folded+"s" {
			return c
		}
		if d := levenshtein.Distance(folded, f, nil); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best != "" || len(folded) < 4 {
		return best
	}
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if f := fold(c); len(f) >= 4 && (strings.HasPrefix(f, folded) || strings.HasPrefix(folded, f)) {
			return c
		}
	}
	return ""
}

// fold makes names comparable across the ways of writing them.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// didYouMean is the clause to append to a complaint about name, or "".
func didYouMean(name string, candidates []string) string {
	if s := nearest(name, candidates); s != "" {
		return `; did you mean "` + s + `"?`
	}
	return ""
}
