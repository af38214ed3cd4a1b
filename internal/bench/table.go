// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A row is one line of the table.
type row struct {
	what     string
	measured string
	bar      string
}

func (b *bench) add(what, bar, format string, args ...any) {
	b.rows = append(b.rows, row{what, fmt.Sprintf(format, args...), bar})
}

// table formats a Markdown table, aligned for terminals.
func (b *bench) table() string {
	rows := append([]row{{"what", "measured", "bar"}}, b.rows...)
	var w [3]int
	for _, r := range rows {
		for i, cell := range []string{r.what, r.measured, r.bar} {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Measured %s, %d cores, %s, %s. Other virtual machines took %s of the processors' time meanwhile.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), kernel(), runtime.Version(), b.begun.stolen())
	for i, r := range rows {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", pad(r.what, w[0]), pad(r.measured, w[1]), pad(r.bar, w[2]))
		if i == 0 {
			fmt.Fprintf(&out, "|%s|%s|%s|\n", strings.Repeat("-", w[0]+2), strings.Repeat("-", w[1]+2), strings.Repeat("-", w[2]+2))
		}
	}
	return out.String()
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
}

func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(string(text))
}

// Markers around the table in the page.
const (
	beginMark = "<!-- table: made by make bench -->\n"
	endMark   = "<!-- end of table -->\n"
)

func writeInto(path, table string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(page, []byte(beginMark))
	_, after, ok2 := bytes.Cut(rest, []byte(endMark))
	if !ok || !ok2 {
		return fmt.Errorf("%s: has no place for the table: a line %q and a line %q", path, strings.TrimSpace(beginMark), strings.TrimSpace(endMark))
	}
	return os.WriteFile(path, slices.Concat(before, []byte(beginMark), []byte(table), []byte(endMark), after), 0o644)
}

// times is a set of times with percentiles.
type times []time.Duration

func (t times) at(p float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func (t times) String() string {
	return fmt.Sprintf("p50 %s, p99 %s (n=%d)", ms(t.at(0.5)), ms(t.at(0.99)), len(t))
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
