// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// Status returns the router's current status.
func (r *Router) Status() *api.RouterStatus {
	t := r.table.Load()
	s := &api.RouterStatus{
		HTTP: r.Addr(), Engine: r.config.Engine, TCPAddress: r.config.TCPAddress,
		Connected: r.connected.Load(), Index: t.index, Updated: r.updated.Load(), Problems: r.ports.inWords(),
		Connections: int64(r.conns.len() + r.tunnels.len()),
		Requests:    r.requests.Load(), Refused: r.refused.Load(), NoRoute: r.noRoute.Load(),
		Routes: []*api.RouterRoute{},
	}
	now := time.Now()
	if r.secure != nil {
		s.HTTPS, s.TLS, s.Certificates = r.SecureAddr(), r.secure.status(), r.secure.certs.Status(now)
	}
	for _, shard := range t.shards {
		for _, p := range shard {
			if job, whole := jobOfStack(p.key); whole {
				s.Routes = r.appendNamed(s.Routes, p, nameOfStack(job), now)
				continue
			}
			s.Routes = append(s.Routes, p.status(now))
		}
	}
	for _, shard := range t.units {
		for place, u := range shard {
			for _, w := range u.ways {
				if len(w.steps) > 0 {
					s.Routes = r.appendNamed(s.Routes, w.steps[len(w.steps)-1].pool, place.Unit+"."+place.Namespace, now)
				}
			}
		}
	}
	slices.SortFunc(s.Routes, func(a, b *api.RouterRoute) int {
		return cmp.Or(cmp.Compare(a.Listen, b.Listen), strings.Compare(a.Host, b.Host), strings.Compare(a.Path, b.Path), strings.Compare(a.Protocol, b.Protocol))
	})
	return s
}

// appendNamed appends the status of a name of stacks if it has been used.
func (r *Router) appendNamed(routes []*api.RouterRoute, p *pool, name string, now time.Time) []*api.RouterRoute {
	s := p.status(now)
	if s.Requests == 0 {
		return routes
	}
	s.Host = name + r.stackNames
	return append(routes, s)
}

// nameOfStack returns the exact name of a stack, without ".stack.ZONE".
func nameOfStack(job string) string {
	namespace, stack := splitJob(job)
	unit, v, _, _ := api.ParseStackName(stack)
	return fmt.Sprintf("%d-%d-%d.%s.%s", v.Major, v.Minor, v.Patch, unit, lifecycle.NamespaceName(namespace))
}

func (p *pool) status(now time.Time) *api.RouterRoute {
	c := p.counts
	s := &api.RouterRoute{
		Protocol: p.key.protocol(), Host: p.key.host, Listen: max(p.key.listen, 0),
		Jobs: []string{}, Instances: []*api.RouterInstance{},
		Retries: c.retries.Load(), Unserved: c.unserved.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		Latency: c.latency.summary(),
	}
	if p.key.listen == passthroughs {
		s.TLS = api.TLSPassthrough
	}
	if p.key.listen == 0 {
		s.Path = cmp.Or(p.key.path, "/")
	}
	for class := range c.classes {
		n := c.classes[class].Load()
		s.Requests += n
		if n > 0 && p.key.listen == 0 {
			if s.Responses == nil {
				s.Responses = map[string]uint64{}
			}
			s.Responses[classNames[class]] = n
		}
	}
	jobs := map[string]bool{}
	for _, t := range p.targets {
		jobs[t.job] = true
		i := &api.RouterInstance{
			AllocID: t.alloc, Address: t.address, Weight: t.weight,
			Outstanding: t.outstanding.Load(), Requests: t.requests.Load(), Failures: t.failures.Load(),
		}
		i.EjectedUntil, i.EjectedFor, i.Ejections = t.ejection.state(ticks(now))
		if i.EjectedUntil != 0 {
			i.EjectedUntil += now.UnixNano() - ticks(now)
		}
		s.Instances = append(s.Instances, i)
	}
	s.Jobs = slices.AppendSeq(s.Jobs, maps.Keys(jobs))
	slices.Sort(s.Jobs)
	return s
}

var classNames = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// failed reports whether a port did not open.
func (p *ports) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.problems) > 0
}

// inWords returns the problems, sorted by port.
func (p *ports) inWords() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var words []string
	for _, port := range slices.Sorted(maps.Keys(p.problems)) {
		words = append(words, p.problems[port])
	}
	return words
}
