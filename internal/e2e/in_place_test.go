// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// reached asks the router for a host until the answer has a status.
func (m *machine) reached(host string, status int) {
	m.t.Helper()
	s, err := m.Client.Status().Router(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	m.eventually(fmt.Sprintf("the router answers %d for %s", status, host), func(ctx context.Context) error {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.HTTP+"/", nil)
		if err != nil {
			return err
		}
		q.Host = host
		resp, err := http.DefaultTransport.RoundTrip(q)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			return fmt.Errorf("%s", resp.Status)
		}
		return nil
	})
}

// TestChangeInPlaceKeepsProcesses changes everything that may be changed of a job
// that runs: processes and instance ids stay, tags are bumped, checks and traffic
// follow.
func TestChangeInPlaceKeepsProcesses(t *testing.T) {
	m := newMachine(t)
	m.deployed("1")
	before := m.instances("web", "all run", allUp(3))
	pids := m.servers()
	change := func(what string, g api.GroupChange) *api.ChangeJobResponse {
		t.Helper()
		resp, err := m.Client.Jobs().Change(t.Context(), "web", &api.JobChange{Groups: map[string]*api.GroupChange{"main": &g}})
		if err != nil || !resp.Changed {
			t.Fatalf("%s: %+v, %v", what, resp, err)
		}
		return resp
	}
	// same are the instances that were there, once all have a version.
	same := func(what string, version uint64, ok func([]*api.Instance) bool) []*api.Instance {
		t.Helper()
		now := m.instances("web", what, func(list []*api.Instance) bool {
			return ok(list) && !slices.ContainsFunc(list, func(in *api.Instance) bool { return in.JobVersion != version })
		})
		for i, in := range now[:min(len(now), len(before))] {
			old := before[i]
			if in.Allocation != old.Allocation || in.ModificationTag.Epoch != old.ModificationTag.Epoch || in.ModificationTag.Index <= old.ModificationTag.Index {
				t.Errorf("%s: %s is %s with tag %+v; it was %s with %+v", what, in.Name, in.Allocation, in.ModificationTag, old.Allocation, old.ModificationTag)
			}
		}
		before = now
		return now
	}

	// Tags of services and metrics, and the annotation.
	resp, err := m.Client.Jobs().Change(t.Context(), "web", &api.JobChange{
		Annotation: ptr("owner: shop"),
		Groups: map[string]*api.GroupChange{"main": {
			MetricTags: &map[string]*api.MetricTag{"app": {Static: "shop"}, "index": {Dynamic: api.MetricTagIndex}},
			Services:   map[string]*api.ServiceChange{"web": {Tags: &[]string{"blue"}}},
		}},
	})
	if err != nil || !resp.Changed {
		t.Fatalf("%+v, %v", resp, err)
	}
	for i, in := range same("has tags", resp.Version, allUp(3)) {
		if diff := cmp.Diff(map[string]string{"app": "shop", "index": fmt.Sprint(i)}, in.MetricTags); diff != "" {
			t.Errorf("%s: metric tags (-want +got):\n%s", in.Name, diff)
		}
	}
	m.eventually("the service has the new tag", func(ctx context.Context) error {
		list, _, err := m.Client.Services().Get(ctx, "web", nil)
		if err != nil {
			return err
		}
		if len(list) != 3 || slices.ContainsFunc(list, func(r *api.ServiceRegistration) bool { return !slices.Equal(r.Tags, []string{"blue"}) }) {
			return fmt.Errorf("registrations: %+v", list)
		}
		return nil
	})

	// Traffic follows its route.
	resp = change("routes", api.GroupChange{Routes: &[]*api.Route{{Host: "new.test", Port: "http"}}})
	same("has another route", resp.Version, allUp(3))
	m.reached("new.test", http.StatusOK)
	m.reached("web.test", http.StatusServiceUnavailable) // nothing is behind it any more

	// The checks that run are the new ones.
	check := *routedJob(m.Reeve, "1").Groups[0].Services[0].Checks[0]
	check.Path = "/"
	resp = change("a check's path", api.GroupChange{Services: map[string]*api.ServiceChange{"web": {Checks: &[]*api.Check{&check}}}})
	same("is ready by its new check", resp.Version, allUp(3))
	check.Path = "/healthz"
	resp = change("the path back", api.GroupChange{Services: map[string]*api.ServiceChange{"web": {Checks: &[]*api.Check{&check}}}})
	same("is ready again", resp.Version, allUp(3))
	m.reached("new.test", http.StatusOK)

	// More, and then fewer: the highest indexes go.
	resp = change("five", api.GroupChange{Count: ptr(5)})
	same("five run", resp.Version, allUp(5))
	resp = change("two", api.GroupChange{Count: ptr(2)})
	left := same("two run", resp.Version, allUp(2))
	for i, in := range left {
		if in.Index != i {
			t.Errorf("%s is left", in.Name)
		}
	}
	m.eventually("two of the first processes are left", func(context.Context) error {
		if now := m.servers(); len(now) != 2 || !slices.Contains(pids, now[0]) || !slices.Contains(pids, now[1]) {
			return fmt.Errorf("processes %v; at first %v", now, pids)
		}
		return nil
	})
	// Nothing of the last change is still to be reported: health moves tags, too.
	m.eventually("the last change is deployed", func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, "web", nil)
		if err != nil || d == nil || d.Status == api.DeploymentSuccessful {
			return err
		}
		return fmt.Errorf("deployment of version %d is %s", d.JobVersion, d.Status)
	})
	m.refusesWhatNeedsARestart(m.instances("web", "two run", allUp(2)))
}

// patch sends a change as it is written.
func (m *machine) patch(job, body string) (text string, status int) {
	m.t.Helper()
	q, err := http.NewRequestWithContext(m.t.Context(), http.MethodPatch, "http://"+m.Addr+"/v1/job/"+job, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(answer), resp.StatusCode
}

// refusesWhatNeedsARestart asks for what may not be had in place: nothing of it is
// done.
func (m *machine) refusesWhatNeedsARestart(instances []*api.Instance) {
	m.t.Helper()
	ctx, pids := m.t.Context(), m.servers()
	stored, _, err := m.Client.Jobs().Get(ctx, "web", nil)
	if err != nil {
		m.t.Fatal(err)
	}
	empty, err := m.Client.Jobs().Change(ctx, "web", &api.JobChange{})
	if err != nil || empty.Changed || empty.JobModifyIndex != stored.JobModifyIndex {
		m.t.Errorf("an empty change: %+v, %v", empty, err)
	}
	_, err = m.Client.Jobs().Change(ctx, "web", &api.JobChange{JobModifyIndex: stored.JobModifyIndex - 1, Annotation: ptr("late")})
	if api.CodeOf(err) != api.CodeConflict {
		m.t.Errorf("check-and-set: %v", err)
	}
	if _, err = m.Client.Jobs().Change(ctx, "gone", &api.JobChange{}); api.CodeOf(err) != api.CodeNotFound {
		m.t.Errorf("of a job that there is not: %v", err)
	}
	text, code := m.patch("web", `{"Priority": 90, "Annotation": "new", "Groups": {"main": {"Count": 4, "Tasks": [], "Restart": {}}}}`)
	for _, want := range []string{"Priority cannot be changed here", "Groups.main.Tasks cannot", "Groups.main.Restart cannot"} {
		if code != http.StatusBadRequest || !strings.Contains(text, want) {
			m.t.Errorf("fields that need a restart: %d %s, without %q", code, text, want)
		}
	}
	other := stored
	other.Annotation = "new"
	other.Groups[0].Tasks[0].Env = maps.Clone(other.Groups[0].Tasks[0].Env)
	other.Groups[0].Tasks[0].Env["VERSION"] = "2"
	other.Groups[0].Tasks[0].KillTimeout = ptr(time.Minute)
	_, err = m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: other, NoRestart: true})
	if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), `group "main", task "task", Env`) {
		m.t.Errorf("a version that needs a restart: %v", err)
	}
	now, _, err := m.Client.Jobs().Get(ctx, "web", nil)
	if err != nil || now.Annotation != "owner: shop" || now.JobModifyIndex != empty.JobModifyIndex {
		m.t.Errorf("the job was changed: %+v, %v", now, err)
	}
	for i, in := range m.instances("web", "two run", allUp(2)) {
		if in.ModificationTag != instances[i].ModificationTag {
			m.t.Errorf("%s was changed: %+v", in.Name, in.ModificationTag)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(m.servers())), slices.Sorted(slices.Values(pids))) {
		m.t.Errorf("processes %v became %v", pids, m.servers())
	}
}

// TestChangedCheckThatFailsIsTriedOnOneInstance changes a check in place to one
// that nothing passes: one instance alone loses its traffic, the deployment fails,
// and goes back.
func TestChangedCheckThatFailsIsTriedOnOneInstance(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.deployed("1")
	pids := m.servers()
	job := routedJob(m.Reeve, "1")
	u := job.Groups[0].Update
	u.AutoRevert, u.HealthyDeadline, u.ProgressDeadline = ptr(true), ptr(3*time.Second), ptr(4*time.Second)
	job.Groups[0].Services[0].Checks[0].Path = "/nothing"
	m.register(job)

	worst := 0
	m.eventually("the deployment fails", func(ctx context.Context) error {
		list, _, err := m.Client.Instances().List(ctx, "web", nil)
		if err != nil {
			return err
		}
		away := 0
		for _, in := range list {
			if !in.Routable {
				away++
				if !strings.Contains(in.Message, `check "ready"`) {
					t.Errorf("%s is not routable because of %q", in.Name, in.Message)
				}
			}
		}
		worst = max(worst, away)
		all, _, err := m.Client.Jobs().Deployments(ctx, "web", false, nil)
		if err != nil {
			return err
		}
		for _, d := range all {
			if d.JobVersion == 1 && d.Status == api.DeploymentFailed {
				if len(d.Troubles) != 1 || d.Troubles[0].StatusCode != http.StatusNotFound {
					t.Errorf("the deployment failed for %+v", d.Troubles)
				}
				return nil
			}
		}
		return fmt.Errorf("%d instances are not routable", away)
	})
	if worst != 1 {
		t.Errorf("%d instances of 3 lost their traffic, want one", worst)
	}
	back := m.instances("web", "is ready again", allUp(3))
	for _, in := range back {
		if in.JobVersion != 2 {
			t.Errorf("%s has version %d after going back", in.Name, in.JobVersion)
		}
	}
	if now := m.servers(); !slices.Equal(slices.Sorted(slices.Values(now)), slices.Sorted(slices.Values(pids))) {
		t.Errorf("processes %v; they were %v", now, pids)
	}
}
