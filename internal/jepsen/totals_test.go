// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the totals of the ledger into docs/reliability.md")

func TestThePageShowsTheTotalsOfTheLedger(t *testing.T) {
	const page, begin, end = "../../docs/reliability.md", "<!-- totals -->\n", "<!-- end of totals -->\n"
	all, err := ReadLedger("../../docs/reliability-ledger.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	shown, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no lines %q and %q", page, begin, end)
	}
	want := Totals(all)
	if *rewrite {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("%s differs from the ledger; run go test ./internal/jepsen -run Totals -rewrite; want:\n%s", page, want)
	}
}

func TestTotalsCountRoundsAndViolationsByFault(t *testing.T) {
	got := Totals([]*Summary{
		{Seconds: 90, Rounds: 3, Operations: 10, Histories: 12, Faults: map[string]int{"none": 2, "kill-all": 1}},
		{Seconds: 30, Rounds: 1, Operations: 5, Unknown: 2, Histories: 4, Undecided: 1, Faults: map[string]int{"kill-all": 1}, Violations: []string{"round 0 (kill-all): a", "round 0 (kill-all): b"}},
		{Seconds: 60, Rounds: 2, Faults: map[string]int{"split+restore": 1, "split": 1}, UndecidedRounds: []string{"round 1 (split+restore): after 2m0s: c (d)"}},
	})
	for _, want := range []string{
		"| 3 | 3m0s | 6 | 1 | 15 | 2 | 16 | 1 |\n", "| `none` | 2 | 0 | 0 | 0 |\n", "| `kill-all` | 2 | 0 | 1 | 0 |\n", "| `kill-leader` | 0 | 0 | 0 | 0 |\n",
		"| `split` | 2 | 1 | 0 | 1 |\n", "| `restore` | 1 | 1 | 0 | 1 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("totals %s\nlack %s", got, want)
		}
	}
}
