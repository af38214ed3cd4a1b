// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// tester is a store with the verbs that tests are written in. Each command is
// an entry of its own and goes through the log's encoding.
type tester struct {
	*Store
	t     testing.TB
	index uint64
}

func newTester(t testing.TB) *tester { return &tester{Store: New(), t: t} }

// try applies commands as one entry and returns their results.
func (s *tester) try(commands ...Command) []error {
	s.t.Helper()
	decoded, err := DecodeCommands(EncodeCommands(commands))
	if err != nil {
		s.t.Fatal(err)
	}
	s.index++
	return s.Apply(s.index, decoded)
}

// do applies commands that must be accepted.
func (s *tester) do(commands ...Command) {
	s.t.Helper()
	must(s.t, s.try(commands...))
}

// refuse applies a command that must be refused, and change nothing.
func (s *tester) refuse(code api.ErrorCode, words string, c Command) {
	s.t.Helper()
	before := dumpOf(s.Snapshot())
	err := s.try(c)[0]
	if api.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		s.t.Errorf("%s: %v; want %s with %q", c.Name(), err, code, words)
	}
	after := dumpOf(s.Snapshot())
	after.Index = before.Index
	if b, a := before.text(s.t), after.text(s.t); b != a {
		s.t.Errorf("%s was refused but changed something", c.Name())
	}
}

func (s *tester) job(id string) *api.Job {
	s.t.Helper()
	j := s.Snapshot().Job(api.DefaultNamespace, id)
	if j == nil {
		s.t.Fatalf("job %q is gone", id)
	}
	return j
}

func (s *tester) status(want string) {
	s.t.Helper()
	if got := s.job("web").Status; got != want {
		s.t.Errorf("job is %s, want %s", got, want)
	}
}

// allocation is a new one of the job's current version.
func (s *tester) allocation(id, deployment string) *api.Allocation {
	job := s.job("web")
	return &api.Allocation{
		ID: id, EvalID: "eval", Namespace: job.Namespace, JobID: job.ID, Job: job, Group: "web", Name: api.AllocName(job.ID, "web", 0),
		NodeID: "node", DeploymentID: deployment, DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}
}

func (s *tester) place(allocations ...*api.Allocation) {
	s.t.Helper()
	s.do(&CommitPlacement{&Placement{EvalID: "eval", Job: s.job("web"), Place: allocations, Time: 1000}})
}

func (s *tester) report(id, status string) {
	s.t.Helper()
	s.do(&UpdateAllocations{Allocations: []*api.Allocation{{ID: id, ClientStatus: status}}, Time: 2000})
}

func (s *tester) evaluation(id, status string) *api.Evaluation {
	return &api.Evaluation{ID: id, Namespace: api.DefaultNamespace, JobID: "web", Status: status}
}

func TestEntriesAreAppliedOnceAndInOrder(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.Apply(1, []Command{&DeregisterJob{Namespace: "default", ID: "web", Purge: true}})
	if s.Snapshot().Job("default", "web") == nil {
		t.Error("an entry that was applied before was applied again")
	}
	if s.Index() != 1 {
		t.Errorf("Index = %d, want 1", s.Index())
	}
}

func TestTableIndexMovesWithItsTable(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.do(&RegisterNode{Node: &api.Node{ID: "node"}})
	s.do(&RegisterJob{Job: testJob("api")})
	s.do(&DeleteNode{IDs: []string{"node"}})
	v := s.Snapshot()
	if got := v.TableIndex(TableJobs); got != 3 {
		t.Errorf("jobs changed at %d, want 3", got)
	}
	if got := v.TableIndex(TableNodes); got != 4 {
		t.Errorf("nodes changed at %d, want 4: deleting counts", got)
	}
	if got := v.TableIndex(TableJobs, TableEvaluations); got != 3 {
		t.Errorf("jobs or evaluations changed at %d, want 3", got)
	}
	if got := v.TableIndex(); got != 4 {
		t.Errorf("something changed at %d, want 4", got)
	}
}

func TestPrefixesAreInOrder(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	ids := []string{
		"0a000000-0000-4000-8000-000000000000", "ab", "ab000000-0000-4000-8000-000000000001",
		"ab000000-0000-4000-8000-000000000002", "ab1", "abc", "b", "f0000000-0000-4000-8000-000000000000", "Z",
	}
	for _, id := range ids {
		s.place(s.allocation(id, ""))
	}
	for prefix, want := range map[string]string{
		"":                                      "0a000000-0000-4000-8000-000000000000 Z ab ab000000-0000-4000-8000-000000000001 ab000000-0000-4000-8000-000000000002 ab1 abc b f0000000-0000-4000-8000-000000000000",
		"ab":                                    "ab ab000000-0000-4000-8000-000000000001 ab000000-0000-4000-8000-000000000002 ab1 abc",
		"ab0":                                   "ab000000-0000-4000-8000-000000000001 ab000000-0000-4000-8000-000000000002",
		"abc":                                   "abc",
		"c":                                     "",
		"ab000000-0000-4000-8000-000000000002":  "ab000000-0000-4000-8000-000000000002",
		"ab000000-0000-4000-8000-000000000002x": "",
	} {
		var got []string
		for a := range s.Snapshot().AllocationsPrefix(prefix) {
			got = append(got, a.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("prefix %q yields %q, want %q", prefix, got, want)
		}
		for a := range s.Snapshot().AllocationsPrefix(prefix) { // stopping early is allowed
			_ = a
			break
		}
	}
}
