// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// fakeServers remember what a node says, and tell it what the test wants.
type fakeServers struct {
	mu         sync.Mutex
	registered int
	heartbeats int
	reports    [][]*api.Allocation
	latest     map[string]*api.Allocation
	changed    chan struct{}
	fail       error // of reports
	forgotten  bool  // heartbeats are answered with CodeNotFound
	away       bool  // nothing is answered
	slow       time.Duration
	messages   chan *api.NodeAllocations
	cluster    string // whose they are
	offered    map[string]*api.OfferedOrphan
	deaf       bool         // offers are not answered
	from       string       // the cluster that the node said last it comes from
	told       api.Position // that the node said last it was told up to
}

var errAway = api.Errorf(api.CodeUnavailable, "no server answers")

// leave makes the servers unreachable, or reachable again.
func (s *fakeServers) leave(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func newServers() *fakeServers {
	return &fakeServers{latest: map[string]*api.Allocation{}, changed: make(chan struct{}), messages: make(chan *api.NodeAllocations, 16)}
}

func (s *fakeServers) Register(_ context.Context, n *api.Node) (*api.NodeHeartbeatResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	s.registered++
	s.forgotten, s.from = false, n.LastCluster
	answer := &api.NodeHeartbeatResponse{HeartbeatTTL: 15 * time.Second, Status: api.NodeStatusReady, ClusterID: s.cluster}
	if n.LastCluster != "" && n.LastCluster != s.cluster {
		answer.Status = api.NodeStatusInit
	}
	return answer, nil
}

func (s *fakeServers) Heartbeat(context.Context, string) (*api.NodeHeartbeatResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	s.heartbeats++
	if s.forgotten {
		return nil, api.Errorf(api.CodeNotFound, "node not found")
	}
	return &api.NodeHeartbeatResponse{HeartbeatTTL: 15 * time.Second, Status: api.NodeStatusReady}, nil
}

func (s *fakeServers) Stream(ctx context.Context, _ string, told api.Position, receive func(*api.NodeAllocations) error) error {
	s.mu.Lock()
	s.told = told
	s.mu.Unlock()
	for {
		select {
		case m := <-s.messages:
			if m == nil {
				return errors.New("the stream broke")
			}
			if err := receive(m); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *fakeServers) SignIdentities(_ context.Context, node string, requests []*api.IdentityRequest) (signed []*api.IdentityResponse, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	for _, r := range requests {
		signed = append(signed, &api.IdentityResponse{Token: "signed for " + r.Task + " " + r.Identity})
	}
	return signed, nil
}

func (s *fakeServers) PinImage(_ context.Context, _ string, r *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	return &api.ImagePinResponse{Digest: r.Digest, Pinned: r.Digest != ""}, nil
}

func (s *fakeServers) ImageUses(_ context.Context, _ string, r *api.ImageUsesRequest) (*api.ImageUsesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	return &api.ImageUsesResponse{Uses: r.Uses}, nil
}

func (s *fakeServers) ReportVolumes(context.Context, string, []*api.HostVolumeReport) error {
	return nil
}

func (s *fakeServers) TemplateValues(ctx context.Context, _ string, _ *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error) {
	return nil, errAway
}

func (s *fakeServers) OfferOrphans(_ context.Context, _ string, orphans []*api.OfferedOrphan) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || s.deaf {
		return nil, errAway
	}
	if s.offered == nil {
		s.offered = map[string]*api.OfferedOrphan{}
	}
	for _, o := range orphans {
		s.offered[o.Allocation.ID] = o
	}
	return nil, nil
}

// begin has the servers know nothing any more.
func (s *fakeServers) begin(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster, s.forgotten, s.offered = cluster, true, nil
}

func (s *fakeServers) UpdateAllocations(ctx context.Context, _ string, allocs []*api.Allocation) error {
	s.mu.Lock()
	slow, fail := s.slow, s.fail
	if s.away {
		fail = errAway
	}
	s.mu.Unlock()
	if slow > 0 && !sleep(ctx, slow) {
		return ctx.Err()
	}
	if fail != nil {
		return fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, allocs)
	for _, a := range allocs {
		if old := s.latest[a.ID]; old != nil && old.ModifyTime > a.ModifyTime {
			panic(fmt.Sprintf("an older state of %s came after a newer one", a.ID))
		}
		s.latest[a.ID] = a
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// until waits until so many allocations have that status.
func (s *fakeServers) until(t testing.TB, status string, count int) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		have := 0
		for _, a := range s.latest {
			if a.ClientStatus == status {
				have++
			}
		}
		changed := s.changed
		s.mu.Unlock()
		if have >= count {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%d allocations are %s; want %d", have, status, count)
		}
	}
}

func (s *fakeServers) last(id string) *api.Allocation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest[id]
}

// jobOf makes a job with one group of the tasks.
func jobOf(kind string, tasks ...*api.Task) *api.Job {
	j := &api.Job{ID: "web", Name: "web", Type: kind, Groups: []*api.Group{{Name: "g", Tasks: tasks}}}
	j.Canonicalize()
	return j
}

// placed makes a message that places instances of a job.
func placed(j *api.Job, complete bool, ids ...string) *api.NodeAllocations {
	m := &api.NodeAllocations{Complete: complete, Jobs: []*api.Job{j}}
	for i, id := range ids {
		m.Allocations = append(m.Allocations, &api.NodeAllocation{JobVersion: j.Version, Allocation: &api.Allocation{
			ID: id, Namespace: j.Namespace, JobID: j.ID, Group: "g", Name: api.AllocName(j.ID, "g", i), AllocModifyIndex: 1,
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
		}})
	}
	return m
}

// running is a node that runs until stop is called.
type running struct {
	*Node
	stop func()
}

func run(t testing.TB, dir string, s Servers, drivers map[string]driver.Driver) *running {
	t.Helper()
	var keeper Keeper
	for _, d := range drivers {
		if k, ok := d.(Keeper); ok {
			keeper = k
		}
	}
	n, err := New(Config{DataDir: dir, Name: "n1", Servers: s, Drivers: drivers, Keeper: keeper, Address: "127.0.0.1",
		Uptime: func() time.Duration { return time.Duration(time.Now().UnixNano()) }, // a bubble's time
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	var once sync.Once
	return &running{Node: n, stop: func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}}
}

// inBubble runs a test with virtual time against a fake driver.
func inBubble(t *testing.T, do func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running)) {
	t.Helper()
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		s, d := newServers(), drivertest.New()
		var all []*running
		do(t, s, d, func() *running {
			r := run(t, dir, s, map[string]driver.Driver{"fake": d})
			all = append(all, r)
			return r
		})
		for _, r := range all {
			r.stop()
		}
		synctest.Wait()
	})
}

func want(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
