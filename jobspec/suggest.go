// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that name was most likely meant to be, or "". Names that are
// equal up to case, underscores and a plural are always near; others if at most a third of
// the letters differ, or if one is a prefix of the other.
func Nearest(name string, candidates []string) string {
	folded := fold(name)
	best, bestDistance := "", max(1, (len(folded)+1)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		f := fold(c)
		if f == folded || f+"s" == folded || f == folded+"s" {
			return c
		}
		if d := distance(folded, f); d < bestDistance {
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

var separators = strings.NewReplacer("_", "", "-", "")

// fold normalizes names for comparison.
func fold(s string) string { return strings.ToLower(separators.Replace(s)) }

// didYouMean returns a clause with a suggestion for name, or "".
func didYouMean(name string, candidates []string) string {
	if s := Nearest(name, candidates); s != "" {
		return `; did you mean "` + s + `"?`
	}
	return ""
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to
// convert a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(y); j++ {
			same := 1
			if x[i-1] == y[j-1] {
				same = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+same)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
