// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// rig is a leader whose other servers are played by the test.
type rig struct {
	testing.TB
	store  *state.Store
	leader *Leader
}

func run(t testing.TB, f func(r *rig)) {
	r := &rig{TB: t, store: state.New()}
	logger := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tracker := fleet.New()
	b := broker.New(broker.Config{Logger: logger, Types: broker.NoTypes, Write: func(_ context.Context, evals []*api.Evaluation) error {
		r.apply(&state.PutEvaluations{Evaluations: evals})
		return nil
	}})
	a := applier.New(applier.Env{
		Store: r.store, Fleet: tracker, Logger: logger,
		Propose: func(_ context.Context, cmds ...state.Command) (uint64, []error, error) {
			index, errs := r.apply(cmds...)
			return index, errs, nil
		},
	})
	r.leader = NewLeader(ctx, LeaderEnv{Store: r.store, Broker: b, Applier: a, Logger: logger, Refused: func(placement.Refusal) {}})
	var running sync.WaitGroup
	running.Go(func() { _ = tracker.Run(ctx, r.store) })
	running.Go(func() { _ = b.Run(ctx, r.store) })
	running.Go(func() { a.Run(ctx) })
	running.Go(r.leader.Run)
	f(r)
	cancel()
	running.Wait()
}

func (r *rig) apply(cmds ...state.Command) (uint64, []error) {
	index := r.store.Index() + 1
	return index, r.store.Apply(index, cmds)
}

// register stores a job of one instance and its evaluation.
func (r *rig) register(id string) *api.Evaluation {
	job := &api.Job{
		ID: id, Type: api.JobTypeBatch, Datacenters: []string{"*"},
		Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock_driver"}}}},
	}
	job.Canonicalize()
	eval := &api.Evaluation{
		ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: 50,
		TriggeredBy: api.TriggerJobRegister, Status: api.EvalStatusPending,
	}
	r.apply(&state.RegisterJob{Job: job, Evaluation: eval})
	return eval
}

// poll polls once, and returns what the server gets.
func (r *rig) poll(server, session string, limit int, holds ...uint64) []*Delivery {
	r.Helper()
	body, _ := (&Poll{Session: session, Holds: holds, Limit: uint32(limit), WaitMs: 100, Types: uint32(broker.AllTypes)}).MarshalVT()
	reply, err := r.leader.Poll(r.Context(), server, body)
	var m Polled
	if err == nil {
		err = m.UnmarshalVT(reply)
	}
	if err != nil {
		r.Fatal(err)
	}
	return m.Deliveries
}

// ack answers that nothing is to be done for the delivery, which ends the evaluation in the state.
func (r *rig) done(token uint64, eval *api.Evaluation) *Answer {
	ended := eval.Copy()
	ended.Status = api.EvalStatusComplete
	return encodeSubmission(token, &applier.Submission{Placement: &state.Placement{EvalID: eval.ID}, Ends: []*api.Evaluation{ended}}, nil)
}

func (r *rig) answer(server, session string, answers ...*Answer) ([]*Result, error) {
	r.Helper()
	body, _ := (&Answers{Session: session, Answers: answers}).MarshalVT()
	reply, err := r.leader.Answer(server, body)
	if err != nil {
		return nil, err
	}
	var m Results
	if err := m.UnmarshalVT(reply); err != nil {
		r.Fatal(err)
	}
	return m.Results, nil
}

func (r *rig) status(e *api.Evaluation) string { return r.store.Snapshot().Evaluation(e.ID).Status }

func TestResultEndsTheEvaluation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		run(t, func(r *rig) {
			e := r.register("web")
			got := r.poll("s2", "1", 8)
			if len(got) != 1 || len(r.poll("s2", "1", 8, got[0].Token)) != 0 {
				t.Fatalf("got %d deliveries, want one, once", len(got))
			}
			d, err := decodeDelivery(got[0])
			if err != nil || d.Evaluation.ID != e.ID || d.Attempt != 1 {
				t.Fatalf("delivery %+v: %v", d, err)
			}
			results, err := r.answer("s2", "1", r.done(got[0].Token, e))
			if err != nil || !results[0].Whole || r.status(e) != api.EvalStatusComplete {
				t.Errorf("results %v, %v; the evaluation is %s", results, err, r.status(e))
			}
			if results, _ = r.answer("s2", "1", r.done(got[0].Token, e)); !results[0].Lost {
				t.Error("the token is valid after its result")
			}
		})
	})
}

func TestLateAnswersAreRefused(t *testing.T) {
	for name, lose := range map[string]func(r *rig){
		"the server is silent":        func(*rig) { time.Sleep(silence + 3*time.Second) },
		"the server does not name it": func(r *rig) { r.poll("s2", "1", 0) },
		"the server was restarted":    func(r *rig) { r.poll("s2", "2", 0) },
		"the broker's deadline has past": func(r *rig) {
			for range 40 {
				time.Sleep(2 * time.Second)
				r.leader.mu.Lock()
				for token := range r.leader.lessees["s2"].held {
					r.leader.mu.Unlock()
					r.poll("s2", "1", 0, token)
					r.leader.mu.Lock()
					break
				}
				r.leader.mu.Unlock()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				run(t, func(r *rig) {
					e := r.register("web")
					first := r.poll("s2", "1", 8)[0]
					lose(r)
					synctest.Wait()
					second := r.poll("s3", "1", 8)
					if len(second) != 1 {
						t.Fatalf("another server got %d deliveries, want one", len(second))
					}
					before := r.store.Index()
					for _, session := range []string{"1", "2"} {
						if results, err := r.answer("s2", session, r.done(first.Token, e)); err != nil || !results[0].Lost {
							t.Errorf("a late answer: %v, %v", results, err)
						}
						if results, err := r.answer("s2", session, r.done(second[0].Token, e)); err != nil || !results[0].Lost {
							t.Errorf("an answer with another server's token: %v, %v", results, err)
						}
					}
					if after := r.store.Index(); after != before {
						t.Errorf("late answers changed the state from %d to %d", before, after)
					}
					if results, err := r.answer("s3", "1", r.done(second[0].Token, e)); err != nil || !results[0].Whole {
						t.Errorf("the owner's answer: %v, %v", results, err)
					}
				})
			})
		})
	}
}

func TestContendedEvaluationReturnsAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		run(t, func(r *rig) {
			r.register("web")
			got := r.poll("s2", "1", 8)[0]
			for attempt := range 5 {
				verdict := uint32(verdictReturn + attempt%2)
				if _, err := r.answer("s2", "1", &Answer{Token: got.Token, Verdict: verdict}); err != nil {
					t.Fatal(err)
				}
				again := r.poll("s2", "1", 8)
				if len(again) != 1 || again[0].Attempt != 1 {
					t.Fatalf("got %v after verdict %d, want the first attempt again", again, verdict)
				}
				got = again[0]
			}
		})
	})
}

// TestForeignResultsAreRefused sends results that do not belong to the delivery. The request is
// refused as a whole.
func TestForeignResultsAreRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		run(t, func(r *rig) {
			web, other := r.register("web"), r.register("other")
			tokens := map[string]uint64{}
			for _, m := range r.poll("s2", "1", 8) {
				d, err := decodeDelivery(m)
				if err != nil {
					t.Fatal(err)
				}
				tokens[d.Evaluation.JobID] = m.Token
			}
			foreign := &api.Allocation{ID: api.NewID(), Namespace: "default", JobID: "other", NodeID: "n", Name: "other.g[0]", Job: &api.Job{Namespace: "default", ID: "other"}}
			good := r.done(tokens["other"], other)
			before := r.store.Index()
			for name, bad := range map[string]*Answer{
				"another job's evaluation": r.done(tokens["web"], other),
				"another job's allocation": encodeSubmission(tokens["web"], &applier.Submission{Placement: &state.Placement{EvalID: web.ID, Place: []*api.Allocation{foreign}}}, nil),
				"another job":              encodeSubmission(tokens["web"], &applier.Submission{Placement: &state.Placement{EvalID: web.ID, Job: &api.Job{Namespace: "default", ID: "other"}}}, nil),
				"another job's deployment": encodeSubmission(tokens["web"], &applier.Submission{Placement: &state.Placement{EvalID: web.ID, Deployment: &api.Deployment{ID: "d", JobID: "other"}}}, nil),
				"no verdict":               {Token: tokens["web"]},
				"another command":          {Token: tokens["web"], Verdict: verdictSubmit, Commands: state.AppendCommand(state.AppendCommand(nil, &state.BeginTimeline{ID: "x"}), &state.PutEvaluations{})},
				"garbage":                  {Token: tokens["web"], Verdict: verdictSubmit, Commands: []byte("garbage")},
				"a missing evaluation":     {Token: tokens["web"], Verdict: verdictAck, Kept: 7},
			} {
				if _, err := r.answer("s2", "1", good, bad); api.CodeOf(err) != api.CodeInvalid {
					t.Errorf("%s: %v", name, err)
				}
			}
			if after := r.store.Index(); after != before {
				t.Errorf("refused requests changed the state from %d to %d", before, after)
			}
			for _, body := range []string{"garbage", "\x12\xff\xff\xff\xff\x0f"} {
				if _, err := r.leader.Answer("s2", []byte(body)); api.CodeOf(err) != api.CodeInvalid {
					t.Errorf("answers %q: %v", body, err)
				}
				if _, err := r.leader.Poll(t.Context(), "s2", []byte(body)); api.CodeOf(err) != api.CodeInvalid {
					t.Errorf("poll %q: %v", body, err)
				}
			}
			if results, err := r.answer("s2", "1", good); err != nil || !results[0].Whole {
				t.Errorf("the good answer alone: %v, %v", results, err)
			}
		})
	})
}

// FuzzMessages feeds the decoders of both sides.
func FuzzMessages(f *testing.F) {
	e := &api.Evaluation{ID: api.NewID(), Namespace: "default", JobID: "web", Type: api.JobTypeBatch, Status: api.EvalStatusPending}
	delivery, _ := (&Polled{Deliveries: []*Delivery{encodeDelivery(7, &broker.Delivery{Evaluation: e, Blocked: e})}}).MarshalVT()
	answers, _ := (&Answers{Session: "1", Answers: []*Answer{
		encodeAck(7, e), encodeSubmission(8, &applier.Submission{Placement: &state.Placement{EvalID: e.ID}, Ends: []*api.Evaluation{e}}, e),
	}}).MarshalVT()
	for _, seed := range [][]byte{delivery, answers, []byte("garbage"), nil} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var polled Polled
		if polled.UnmarshalVT(body) == nil {
			for _, m := range polled.Deliveries {
				if d, err := decodeDelivery(m); err == nil && (d.Evaluation == nil || d.Evaluation.ID == "") {
					t.Error("a delivery without an evaluation passes")
				}
			}
		}
		var list Answers
		if list.UnmarshalVT(body) != nil {
			return
		}
		for _, m := range list.Answers {
			a, err := decodeAnswer(m)
			if err != nil || a.suits(e) != nil || a.submission == nil {
				continue
			}
			if a.submission.Job != e.JobKey() {
				t.Errorf("a result of job %v passes for %v", a.submission.Job, e.JobKey())
			}
			resolve(state.New().Snapshot(), a.submission.Placement)
		}
	})
}
