// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

var (
	crashedShifts = flag.Int("shifts", 10, "number of shifts during which TestShiftsSurviveKill9 kills the server")
	crashSeed     = flag.Uint64("shifts-seed", 1, "seed of the moments at which TestShiftsSurviveKill9 kills the server")
)

const (
	crashedUnits = 20               // most units that shift at the same time
	crashedOver  = 15 * time.Second // of a shift
	crashedKills = 8                // most kills while a version is deployed
)

// TestShiftsSurviveKill9 kills the server at seeded moments while units shift to their next
// versions, and clients send requests to a router in another process. Run it with "-shifts 200"
// before a release.
func TestShiftsSurviveKill9(t *testing.T) {
	t.Parallel()
	units := min(*crashedShifts, crashedUnits)
	rounds := (*crashedShifts + units - 1) / units
	t.Logf("%d shifts: %d rounds of %d units, seed %d", rounds*units, rounds, units, *crashSeed)
	rng := rand.New(rand.NewPCG(*crashSeed, 1))
	c := newCrashedStacks(t, units)
	c.deploy(0)
	c.allReady(0)
	c.answeredBy(0)
	h := c.hammer()
	kills := 0
	for round := 1; round <= rounds; round++ {
		c.deploy(round)
		following, stop := context.WithCancel(t.Context())
		var follower sync.WaitGroup
		follower.Go(func() { c.follow(following) })
		for range crashedKills {
			wait.Pass(t.Context(), time.Duration(rng.Int64N(int64(crashedOver/3))))
			if c.complete(t.Context(), round) == nil {
				break
			}
			c.server.Kill()
			kills++
			wait.Pass(t.Context(), time.Duration(rng.Int64N(int64(2*time.Second))))
			c.server.start()
			c.serverAnswers()
		}
		c.server.eventually(fmt.Sprintf("the shifts of round %d are complete", round), func(ctx context.Context) error { return c.complete(ctx, round) })
		stop()
		follower.Wait()
		c.answeredBy(round)
		c.remove(round - 1)
	}
	h.stop()
	t.Logf("%d kills, %d observations of shifts, %d requests", kills, c.observed, h.sent.Load())
	if lost := h.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, the first: %s", lost, h.sent.Load(), h.first)
	}
	if want := rounds * units; len(c.shifts) != want {
		t.Errorf("%d shifts were observed, want one for each of %d deployments", len(c.shifts), want)
	}
}

// crashedStacks is a server, a node with a router, and units whose versions shift.
type crashedStacks struct {
	*fleet
	units    int
	router   string
	names    [][]string // of stacks, by round and unit
	mu       sync.Mutex
	shifts   map[string]*api.Shift // last observation, by id
	observed int
}

func newCrashedStacks(t *testing.T, units int) *crashedStacks {
	t.Helper()
	c := &crashedStacks{fleet: &fleet{t: t, server: unstarted(t)}, units: units, router: freeAddress(t), shifts: make(map[string]*api.Shift)}
	c.server.Args = []string{"-server"}
	c.server.start()
	c.serverAnswers()
	config := filepath.Join(t.TempDir(), "agent.hcl")
	if err := os.WriteFile(config, fmt.Appendf(nil, "router {\n  enabled = true\n  http = %q\n}\n", c.router), 0o600); err != nil {
		t.Fatal(err)
	}
	n := unstarted(t)
	n.Args = []string{"-client", "-node", "node-0", "-servers", "http://" + c.server.Addr, "-config", config}
	n.start()
	c.nodes = append(c.nodes, n)
	c.status(n, api.NodeStatusReady)
	return c
}

func (c *crashedStacks) serverAnswers() {
	c.t.Helper()
	c.server.eventually("the server leads", func(ctx context.Context) error {
		leader, err := c.server.Client.Status().Leader(ctx)
		if err == nil && leader == "" {
			err = fmt.Errorf("no leader")
		}
		return err
	})
}

func crashedVersion(round int) string { return fmt.Sprintf("1.%d.0", round) }

func crashedHost(unit int) string { return fmt.Sprintf("unit-%d.test", unit) }

// deploy deploys the next version of every unit.
func (c *crashedStacks) deploy(round int) {
	c.t.Helper()
	var jobs []*api.Job
	for unit := range c.units {
		job := stackJob(reeve, crashedVersion(round), crashedOver)
		job.ID, job.Name = fmt.Sprintf("unit-%d", unit), ""
		job.Groups[0].Count = ptr(1)
		job.Groups[0].Services[0].Name = job.ID
		job.Stack.Expose[0].Host = crashedHost(unit)
		jobs = append(jobs, job)
	}
	var names []string
	c.server.eventually("version "+crashedVersion(round)+" is accepted", func(ctx context.Context) error {
		res, err := c.server.Client.Stacks().Deploy(ctx, &api.DeployStacksRequest{Jobs: jobs})
		if err != nil {
			return err
		}
		for _, s := range res.Stacks {
			names = append(names, s.Name)
		}
		return nil
	})
	c.names = append(c.names, names)
}

// remove stops the stacks of a version that receives no traffic any more.
func (c *crashedStacks) remove(round int) {
	c.t.Helper()
	for _, name := range c.names[round] {
		c.server.eventually(name+" is stopped", func(ctx context.Context) error {
			_, err := c.server.Client.Stacks().Do(ctx, name, "stop", &api.StackVerbRequest{Now: true})
			return err
		})
	}
}

func (c *crashedStacks) allReady(round int) {
	c.t.Helper()
	for _, name := range c.names[round] {
		c.server.inState(name, api.StackReady)
	}
}

// complete returns nil when all shifts to a version are complete.
func (c *crashedStacks) complete(ctx context.Context, round int) error {
	done := make(map[string]bool)
	shifts, _, err := c.server.Client.Shifts().List(ctx, nil)
	if err != nil {
		return err
	}
	for _, s := range shifts {
		done[s.To] = s.Status == api.ShiftComplete
	}
	for _, name := range c.names[round] {
		if !done[name] {
			return fmt.Errorf("the shift to %s is not complete", name)
		}
	}
	return nil
}

// follow observes shifts until ctx ends.
func (c *crashedStacks) follow(ctx context.Context) {
	wait.Poll(ctx, 50*time.Millisecond, func() bool {
		shifts, _, err := c.server.Client.Shifts().List(ctx, nil)
		if err != nil {
			return false // the server is down
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range shifts {
			c.observe(s)
		}
		return false
	})
}

// observe compares a shift with its last observation: progress never goes back, and never exceeds
// the time that has passed.
func (c *crashedStacks) observe(s *api.Shift) {
	c.observed++
	old := c.shifts[s.ID]
	if old == nil {
		old = &api.Shift{ID: s.ID, AdvancedAt: s.StartedAt}
	}
	c.shifts[s.ID] = s
	name := "shift to " + s.To
	if s.Share < old.Share || s.Elapsed < old.Elapsed {
		c.t.Errorf("%s: went back from share %v after %s to share %v after %s", name, old.Share, old.Elapsed, s.Share, s.Elapsed)
	}
	if passed := s.AdvancedAt.Sub(old.AdvancedAt); s.Elapsed-old.Elapsed > passed {
		c.t.Errorf("%s: progressed by %s in %s", name, s.Elapsed-old.Elapsed, passed)
	}
	if now := time.Now(); s.AdvancedAt.After(now) {
		c.t.Errorf("%s: advanced at %s, which is in the future at %s", name, s.AdvancedAt, now)
	}
	if due := float64(s.Elapsed) / float64(crashedOver); s.Share > due+0.0001 {
		c.t.Errorf("%s: share %v after %s, want at most %v", name, s.Share, s.Elapsed, due)
	}
	if s.Status != api.ShiftRunning && s.Status != api.ShiftComplete || s.Status == api.ShiftComplete && s.EndedAt.Sub(s.StartedAt) < crashedOver {
		c.t.Errorf("%s: %s (%s) with share %v after %s", name, s.Status, s.Reason, s.Share, s.EndedAt.Sub(s.StartedAt))
	}
}

// answeredBy waits until the units' hosts are answered by one version only.
func (c *crashedStacks) answeredBy(round int) {
	c.t.Helper()
	for unit := range c.units {
		c.server.eventually(fmt.Sprintf("version %s answers for %s", crashedVersion(round), crashedHost(unit)), func(context.Context) error {
			for range 5 {
				text, err := textFor(http.DefaultClient, c.router, crashedHost(unit))
				if err != nil {
					return err
				}
				if !strings.Contains(text, "version "+crashedVersion(round)) {
					return fmt.Errorf("answer: %s", text)
				}
			}
			return nil
		})
	}
}

// hammer sends requests to all units.
func (c *crashedStacks) hammer() *hammer {
	c.t.Helper()
	var next atomic.Int64
	return hammerWith(c.t, 4, func(client *http.Client) error {
		_, err := textFor(client, c.router, crashedHost(int(next.Add(1))%c.units))
		return err
	})
}
