// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// routedJob is serviceJob's with a service, a check and a route.
func routedJob(id, host string) *api.Job {
	job := serviceJob(id, 2)
	g := job.Groups[0]
	g.Networks = []*api.Network{{Mode: "host", DynamicPorts: []api.Port{{Label: "http"}}}}
	g.Services = []*api.Service{{
		Name: id, Provider: "nomad", PortLabel: "http",
		Checks: []*api.Check{{Type: "http", Path: "/", Interval: 10 * time.Second, Timeout: time.Second}},
	}}
	g.Routes = []*api.Route{{Host: host, Port: "http"}}
	return job
}

func TestJobIsChangedWithoutRestart(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(routedJob("web", "web.example.com"))
		c.until("it is deployed", func(s *state.Snapshot) bool {
			return len(running(s, "web")) == 2 && deploymentStatus(s, "web") == api.DeploymentSuccessful
		})
		before := ids(running(c.Store().Snapshot(), "web"))
		stored := c.Store().Snapshot().Job("default", "web")
		group := stored.Groups[0].Name

		empty, err := c.ChangeJob(c.Context(), "default", "web", &api.JobChange{})
		if err != nil || empty.Changed || empty.EvalID != "" || empty.JobModifyIndex != stored.JobModifyIndex {
			t.Errorf("an empty change: %+v, %v", empty, err)
		}
		if c.Store().Snapshot().Job("default", "web") != stored {
			t.Error("an empty change changed the job")
		}

		resp, err := c.ChangeJob(c.Context(), "default", "web", &api.JobChange{
			JobModifyIndex: stored.JobModifyIndex,
			Annotation:     ptr("blue"),
			Groups: map[string]*api.GroupChange{group: {
				Count:      ptr(3),
				Routes:     &[]*api.Route{{Host: "www.example.com", Port: "http"}},
				MetricTags: &map[string]*api.MetricTag{"app": {Static: "web"}, "index": {Dynamic: api.MetricTagIndex}},
				Services: map[string]*api.ServiceChange{"web": {
					Tags: &[]string{"v2"}, Meta: &map[string]string{"team": "shop"},
					Checks: &[]*api.Check{{Type: "http", Path: "/health", Interval: 5 * time.Second, Timeout: time.Second}},
				}},
			}},
		})
		if err != nil || !resp.Changed || resp.Version != stored.Version+1 {
			t.Fatalf("the change: %+v, %v", resp, err)
		}
		// The deployment waits for the third instance, and for nothing that ran.
		c.within(time.Minute, "three run", func(s *state.Snapshot) bool {
			return len(running(s, "web")) == 3 && deploymentStatus(s, "web") == api.DeploymentSuccessful
		})
		after := running(c.Store().Snapshot(), "web")
		for _, id := range before {
			if !slices.Contains(ids(after), id) {
				t.Errorf("%s was replaced", id)
			}
		}
		for _, a := range after {
			if a.JobVersion() != resp.Version {
				t.Errorf("%s has version %d", a.Name, a.JobVersion())
			}
		}
		in := c.instance("web", group+"-2")
		if diff := cmp.Diff(map[string]string{"app": "web", "index": "2"}, in.MetricTags); diff != "" {
			t.Errorf("metric tags (-want +got):\n%s", diff)
		}

		_, err = c.ChangeJob(c.Context(), "default", "web", &api.JobChange{JobModifyIndex: stored.JobModifyIndex, Annotation: ptr("green")})
		if api.CodeOf(err) != api.CodeConflict {
			t.Errorf("check-and-set: %v", err)
		}
		_, err = c.ChangeJob(c.Context(), "default", "web", &api.JobChange{Groups: map[string]*api.GroupChange{
			"nothing": {}, group: {
				Services: map[string]*api.ServiceChange{"db": {}},
			},
		}})
		if text := whole(err); !strings.Contains(text, `no group "nothing"`) || !strings.Contains(text, `no service "db"; it has "web"`) {
			t.Errorf("what there is not: %s", text)
		}
		_, err = c.ChangeJob(c.Context(), "default", "web", &api.JobChange{Groups: map[string]*api.GroupChange{group: {
			Routes:     &[]*api.Route{{Host: "a b", Path: "x", Port: "nope"}},
			MetricTags: &map[string]*api.MetricTag{"x": {}},
			Services:   map[string]*api.ServiceChange{"web": {Checks: &[]*api.Check{{Type: "http", Path: "", Interval: -1}}}},
		}}})
		for _, want := range []string{`host "a b"`, `path "x"`, `port "nope"`, `metric_tag "x"`, "interval"} {
			if !strings.Contains(whole(err), want) {
				t.Errorf("%q is missing in\n%s", want, whole(err))
			}
		}
	})
}

// whole is an error with its details.
func whole(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Message + "\n" + strings.Join(e.Detail, "\n")
	}
	return "no *api.Error"
}

func TestNoRestartRefusesWhatNeedsOne(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := routedJob("web", "web.example.com")
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job, NoRestart: true})
		if api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("of a job that there is not: %v", err)
		}
		c.register(job)
		c.until("it runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 2 })
		stored := c.Store().Snapshot().Job("default", "web")
		other := job.Copy()
		other.Meta = map[string]string{"a": "b"}
		other.Annotation = "new"
		other.Groups[0].Tasks[0].Env = map[string]string{"A": "1"}
		other.Groups[0].Constraints = []*api.Constraint{{LTarget: "${node.class}", RTarget: "x", Operand: "="}}
		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: other, NoRestart: true})
		var e *api.Error
		if !errors.As(err, &e) {
			t.Fatalf("the change was not refused: %v", err)
		}
		group, task := job.Groups[0].Name, job.Groups[0].Tasks[0].Name
		want := []string{"Meta", `group "` + group + `", Constraints`, `group "` + group + `", task "` + task + `", Env`}
		if diff := cmp.Diff(want, e.Detail); diff != "" {
			t.Errorf("fields (-want +got):\n%s", diff)
		}
		if now := c.Store().Snapshot().Job("default", "web"); now.JobModifyIndex != stored.JobModifyIndex || now.Annotation != stored.Annotation {
			t.Errorf("nevertheless the job was changed at %d", now.JobModifyIndex)
		}
		job.Annotation = "only this"
		before := ids(running(c.Store().Snapshot(), "web"))
		if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job, NoRestart: true}); err != nil {
			t.Fatal(err)
		}
		c.until("it has the annotation", func(s *state.Snapshot) bool {
			all := running(s, "web")
			return len(all) == 2 && all[0].Job.Annotation == "only this" && deploymentStatus(s, "web") == api.DeploymentSuccessful
		})
		if now := ids(running(c.Store().Snapshot(), "web")); !slices.Equal(before, now) {
			t.Errorf("%v run, not %v", now, before)
		}
	})
}

// sharing is a job that shares the route of a host, or only wants it.
func sharing(id string, shared bool) *api.Job {
	job := routedJob(id, "web.example.com")
	job.Groups[0].Routes[0].Shared = shared
	return job
}

func TestRouteIsSharedByJobsThatAllSaySo(t *testing.T) {
	simulate(t, func(c *cluster) {
		refused := func(job *api.Job, why string) {
			t.Helper()
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
			if api.CodeOf(err) != api.CodeConflict || !strings.Contains(whole(err), `of job "blue" in namespace "default"`+why) || !strings.Contains(whole(err), "shared = true in each") {
				t.Errorf("job %s: %s; want a conflict that says %q", job.ID, whole(err), why)
			}
		}
		c.register(sharing("blue", true))
		refused(sharing("green", false), ", which shares it: set shared = true here, too")
		c.register(sharing("green", true))
		c.register(sharing("red", true))
		if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: sharing("green", false)}); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a job takes a shared route for itself: %v", err)
		}
		for _, id := range []string{"green", "red"} {
			if _, err := c.DeregisterJob(c.Context(), "default", id, server.DeregisterOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		c.register(sharing("blue", false))
		refused(sharing("green", true), ", which does not share it: its route has no shared = true")

		// All of a job's routes to one place must say so.
		two := sharing("blue", true)
		g := two.Copy().Groups[0]
		g.Name, g.Services, g.Routes[0].Shared = "second", nil, false
		two.Groups = append(two.Groups, g)
		c.register(two)
		refused(sharing("green", true), ", which does not share it: its route has no shared = true")
	})
}

func TestRouteBelongsToOneJob(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.register(routedJob("web", "web.example.com"))
		thief := routedJob("shop", "WEB.example.com")
		thief.Groups[0].Routes = append(thief.Groups[0].Routes, &api.Route{Host: "web.example.com", Path: "/api", Port: "http"})
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: thief})
		if api.CodeOf(err) != api.CodeConflict || !strings.Contains(whole(err), `web.example.com/ is routed to group "`+thief.Groups[0].Name+`" of job "web" in namespace "default"`) {
			t.Errorf("the route of another job: %s", whole(err))
		}
		if n := len(strings.Split(whole(err), "\n")); n != 2 {
			t.Errorf("another path is another route: %s", whole(err))
		}
		if v := c.ValidateJob(c.Context(), thief); v.Error == "" {
			t.Error("validating does not tell")
		}
		passed := routedJob("tunnel", "web.example.com")
		passed.Groups[0].Routes = []*api.Route{{Host: "web.example.com", Port: "http", TLS: &api.RouteTLS{Mode: api.TLSPassthrough}}}
		if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: passed}); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("another job takes the TLS connections of the host: %v", err)
		}
		c.register(routedJob("web", "web.example.com")) // its own
		if _, err := c.DeregisterJob(c.Context(), "default", "web", server.DeregisterOptions{}); err != nil {
			t.Fatal(err)
		}
		c.register(thief)
		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: routedJob("web", "web.example.com")})
		if api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a stopped job kept its route: %v", err)
		}
		_, err = c.ChangeJob(c.Context(), "default", "shop", &api.JobChange{Groups: map[string]*api.GroupChange{
			thief.Groups[0].Name: {Routes: &[]*api.Route{{Protocol: api.RouteTCP, Listen: 5432, Port: "http"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		c.register(routedJob("web", "web.example.com")) // it is free now
		tcp := routedJob("db", "")
		tcp.Groups[0].Routes = []*api.Route{{Protocol: api.RouteTCP, Listen: 5432, Port: "http"}}
		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: tcp})
		if !strings.Contains(whole(err), `tcp port 5432 is routed to`) {
			t.Errorf("a port of the router's: %s", whole(err))
		}
	})
}

func TestOneOfManyWinsARoute(t *testing.T) {
	simulate(t, func(c *cluster) {
		const n = 16
		errs := make([]error, n)
		var done sync.WaitGroup
		for i := range n {
			done.Go(func() {
				_, errs[i] = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: routedJob("web"+string(rune('a'+i)), "web.example.com")})
			})
		}
		done.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if api.CodeOf(err) != api.CodeConflict {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d registrations got the route", won, n)
		}
	})
}
