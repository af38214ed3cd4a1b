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
	driversEvery = 30 * time.Second
	answerWithin = time.Second // a server at least has for its answer
)

var errTwin = errors.New("another agent speaks for the node")

// keepRegistered registers the node and sends heartbeats; it registers again
// when the servers have forgotten the node, or it has changed.
func (n *Node) keepRegistered(ctx context.Context) {
	ttl := 30 * time.Second
	pause := newBackoff(100*time.Millisecond, ttl/3)
	known, joined := false, false
	for ctx.Err() == nil {
		var answer *api.NodeHeartbeatResponse
		var err error
		doing, sent := "send a heartbeat", n.config.Uptime()
		// A server that does not answer must not keep the node from asking again.
		asking, done := context.WithTimeout(ctx, max(ttl/2, answerWithin))
		if known {
			answer, err = n.config.Servers.Heartbeat(asking, n.identity.ID, n.identity.Secret)
		} else {
			doing = "register the node"
			answer, err = n.config.Servers.Register(asking, n.introduced())
		}
		done()
		if ctx.Err() != nil {
			return
		}
		n.isTwin(err, ttl)
		if err != nil {
			if known && api.CodeOf(err) == api.CodeNotFound {
				known = false // at once
				continue
			}
			if n.refused.Load() == 0 { // or else it was said once
				n.log.Warn(doing, "error", err)
			}
			n.unheard.Store(true)
			pause.most = n.beatFor(ttl)
			if !pause.waitOr(ctx, n.beat) {
				return
			}
			continue
		}
		pause.reset()
		n.unheard.Store(false)
		away := sent-time.Duration(n.contact.Load()) > ttl
		n.answered(sent)
		if known && away {
			n.reportAll() // the servers may have taken everything for lost
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

// registerAgain makes keepRegistered register at once.
func (n *Node) registerAgain() {
	select {
	case n.register <- struct{}{}:
	default:
	}
}

// keepStreaming holds the stream of allocations.
func (n *Node) keepStreaming(ctx context.Context) {
	select {
	case <-n.joined:
	case <-ctx.Done():
		return
	}
	pause := newBackoff(50*time.Millisecond, 5*time.Second)
	for ctx.Err() == nil {
		err := n.config.Servers.Stream(ctx, n.identity.ID, n.identity.Secret, n.told(), func(m *api.NodeAllocations) error {
			if n.refused.Load() != 0 {
				return errTwin // it gets all of it when the servers listen to it again
			}
			pause.reset()
			if n.unheard.Load() {
				n.beatSoon() // there is a server again
			}
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

// sendReports posts one batch.
func (n *Node) sendReports(ctx context.Context, allocs []*api.Allocation) error {
	if n.refused.Load() != 0 {
		return errTwin
	}
	err := n.config.Servers.UpdateAllocations(ctx, n.identity.ID, n.identity.Secret, allocs)
	if err != nil && ctx.Err() == nil {
		if api.CodeOf(err) == api.CodeNotFound {
			n.registerAgain()
		}
		n.log.Warn("report allocations", "allocations", len(allocs), "error", err)
	}
	return err
}

// reportAll marks every allocation: the servers may have lost what they knew.
func (n *Node) reportAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, r := range n.runners {
		n.reporter.mark(id, r.Report, true)
	}
}

// watchDrivers looks at the drivers from time to time, and tells the servers
// when one came or went.
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

// sameDevices compares devices with their health, and addresses of networks.
func sameDevices(a, b *api.Node) bool {
	return reflect.DeepEqual(a.Resources.Devices, b.Resources.Devices) && reflect.DeepEqual(a.HostNetworks, b.HostNetworks)
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
