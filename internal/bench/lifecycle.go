// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// lifecycleStacks measures decisions about 10,000 stacks, and the traffic of a shift.
func lifecycleStacks(ctx context.Context, b *bench) error {
	if err := lifecycleDecisions(ctx, b); err != nil {
		return err
	}
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	s, err := b.shiftedUnit(ctx, m)
	if err != nil {
		return err
	}
	if err := s.steps(ctx, b); err != nil {
		return err
	}
	return s.split(ctx, b)
}

// lifecycleDecisions shows the Go benchmarks of the packages that decide.
func lifecycleDecisions(ctx context.Context, b *bench) error {
	f := metrics{}
	for _, run := range [][3]string{
		{"internal/lifecycle", "^Benchmark(Sweep|Graph|Resolve)$", "2s"},
		{"internal/server/control", "^BenchmarkSweepOfManyStacks$", "20x"},
		{"internal/server/control", "^BenchmarkDayOfSweeps$", "1x"},
		{"internal/server", "^BenchmarkStackDeploy$", "1000x"},
		{"internal/router", "^BenchmarkPickStack$", "2s"},
	} {
		if err := f.run(ctx, run[0], run[1], run[2]); err != nil {
			return err
		}
	}
	const of = "10,000 stacks in 2,000 units with 8,000 dependencies: "
	for _, r := range []struct {
		what, benchmark, unit string
		scale                 float64
		words, bar            string
	}{
		{of + "a sweep", "Sweep", "ns/op", 1e6, "ms", "<= 100 ms"},
		{"... with reading the state and storing the result", "SweepOfManyStacks", "ns/op", 1e6, "ms", "<= 100 ms"},
		{"... its log entry, if it keeps all stacks", "SweepOfManyStacks", "B/entry", 1e6, "MB", "<= 1 MB"},
		{"... its log entry, if all verdicts are new", "SweepOfManyStacks", "B/first-entry", 1e6, "MB", "<= 1 MB"},
		{"... the whole graph", "Graph", "ns/op", 1e6, "ms", "<= 50 ms"},
		{"... one resolution", "Resolve", "ns/op", 1e3, "µs", "<= 5 µs"},
		{"... verdicts and audit records of a day with 2,000 deployments: stored", "DayOfSweeps", "B/stored", 1e6, "MB", "<= 50 MB"},
		{"... in the log", "DayOfSweeps", "B/log", 1e6, "MB", "<= 50 MB"},
	} {
		v, err := f.of(r.benchmark, r.unit)
		if err != nil {
			return err
		}
		b.add(r.what, r.bar, "%s %s", amount(v/r.scale), r.words)
	}
	var deploy [3]float64
	for i, unit := range []string{"p50-ms", "p99-ms", "cpu-us/deploy"} {
		v, err := f.of("StackDeploy", unit)
		if err != nil {
			return err
		}
		deploy[i] = v
	}
	b.add("... a deployment accepted, durable, 1 client", "p50 <= 2 ms", "p50 %.2f ms, p99 %.2f ms, %.0f µs of processor time", deploy[0], deploy[1], deploy[2])
	draw, err := f.of("PickStack", "ns/op")
	if err != nil {
		return err
	}
	allocated, err := f.of("PickStack", "allocs/op")
	if err != nil {
		return err
	}
	b.add("router: the draw of a stack and an instance", "<= 100 ns, 0 objects", "%s ns, %.0f objects", amount(draw), allocated)
	return nil
}

const shiftedHost = "shifted.test"

// A shiftedUnit is a unit with two ready stacks and a paused shift between them.
type shiftedUnit struct {
	m      *machine
	router string // host:port
	client *http.Client
}

func (b *bench) shiftedUnit(ctx context.Context, m *machine) (*shiftedUnit, error) {
	s := &shiftedUnit{m: m, client: &http.Client{Timeout: time.Minute}}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		job := testbed.Job("shifted", "raw_exec", 1, map[string]any{"command": b.reeve, "args": []string{"example-web"}})
		job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
		job.Groups[0].Tasks[0].Env = map[string]string{"VERSION": version}
		job.Stack = &api.StackSpec{
			Version: version, Shift: &api.ShiftSpec{Over: time.Hour}, Expose: []*api.StackExposure{{Host: shiftedHost}},
		}
		res, err := m.Client.Stacks().Deploy(ctx, &api.DeployStacksRequest{Jobs: []*api.Job{job}})
		if err != nil {
			return nil, err
		}
		err = m.poll(ctx, func(ctx context.Context) error {
			stack, _, err := m.Client.Stacks().Get(ctx, res.Stacks[0].Name, nil)
			if err == nil && stack.Status != api.StackReady {
				err = fmt.Errorf("stack %s is %s: %s", stack.Name, stack.Status, stack.StatusText())
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	status, err := m.Client.Status().Router(ctx)
	if err != nil {
		return nil, err
	}
	s.router = status.HTTP
	if err := s.set(ctx, 0); err != nil {
		return nil, err
	}
	return s, m.poll(ctx, func(ctx context.Context) error {
		_, err := s.ask(ctx)
		return err
	})
}

// set sets the share of the newer stack, and pauses the shift there.
func (s *shiftedUnit) set(ctx context.Context, share float64) error {
	_, err := s.m.Client.Shifts().Do(ctx, "shifted", "set", &api.ShiftVerbRequest{By: "bench", Share: &share})
	return err
}

// ask returns the version that answers a request.
func (s *shiftedUnit) ask(ctx context.Context) (string, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.router+"/", nil)
	if err != nil {
		return "", err
	}
	q.Host = shiftedHost
	resp, err := s.client.Do(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(string(text)), "version ")
	return version, err
}

// steps measures from the request that moves the traffic to the first request that follows it. All but
// one of 10,000 requests go to the stack that has the traffic.
func (s *shiftedUnit) steps(ctx context.Context, b *bench) error {
	var took times
	for i := range 300 {
		share, version := 0.9999, "1.1.0"
		if i%2 == 1 {
			share, version = 0, "1.0.0"
		}
		begin := time.Now()
		if err := s.set(ctx, share); err != nil {
			return err
		}
		for answer := ""; answer != version; {
			var err error
			if answer, err = s.ask(ctx); err != nil {
				return err
			}
		}
		took = append(took, time.Since(begin))
	}
	b.add("a shift's share is set -> the router follows it", "p99 <= 20 ms", "%s", took)
	return nil
}

// Requests and clients of the measurement of shares.
const (
	splitRequests = 1_000_000
	splitClients  = 64
	splitShare    = 0.37
)

// split counts to which stack requests go.
func (s *shiftedUnit) split(ctx context.Context, b *bench) error {
	if err := s.set(ctx, splitShare); err != nil {
		return err
	}
	seen := make(map[string]bool)
	err := s.m.poll(ctx, func(ctx context.Context) error {
		version, err := s.ask(ctx)
		if seen[version] = true; err == nil && len(seen) < 2 {
			err = fmt.Errorf("only %s answers", version)
		}
		return err
	})
	if err != nil {
		return err
	}
	l, err := newLoad(s.router, shiftedHost)
	if err != nil {
		return err
	}
	before, err := s.counts(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	left := splitRequests
	take := func() bool {
		mu.Lock()
		defer mu.Unlock()
		left--
		return left >= 0
	}
	err = l.clients(ctx, splitClients, func(ctx context.Context, _ int, ask func() error) error {
		for ctx.Err() == nil && take() {
			if err := ask(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	after, err := s.counts(ctx)
	if err != nil {
		return err
	}
	from, to := after[0]-before[0], after[1]-before[1]
	n := float64(from + to)
	got, sigma := float64(to)/n, math.Sqrt(splitShare*(1-splitShare)/n)
	b.add("1,000,000 requests at a share of 37 %: of the newer stack", "within 3 sigma", "%.3f %% of %s, %.2f sigma",
		got*100, amount(n), math.Abs(got-splitShare)/sigma)
	return nil
}

// counts returns the requests that the router has sent to the older and to the newer stack.
func (s *shiftedUnit) counts(ctx context.Context) (counts [2]uint64, err error) {
	newer := make(map[string]bool) // allocations
	stacks, _, err := s.m.Client.Stacks().List(ctx, "shifted", nil, nil)
	if err != nil {
		return counts, err
	}
	for _, stack := range stacks {
		list, _, err := s.m.Client.Jobs().Allocations(ctx, stack.Name, true, nil)
		if err != nil {
			return counts, err
		}
		for _, a := range list {
			newer[a.ID] = stack.Version.Minor == 1
		}
	}
	status, err := s.m.Client.Status().Router(ctx)
	if err != nil {
		return counts, err
	}
	for _, r := range status.Routes {
		for _, i := range r.Instances {
			if r.Host != shiftedHost {
				continue
			}
			if newer[i.AllocID] {
				counts[1] += i.Requests
			} else {
				counts[0] += i.Requests
			}
		}
	}
	return counts, nil
}
