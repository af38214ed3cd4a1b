// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

type datacenter struct {
	Name       string      `json:"name"`
	URL        string      `json:"datacenter_url"`
	Namespaces []namespace `json:"namespaces"`
}

type namespace struct {
	ID             uint64 `json:"id"`
	Name           string `json:"name"`
	UnitsURL       string `json:"units_url"`
	DeploymentsURL string `json:"deployments_url"`
}

// datacentersOf returns the datacenters of the nodes, in order.
func datacentersOf(snap *state.Snapshot) (names []string) {
	for n := range snap.Nodes() {
		names = append(names, n.Datacenter)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func describeDatacenter(snap *state.Snapshot, name string) datacenter {
	d := datacenter{Name: name, URL: prefix + "/v1/datacenters/" + url.PathEscape(name), Namespaces: []namespace{}}
	for n := range snap.NamespacesPrefix("") {
		d.Namespaces = append(d.Namespaces, namespace{
			ID: n.CreateIndex, Name: n.Name,
			UnitsURL: prefix + "/v1/units?ns=" + url.QueryEscape(n.Name), DeploymentsURL: prefix + "/v1/deployments?ns=" + url.QueryEscape(n.Name),
		})
	}
	return d
}

func listDatacenters(q *request) error {
	snap := q.core.Store().Snapshot()
	list := []datacenter{}
	for _, name := range datacentersOf(snap) {
		list = append(list, describeDatacenter(snap, name))
	}
	return q.json(http.StatusOK, list)
}

// checkDatacenter refuses a datacenter without nodes.
func checkDatacenter(snap *state.Snapshot, name string) error {
	if names := datacentersOf(snap); !slices.Contains(names, name) {
		return failf(http.StatusNotFound, "datacenter %q not found: no node is in it; there are %s", api.Printable(name, 64), orNone(names))
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func getDatacenter(q *request) error {
	snap, name := q.core.Store().Snapshot(), q.r.PathValue("dc")
	if err := checkDatacenter(snap, name); err != nil {
		return err
	}
	return q.json(http.StatusOK, describeDatacenter(snap, name))
}

// createNamespace creates a namespace and the missing ones around it. Namespaces of Reeve exist
// in all datacenters.
func createNamespace(q *request) error {
	var body struct {
		Namespace string `json:"namespace"`
	}
	if err := q.decode(&body); err != nil {
		return err
	}
	if err := checkDatacenter(q.core.Store().Snapshot(), q.r.PathValue("dc")); err != nil {
		return err
	}
	n := &api.Namespace{Name: body.Namespace}
	if err := n.Validate(); err != nil {
		return invalid("namespace", "%v", err)
	}
	var missing []string
	for name := n.Name; name != ""; name = api.ParentNamespace(name) {
		missing = append(missing, name)
	}
	for _, name := range slices.Backward(missing) {
		if q.core.Store().Snapshot().Namespace(name) != nil {
			continue
		}
		if _, err := q.core.PutNamespace(q.r.Context(), &api.Namespace{Name: name, Description: "created through " + operator}, new(uint64)); err != nil {
			return err
		}
	}
	return done(q)
}

// runsIn reports whether a job with these patterns of datacenters may run in one.
func runsIn(patterns []string, dc string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, dc)
		return ok && err == nil
	})
}

// A placeOf finds datacenters of stacks.
type placeOf struct {
	snap *state.Snapshot
	all  []string
}

func places(snap *state.Snapshot) placeOf { return placeOf{snap, datacentersOf(snap)} }

// patterns returns the datacenters that the job of a stack names; nil: all.
func (p placeOf) patterns(s *api.StackStatus) []string {
	if job := p.snap.Job(s.Namespace, s.Name); job != nil {
		return job.Datacenters
	}
	if job := p.snap.StackJob(s.Namespace, s.Name); job != nil {
		return job.Datacenters
	}
	return nil
}

// first returns the first datacenter in which a stack may run, or "".
func (p placeOf) first(s *api.StackStatus) string {
	patterns := p.patterns(s)
	for _, dc := range p.all {
		if runsIn(patterns, dc) {
			return dc
		}
	}
	return ""
}

// isIn reports whether a stack may run in one of several datacenters.
func (p placeOf) isIn(s *api.StackStatus, dcs []string) bool {
	patterns := p.patterns(s)
	return slices.ContainsFunc(dcs, func(dc string) bool { return runsIn(patterns, dc) })
}
