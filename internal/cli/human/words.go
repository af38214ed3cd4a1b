// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package human

import (
	"fmt"
	"strings"
)

// Count formats a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Megabytes formats a size in MiB.
func Megabytes(mb int64) string {
	if mb >= 1024 {
		return fmt.Sprintf("%.1f GiB", float64(mb)/1024)
	}
	return fmt.Sprintf("%d MiB", mb)
}

// Bytes formats a number of bytes.
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Dash returns s, or "-" if s is empty.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ShellQuote quotes an argument that a shell would split or expand.
func ShellQuote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"$`\\|&;<>()*?[]#~!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Unless returns s, or "" if s is the usual value.
func Unless(s, usual string) string {
	if s == usual {
		return ""
	}
	return s
}

// DidYouMean returns the clause that ends an error about an unknown name, or "" without candidates.
func DidYouMean(candidates ...string) string {
	if len(candidates) == 0 || candidates[0] == "" {
		return ""
	}
	return "; did you mean " + strings.Join(candidates, " or ") + "?"
}
