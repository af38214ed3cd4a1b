// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// A target is an instance behind a route.
type target struct {
	*instance
	route  *api.Route
	weight int
	index  uint64 // index of the catalog's entry; the pool uses the settings of the newest route
	// exposure is the exposure of a stack that the route serves; nil for other routes.
	exposure *api.StackExposure
}

func weightOf(r *api.Route) int {
	if r.Weight == nil {
		return 1
	}
	return *r.Weight
}

// A pool holds the targets of one host and path, or of one port. It is immutable,
// except for its counters, which all versions of a pool share.
type pool struct {
	key       poolKey
	targets   []target       // sorted by allocation and address
	sums      []int          // cumulative weights of the targets; nil if all weights are equal and above 0
	sticky    string         // name of the cookie, "" for none
	byName    map[string]int // indexes of targets by cookie; nil without sticky
	counts    *counters
	redirects bool      // reports whether requests over plain HTTP are redirected
	emptied   time.Time // time when the last instance left
	// stacks divide the targets by stack; nil: no target belongs to one. A request is
	// drawn by share first, and then by weight and load in the stack, so that a fast
	// stack does not take more than its share.
	stacks   []stackPool
	byClient bool // reports whether a client's cookie decides about its stack
	previews bool // reports whether stacks may be previewed
	// unit is the unit of a pool that serves the names of stacks, and want the version that its
	// callers want.
	unit lifecycle.Place
	want api.FeatureVersion
}

// poolKey identifies a pool.
type poolKey struct {
	grpc   bool
	host   string // "*.example.com" for a wildcard, "" for any
	path   string // without a slash at its end; "" for all paths
	listen int    // port of a TCP route, which has no host and path; passthroughs for a TLS host, which has no path
}

// passthroughs is the port in the keys of hosts whose TLS connections go to instances.
const passthroughs = -1

func keyOf(r *api.Route) poolKey {
	if r.IsPassthrough() {
		return poolKey{listen: passthroughs, host: r.Host}
	}
	if r.Protocol == api.RouteTCP {
		return poolKey{listen: r.Listen}
	}
	return poolKey{grpc: r.Protocol == api.RouteGRPC, host: r.Host, path: strings.TrimRight(r.Path, "/")}
}

func (k poolKey) protocol() string {
	switch {
	case k.listen != 0:
		return api.RouteTCP
	case k.grpc:
		return api.RouteGRPC
	}
	return api.RouteHTTP
}

// newPool returns a pool that owns the targets.
func newPool(key poolKey, targets []target, counts *counters) *pool {
	p := &pool{key: key, targets: targets, counts: counts}
	sum, equal, newest := 0, true, 0
	for i := range targets {
		t := &targets[i]
		sum += t.weight
		equal = equal && t.weight == targets[0].weight
		if t.index > targets[newest].index {
			newest = i
		}
	}
	if len(targets) > 0 {
		p.sticky, p.redirects = targets[newest].route.Sticky, targets[newest].route.Redirects()
	}
	if !equal || sum == 0 {
		p.sums = make([]int, len(targets))
		sum = 0
		for i, t := range targets {
			sum += t.weight
			p.sums[i] = sum
		}
	}
	if p.sticky != "" {
		p.byName = make(map[string]int, len(targets))
		for i, t := range targets {
			p.byName[t.cookie()] = i
		}
	}
	return p
}

// draw returns a random target by weight, or -1 if all weights are 0.
func (p *pool) draw() int {
	switch {
	case len(p.targets) == 0:
		return -1
	case p.sums == nil:
		return rand.IntN(len(p.targets))
	}
	total := p.sums[len(p.sums)-1]
	if total == 0 {
		return -1
	}
	i, _ := slices.BinarySearch(p.sums, rand.IntN(total)+1)
	return i
}

// pick chooses the target of a request that no cookie binds to a stack.
func (p *pool) pick(session string, tried []*instance, now int64) (target, bool) {
	return p.pickAt(anywhere, session, tried, now)
}

// pickAt chooses the target of a request, which must not be one of those tried
// before. The position of the client decides about its stack. Among the instances of a stack, it draws two targets by weight, and chooses the one with fewer
// outstanding requests relative to its weight. Unlike round robin, this needs no
// lock or counter that all requests share, and avoids slow instances. At low load
// the weights alone decide. The session's instance comes first if it is available.
func (p *pool) pickAt(position float64, session string, tried []*instance, now int64) (target, bool) {
	if p.stacks != nil {
		return p.pickStack(position, session, tried, now)
	}
	if session != "" {
		if i, ok := p.byName[session]; ok && p.targets[i].weight > 0 && p.fit(i, tried, now) {
			return p.targets[i], true
		}
	}
	first := p.drawFit(tried, now)
	if first < 0 {
		return p.anyFit(tried, now)
	}
	a := p.targets[first]
	busy := a.outstanding.Load()
	if busy == 0 {
		return a, true
	}
	second := p.drawFit(tried, now)
	if second < 0 || second == first {
		return a, true
	}
	b := p.targets[second]
	if b.outstanding.Load()*int64(a.weight) < busy*int64(b.weight) {
		return b, true
	}
	return a, true
}

func (p *pool) fit(i int, tried []*instance, now int64) bool {
	t := p.targets[i].instance
	return !t.ejection.isOut(now) && !t.gone.Load() && !slices.Contains(tried, t)
}

// drawFit draws a few times, and returns the first available target, or -1.
func (p *pool) drawFit(tried []*instance, now int64) int {
	for range 4 {
		if i := p.draw(); i < 0 || p.fit(i, tried, now) {
			return i
		}
	}
	return -1
}

// anyFit searches all targets: first the available ones, then the ejected ones,
// because an instance that failed is better than none.
func (p *pool) anyFit(tried []*instance, now int64) (target, bool) {
	if len(p.targets) == 0 {
		return target{}, false
	}
	start := rand.IntN(len(p.targets))
	for _, ejected := range []bool{false, true} {
		for n := range p.targets {
			t := p.targets[(start+n)%len(p.targets)]
			if t.weight > 0 && !t.gone.Load() && (ejected || !t.ejection.isOut(now)) && !slices.Contains(tried, t.instance) {
				return t, true
			}
		}
	}
	return target{}, false
}

// spare reports whether the pool can eject an instance: at least half of its
// instances must stay, or with last, at least one.
func (p *pool) spare(i *instance, last bool, now int64) bool {
	stay := 0
	for _, t := range p.targets {
		if t.instance != i && t.weight > 0 && !t.ejection.isOut(now) {
			stay++
		}
	}
	if last {
		return stay >= 1
	}
	return stay*2 >= len(p.targets)
}

// unreachable counts a failed connection to an instance.
func (p *pool) unreachable(i *instance, err error) {
	i.failures.Add(1)
	now := ticks(time.Now())
	i.ejection.failed(failuresToConnect, "no connection: "+inWords(err), now, func() bool { return p.spare(i, true, now) })
}

// failed counts a missing or failed response of an instance.
func (p *pool) failed(i *instance, why string) {
	i.failures.Add(1)
	now := ticks(time.Now())
	i.ejection.failed(failuresToAnswer, why, now, func() bool { return p.spare(i, false, now) })
}

// counters holds the counters of a route, which all versions of its pool share.
type counters struct {
	classes  [6]atomic.Uint64 // requests by the first digit of their status; 0 for those without one
	retries  atomic.Uint64
	unserved atomic.Uint64
	bytesIn  atomic.Uint64
	bytesOut atomic.Uint64
	latency  histogram
}

// answered counts one request.
func (c *counters) answered(status int, in, out int64, took time.Duration) {
	class := status / 100
	if class < 0 || class > 5 {
		class = 0
	}
	c.classes[class].Add(1)
	if in > 0 {
		c.bytesIn.Add(uint64(in))
	}
	if out > 0 {
		c.bytesOut.Add(uint64(out))
	}
	c.latency.add(took)
}
