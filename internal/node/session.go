// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	driversEvery  = 30 * time.Second
	minAnswerTime = time.Second // minimum time for a server's answer
)

var errTwin = errors.New("another agent speaks for the node")

// keepRegistered registers the node and sends heartbeats. It registers again if the servers
// have forgotten the node, or if the node has changed.
func (n *Node) keepRegistered(ctx context.Context) {
	ttl := 30 * time.Second
	pause := newBackoff(100*time.Millisecond, ttl/3)
	known, joined := false, false
	for ctx.Err() == nil {
		var answer *api.NodeHeartbeatResponse
		var err error
		doing, sent := "send a heartbeat", n.config.Uptime()
		// A server that does not answer must not delay the next attempt.
		asking, done := context.WithTimeout(ctx, max(ttl/2, minAnswerTime))
		if known {
			answer, err = n.config.Servers.Heartbeat(asking, n.identity.ID)
		} else {
			doing = "register the node"
			answer, err = n.config.Servers.Register(asking, n.registration())
		}
		done()
		if ctx.Err() != nil {
			return
		}
		n.isTwin(err, ttl)
		if err != nil {
			if known && api.CodeOf(err) == api.CodeNotFound {
				known = false // retry immediately
				continue
			}
			if n.rejectedSince.Load() == 0 { // otherwise it was logged when it began
				n.log.Warn(doing, "error", err)
			}
			n.heartbeatFailed.Store(true)
			pause.most = n.beatFor(ttl)
			if !pause.waitOr(ctx, n.beat) {
				return
			}
			continue
		}
		pause.reset()
		n.heartbeatFailed.Store(false)
		away := sent-time.Duration(n.contact.Load()) > ttl
		n.answered(sent)
		if known && away {
			n.reportAll() // the servers may have counted all allocations as lost
		}
		if !known && n.introduce(ctx, answer) {
			continue
		}
		if !known {
			known = true
			n.log.Info("node is registered", "node", n.identity.ID)
			if joined {
				n.reportAll()
			} else {
				joined = true
				if n.moved {
					n.resume()
				}
				close(n.joined)
			}
		}
		if answer != nil && answer.HeartbeatTTL > 0 {
			ttl = answer.HeartbeatTTL
		}
		timer := time.NewTimer(n.beatFor(ttl))
		select {
		case <-timer.C:
		case <-n.beat:
		case <-n.register:
			known = false
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// registerAgain makes keepRegistered register immediately.
func (n *Node) registerAgain() {
	select {
	case n.register <- struct{}{}:
	default:
	}
}

// keepStreaming follows the stream of allocations.
func (n *Node) keepStreaming(ctx context.Context) {
	select {
	case <-n.joined:
	case <-ctx.Done():
		return
	}
	pause := newBackoff(50*time.Millisecond, 5*time.Second)
	for ctx.Err() == nil {
		err := n.config.Servers.Stream(ctx, n.identity.ID, n.position(), func(m *api.NodeAllocations) error {
			if n.rejectedSince.Load() != 0 {
				return errTwin // the stream is complete once the servers accept this agent again
			}
			pause.reset()
			if n.heartbeatFailed.Load() {
				n.beatSoon() // a server is reachable again
			}
			n.receiveVolumes(m)
			n.prefetcher.receive(m)
			n.receive(m)
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		if api.CodeOf(err) == api.CodeNotFound {
			n.registerAgain()
		}
		n.log.Debug("the stream of allocations ended", "error", err)
		if !pause.wait(ctx) {
			return
		}
	}
}

// sendReports sends one batch.
func (n *Node) sendReports(ctx context.Context, allocs []*api.Allocation) error {
	if n.rejectedSince.Load() != 0 {
		return errTwin
	}
	err := n.config.Servers.UpdateAllocations(ctx, n.identity.ID, allocs)
	if err != nil && ctx.Err() == nil {
		if api.CodeOf(err) == api.CodeNotFound {
			n.registerAgain()
		}
		n.log.Warn("cannot report allocations", "allocations", len(allocs), "error", err)
	}
	return err
}

// reportAll marks every allocation, because the servers may have lost their reports.
func (n *Node) reportAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, r := range n.runners {
		n.reporter.mark(id, r.Report, true)
	}
}

// watchDrivers checks the drivers periodically, and registers the node again when one
// appeared or disappeared.
func (n *Node) watchDrivers(ctx context.Context) {
	for sleep(ctx, driversEvery) {
		before := n.Node()
		now := n.describe(ctx)
		if ctx.Err() != nil {
			return
		}
		if sameDrivers(before, now) && sameDevices(before, now) && before.ComputedClass == now.ComputedClass {
			continue
		}
		n.self.Store(now)
		n.registerAgain()
	}
}

// sameDevices compares devices with their health, addresses of networks, and volumes.
func sameDevices(a, b *api.Node) bool {
	return reflect.DeepEqual(a.Resources.Devices, b.Resources.Devices) && reflect.DeepEqual(a.HostNetworks, b.HostNetworks) &&
		reflect.DeepEqual(a.HostVolumes, b.HostVolumes)
}

func sameDrivers(a, b *api.Node) bool {
	if len(a.Drivers) != len(b.Drivers) {
		return false
	}
	for name, x := range a.Drivers {
		y := b.Drivers[name]
		if y == nil || x.Detected != y.Detected || x.Healthy != y.Healthy || x.HealthDescription != y.HealthDescription ||
			!reflect.DeepEqual(x.Attributes, y.Attributes) {
			return false
		}
	}
	return true
}
