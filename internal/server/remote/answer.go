// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/state"
)

// Verdicts of answers.
const (
	verdictSubmit  = 1 + iota // commit a result, and acknowledge the delivery if all of it was committed
	verdictAck                // nothing to commit
	verdictFail               // the evaluation failed
	verdictReturn             // the delivery was not evaluated
	verdictContend            // the applier refused everything that was placed
)

// answer is a decoded Answer.
type answer struct {
	token      uint64
	verdict    uint32
	submission *applier.Submission // of verdictSubmit
	kept       *api.Evaluation
	failure    string
}

// encodeSubmission returns the message of a result. kept is among its ends, or nil.
func encodeSubmission(token uint64, s *applier.Submission, kept *api.Evaluation) *Answer {
	m := &Answer{Token: token, Verdict: verdictSubmit}
	for i, e := range s.Ends {
		if e == kept {
			m.Kept = uint32(i + 1)
		}
	}
	m.Commands = state.AppendCommand(nil, &state.CommitPlacement{Placement: s.Placement})
	m.Commands = state.AppendCommand(m.Commands, &state.PutEvaluations{Evaluations: s.Ends})
	return m
}

// encodeAck returns the message of a delivery that changes nothing.
func encodeAck(token uint64, kept *api.Evaluation) *Answer {
	m := &Answer{Token: token, Verdict: verdictAck}
	if kept != nil {
		m.Commands, m.Kept = state.AppendCommand(nil, &state.PutEvaluations{Evaluations: []*api.Evaluation{kept}}), 1
	}
	return m
}

// decodeAnswer checks and decodes an answer.
func decodeAnswer(m *Answer) (*answer, error) {
	a := &answer{token: m.GetToken(), verdict: m.GetVerdict(), failure: api.Printable(m.GetFailure(), maxFailure)}
	if a.verdict < verdictSubmit || a.verdict > verdictContend {
		return nil, fmt.Errorf("unknown verdict %d", a.verdict)
	}
	commands, err := state.DecodeAppended(m.GetCommands())
	if err != nil {
		return nil, err
	}
	var ends []*api.Evaluation
	switch want := map[uint32]int{verdictSubmit: 2}[a.verdict]; {
	case want > 0 && len(commands) != want:
		return nil, fmt.Errorf("a result has %d commands, want %d", len(commands), want)
	case want == 0 && len(commands) > 1:
		return nil, fmt.Errorf("an answer without a result has %d commands", len(commands))
	case len(commands) > 0:
		if ends, err = evaluationsOf(commands[len(commands)-1]); err != nil {
			return nil, err
		}
	}
	if m.GetKept() > uint32(len(ends)) {
		return nil, fmt.Errorf("evaluation %d is missing", m.GetKept())
	}
	if m.GetKept() > 0 {
		a.kept = ends[m.GetKept()-1]
	}
	if a.verdict == verdictSubmit {
		commit, ok := commands[0].(*state.CommitPlacement)
		if !ok || commit.Placement == nil {
			return nil, fmt.Errorf("a result has no placement")
		}
		a.submission = &applier.Submission{Placement: commit.Placement, Ends: ends}
	}
	return a, nil
}

// maxFailure bounds the reason of a failure, in bytes.
const maxFailure = 500

// suits returns an error unless everything in the answer belongs to the delivered evaluation.
// A placement must not touch another job, except the evaluations of jobs that it preempts.
func (a *answer) suits(lead *api.Evaluation) error {
	job := lead.JobKey()
	if a.kept != nil && a.kept.JobKey() != job {
		return fmt.Errorf("evaluation %q is of another job than the delivery", a.kept.ID)
	}
	if a.submission == nil {
		return nil
	}
	if ends := a.submission.Ends; len(ends) > 0 && ends[0].JobKey() != job {
		return fmt.Errorf("evaluation %q is of another job than the delivery", ends[0].ID)
	}
	p := a.submission.Placement
	switch {
	case p.EvalID != "" && p.EvalID != lead.ID:
		return fmt.Errorf("the placement is of evaluation %q, and not of %q", p.EvalID, lead.ID)
	case p.Job != nil && (api.NamespacedID{Namespace: p.Job.Namespace, ID: p.Job.ID}) != job:
		return fmt.Errorf("the placement is of job %q, and not of %q", p.Job.ID, job.ID)
	case p.Deployment != nil && (p.Deployment.Namespace != job.Namespace || p.Deployment.JobID != job.ID):
		return fmt.Errorf("deployment %q is of another job than the delivery", p.Deployment.ID)
	case p.Restart != nil && (p.Restart.Namespace != job.Namespace || p.Restart.JobID != job.ID):
		return fmt.Errorf("restart %q is of another job than the delivery", p.Restart.ID)
	}
	for _, alloc := range p.Place {
		switch {
		case alloc.JobKey() != job:
			return fmt.Errorf("allocation %q is of another job than the delivery", alloc.ID)
		case alloc.ID == "" || alloc.NodeID == "":
			return fmt.Errorf("allocation %q has no id or no node", alloc.ID)
		}
	}
	a.submission.Job = job
	return nil
}

// encodeResult returns the message of the outcome of a submission.
func encodeResult(r *applier.Result, err error) *Result {
	if err != nil {
		return &Result{Error: api.Printable(err.Error(), maxFailure)}
	}
	m := &Result{Index: r.Index, Whole: r.Whole, Placed: uint32(r.Placed), Refresh: r.Refresh}
	for _, f := range r.Refused {
		m.Refused = append(m.Refused, &Refused{Allocation: f.AllocID, Node: f.NodeID, Reason: f.Reason})
	}
	return m
}

func decodeResult(m *Result) *applier.Result {
	r := &applier.Result{Index: m.GetIndex(), Whole: m.GetWhole(), Placed: int(m.GetPlaced()), Refresh: m.GetRefresh()}
	for _, f := range m.GetRefused() {
		r.Refused = append(r.Refused, placement.Refusal{AllocID: f.GetAllocation(), NodeID: f.GetNode(), Reason: f.GetReason()})
	}
	return r
}
