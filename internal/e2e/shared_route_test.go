// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// colored is one of two jobs that share a route, by weight.
func colored(reeve, color string, weight int) *api.Job {
	job := routedJob(reeve, color)
	job.ID, job.Name = color, color
	g := job.Groups[0]
	g.Count = ptr(2)
	g.Services[0].Name = color
	g.Routes = []*api.Route{{Host: "web.test", Port: "http", Shared: true, Weight: ptr(weight)}}
	return job
}

// TestBlueGreenOverASharedRouteLosesNoRequest moves traffic from one job to
// another by the weights of a route that both share, and back, while clients ask
// all the time. No instance is restarted for that.
func TestBlueGreenOverASharedRouteLosesNoRequest(t *testing.T) {
	m := newMachine(t)
	m.register(colored(m.Reeve, "blue", 1))
	m.eventually("blue is routed", func(ctx context.Context) error { return m.routed(ctx, 2) })
	h := m.hammer(4)
	m.register(colored(m.Reeve, "green", 0))
	m.eventually("green is routed, too", func(ctx context.Context) error { return m.routed(ctx, 4) })
	if got := m.colors(40); !slices.Equal(got, []string{"blue"}) {
		t.Errorf("with blue 1 and green 0, %v answer", got)
	}
	before := m.colored()
	for _, c := range []struct {
		blue, green int
		want        []string
	}{{1, 1, []string{"blue", "green"}}, {0, 1, []string{"green"}}, {1, 0, []string{"blue"}}} {
		m.register(colored(m.Reeve, "green", max(c.green, 1)))
		m.register(colored(m.Reeve, "blue", c.blue))
		m.register(colored(m.Reeve, "green", c.green))
		m.eventually(fmt.Sprintf("with blue %d and green %d, %v answer", c.blue, c.green, c.want), func(context.Context) error {
			if got := m.colors(40); !slices.Equal(got, c.want) {
				return fmt.Errorf("%v answer", got)
			}
			return nil
		})
	}
	if after := m.colored(); !slices.Equal(before, after) {
		t.Errorf("%v run now, and %v before", after, before)
	}
	m.reeve("job", "stop", "green")
	m.eventually("blue alone is routed", func(ctx context.Context) error { return m.routed(ctx, 2) })
	h.stop()
	if lost := h.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, the first: %s", lost, h.sent.Load(), h.first)
	}
	t.Logf("%d requests", h.sent.Load())
}

// colors asks so many times, and lists who answered.
func (m *machine) colors(times int) (found []string) {
	m.t.Helper()
	s, err := m.Client.Status().Router(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for range times {
		q, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://"+s.HTTP+"/", nil)
		if err != nil {
			m.t.Fatal(err)
		}
		q.Host = "web.test"
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			m.t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			m.t.Fatal(err)
		}
		_, color, _ := strings.Cut(strings.TrimSpace(string(text)), "version ")
		if !slices.Contains(found, color) {
			found = append(found, color)
		}
	}
	slices.Sort(found)
	return found
}

// colored lists the allocations of both jobs, with their restarts.
func (m *machine) colored() (all []string) {
	m.t.Helper()
	for _, job := range []string{"blue", "green"} {
		for _, a := range m.allocations(job, "2 run", running(2)) {
			all = append(all, fmt.Sprint(a.ID, " restarted ", restartsOf(a)))
		}
	}
	slices.Sort(all)
	return all
}

func restartsOf(a *api.AllocationListStub) (n uint64) {
	for _, s := range a.TaskStates {
		n += s.Restarts
	}
	return n
}
