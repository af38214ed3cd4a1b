// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// ReadLedger reads the summaries of a ledger.
func ReadLedger(path string) ([]*Summary, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []*Summary
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s := new(Summary)
		if err := json.Unmarshal(lines.Bytes(), s); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(all)+1, err)
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// Totals returns the totals of summaries as tables in Markdown.
func Totals(all []*Summary) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	var sum Summary
	undecidedRounds := 0
	rounds, overlapping, broken, undecided := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range all {
		sum.Seconds += s.Seconds
		sum.Rounds += s.Rounds
		sum.Operations += s.Operations
		sum.Unknown += s.Unknown
		sum.Histories += s.Histories
		sum.Undecided += s.Undecided
		for name, n := range s.Faults {
			parts := strings.Split(name, "+")
			for _, part := range parts {
				rounds[part] += n
				if len(parts) > 1 {
					overlapping[part] += n
				}
			}
		}
		countFaults(broken, s.Violations)
		countFaults(undecided, s.UndecidedRounds)
		undecidedRounds += len(s.UndecidedRounds)
	}
	line("| runs | time | rounds | undecided rounds | operations | unknown outcomes | histories | undecided histories |")
	line("|---|---|---|---|---|---|---|---|")
	line("| %d | %s | %d | %d | %d | %d | %d | %d |", len(all), (time.Duration(sum.Seconds) * time.Second).Round(time.Minute), sum.Rounds, undecidedRounds, sum.Operations, sum.Unknown, sum.Histories, sum.Undecided)
	line("")
	line("| fault | rounds | overlapping another fault | with a violation | undecided |")
	line("|---|---|---|---|---|")
	for _, name := range FaultNames() {
		line("| `%s` | %d | %d | %d | %d |", name, rounds[name], overlapping[name], broken[name], undecided[name])
	}
	return text.String()
}

// countFaults counts the rounds of findings by fault. Each finding of a run names the faults of its only such
// round in parentheses.
func countFaults(counts map[string]int, found []string) {
	named := map[string]bool{}
	for _, text := range found {
		if _, rest, ok := strings.Cut(text, "("); ok {
			names, _, _ := strings.Cut(rest, ")")
			for name := range strings.SplitSeq(names, "+") {
				named[name] = true
			}
		}
	}
	for name := range named {
		counts[name]++
	}
}
