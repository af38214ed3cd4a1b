// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// periodicJob registers a job with a schedule, as of now.
func (w *world) periodicJob(now time.Time, id string, p api.Periodic) *api.Job {
	w.Helper()
	w.apply(&state.RegisterJob{Job: &api.Job{
		ID: id, Namespace: "default", Type: api.JobTypeBatch, SubmitTime: now.UnixNano(), Periodic: &p, Groups: []*api.Group{{Name: "g"}},
	}})
	return w.store.Snapshot().Job("default", id)
}

// act lets the controller act on a job, applies what it says, and returns the
// ids of the children that came, and when it wants to look again.
func (w *world) act(id string, now time.Time) (children []string, wake time.Time) {
	w.Helper()
	before := map[string]bool{}
	for j := range w.store.Snapshot().JobsPrefix("default", id+"/") {
		before[j.ID] = true
	}
	cmds, wake := control.NewPeriodic().Act(w.store.Snapshot(), "default\x00"+id, now)
	w.apply(cmds...)
	for j := range w.store.Snapshot().JobsPrefix("default", id+"/") {
		if !before[j.ID] {
			children = append(children, strings.TrimPrefix(j.ID, id+api.PeriodicLaunchSuffix))
		}
	}
	return children, wake
}

// end lets a child's evaluation end without anything to run.
func (w *world) end(id string) {
	w.Helper()
	for e := range w.store.Snapshot().EvaluationsByJob("default", id) {
		c := e.Copy()
		c.Status = api.EvalStatusComplete
		w.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{c}})
	}
}

// midnight is the first after t0, which is in the morning.
var midnight = t0.Truncate(24 * time.Hour).Add(24 * time.Hour)

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func wantStarts(t *testing.T, what string, got []string, want ...time.Time) {
	t.Helper()
	var ids []string
	for _, w := range want {
		ids = append(ids, unix(w))
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("%s: children (-want +got):\n%s", what, diff)
	}
}

func TestPeriodicJobIsStartedWhenItIsDue(t *testing.T) {
	w := newWorld(t)
	w.periodicJob(t0, "nightly", api.Periodic{Specs: []string{"@daily"}})
	got, wake := w.act("nightly", t0.Add(time.Minute))
	wantStarts(t, "before it is due", got)
	if !wake.Equal(midnight) {
		t.Errorf("looks again at %s, want midnight", wake)
	}
	got, wake = w.act("nightly", midnight)
	wantStarts(t, "at midnight", got, midnight)
	if !wake.Equal(midnight.Add(24 * time.Hour)) {
		t.Errorf("looks again at %s, want the next midnight", wake)
	}
	got, _ = w.act("nightly", midnight.Add(time.Second))
	wantStarts(t, "a second later", got)

	child := w.store.Snapshot().Job("default", api.PeriodicChildID("nightly", midnight))
	for e := range w.store.Snapshot().EvaluationsByJob("default", child.ID) {
		if e.TriggeredBy != api.TriggerPeriodicJob || e.Status != api.EvalStatusPending {
			t.Errorf("evaluation %+v, want a pending one by %s", e, api.TriggerPeriodicJob)
		}
	}
}

func TestOnlyTheLatestMissedStartIsMadeUpFor(t *testing.T) {
	w := newWorld(t)
	w.periodicJob(t0, "hourly", api.Periodic{Specs: []string{"@hourly"}})
	got, _ := w.act("hourly", midnight.Add(30*time.Minute))
	wantStarts(t, "after hours without a leader", got, midnight)
	got, _ = w.act("hourly", midnight.Add(time.Hour))
	wantStarts(t, "an hour later", got, midnight.Add(time.Hour))
}

func TestOverlapIsPassedOverNotQueued(t *testing.T) {
	w := newWorld(t)
	yes := true
	w.periodicJob(t0, "nightly", api.Periodic{Specs: []string{"@daily"}, ProhibitOverlap: &yes})
	got, _ := w.act("nightly", midnight)
	wantStarts(t, "the first", got, midnight)
	second, third := midnight.Add(24*time.Hour), midnight.Add(48*time.Hour)
	got, _ = w.act("nightly", second)
	wantStarts(t, "while the first runs", got)
	if l := w.store.Snapshot().Launches("default", "nightly"); !l.Skipped.Equal(second) {
		t.Errorf("skipped is %s, want %s", l.Skipped, second)
	}
	w.end(api.PeriodicChildID("nightly", midnight))
	got, _ = w.act("nightly", second.Add(time.Hour))
	wantStarts(t, "when the first has ended", got)
	got, _ = w.act("nightly", third)
	wantStarts(t, "the next time", got, third)
}

func TestAnotherScheduleCountsFromItsRegistration(t *testing.T) {
	w := newWorld(t)
	w.periodicJob(t0, "j", api.Periodic{Specs: []string{"@daily"}})
	// What was due earlier today by the new schedule is not made up for.
	w.periodicJob(t0.Add(time.Minute), "j", api.Periodic{Specs: []string{"* * * * *"}})
	due := t0.Add(time.Minute).Truncate(time.Minute).Add(time.Minute)
	got, wake := w.act("j", due.Add(-time.Second))
	wantStarts(t, "registered again", got)
	if !wake.Equal(due) {
		t.Errorf("looks again at %s, want %s", wake, due)
	}
	// The same once more changes nothing, though its time has passed meanwhile.
	w.periodicJob(due.Add(2*time.Second), "j", api.Periodic{Specs: []string{"* * * * *"}})
	got, _ = w.act("j", due.Add(3*time.Second))
	wantStarts(t, "registered again as it was", got, due)
}

func TestStoppedAndDisabledJobsStartNothing(t *testing.T) {
	w := newWorld(t)
	no, yes := false, true
	w.periodicJob(t0, "off", api.Periodic{Specs: []string{"@daily"}, Enabled: &no})
	w.periodicJob(t0, "stopped", api.Periodic{Specs: []string{"@daily"}})
	w.act("stopped", midnight)
	w.deregister("stopped", false)
	for _, id := range []string{"off", "stopped"} {
		if got, wake := w.act(id, midnight.Add(24*time.Hour)); len(got) > 0 || !wake.IsZero() {
			t.Errorf("%s: started %v, looks again at %s; want nothing", id, got, wake)
		}
	}
	if child := w.store.Snapshot().Job("default", api.PeriodicChildID("stopped", midnight)); child == nil || child.Stop {
		t.Error("stopping a job stopped what it had started")
	}
	// What was due while it was off is not made up for.
	w.periodicJob(midnight.Add(30*time.Hour), "off", api.Periodic{Specs: []string{"@daily"}, Enabled: &yes})
	got, _ := w.act("off", midnight.Add(31*time.Hour))
	wantStarts(t, "enabled again", got)
}

// TestEveryDueTimeIsMetOnce lets leaders come and go for weeks of virtual time,
// some of whose writes are made although they fail. Every due time at which
// somebody led has one child; those that nobody led at have none, but for the
// latest before a leader came.
func TestEveryDueTimeIsMetOnce(t *testing.T) {
	const every = 10 * time.Minute
	for seed := range uint64(4) {
		bubble.Test(t, func(t *testing.T) {
			random, fates := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			w := newWorld(t)
			w.periodicJob(time.Now(), "often", api.Periodic{Specs: []string{"*/10 * * * *"}})
			env := control.Env{Store: w.store, Logger: slog.New(slog.DiscardHandler)}
			env.Propose = func(ctx context.Context, cmds ...state.Command) ([]error, error) {
				fate := fates.IntN(4)
				if fate == 0 {
					return nil, errors.New("the leader lost its followers")
				}
				errs := w.store.Apply(w.store.Index()+1, cmds)
				if fate == 1 {
					return nil, errors.New("the leader was killed before it could answer")
				}
				return errs, nil
			}
			want := map[string]bool{}
			for range 40 {
				from := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					control.Run(ctx, env, control.NewPeriodic())
					close(ended)
				}()
				// Long enough for what failed to be tried again, and never at a due
				// time.
				time.Sleep(time.Duration(1+random.IntN(100))*every/2 + every/4 + 7*time.Second)
				cancel()
				<-ended
				until := time.Now()
				if at := from.Truncate(every); len(want) > 0 {
					want[unix(at)] = true // made up for, or met when it was due
				}
				for at := from.Truncate(every).Add(every); at.Before(until); at = at.Add(every) {
					want[unix(at)] = true
				}
				time.Sleep(time.Duration(random.IntN(10)) * every / 3)
			}
			got := map[string]bool{}
			for j := range w.store.Snapshot().JobsPrefix("default", "often/") {
				got[strings.TrimPrefix(j.ID, "often"+api.PeriodicLaunchSuffix)] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d: due times with a child (-want +got):\n%s", seed, diff)
			}
		})
	}
}
