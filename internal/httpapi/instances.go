// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// asDerived lists instances as they come: by namespace and job, a job's groups as
// declared, indexes upwards. Their keys, which say so, too, are made only when a
// page begins somewhere.
func asDerived(instances []*api.Instance) order[*api.Instance] {
	keys := sync.OnceValue(func() map[*api.Instance]key {
		all := make(map[*api.Instance]key, len(instances))
		for job := range jobsOf(instances) {
			addInstanceKeys(all, job)
		}
		return all
	})
	return order[*api.Instance]{key: func(in *api.Instance) key { return keys()[in] }, stored: true, byName: true}
}

// jobsOf yields the instances of one job after another.
func jobsOf(instances []*api.Instance) iter.Seq[[]*api.Instance] {
	return func(yield func([]*api.Instance) bool) {
		for len(instances) > 0 {
			first, n := instances[0], 1
			for n < len(instances) && instances[n].JobID == first.JobID && instances[n].Namespace == first.Namespace {
				n++
			}
			if !yield(instances[:n]) {
				return
			}
			instances = instances[n:]
		}
	}
}

// addInstanceKeys adds the keys of a job's instances.
func addInstanceKeys(all map[*api.Instance]key, job []*api.Instance) {
	groups := map[string]int{}
	row, last := 0, ""
	for _, in := range job {
		group, known := groups[in.Group]
		if !known {
			group = len(groups)
			groups[in.Group] = group
		}
		if row++; in.Name != last {
			row, last = 0, in.Name
		}
		// A blank sorts before all that is allowed in a job's id.
		all[in] = key{namespace: in.Namespace, id: fmt.Sprintf("%s %04d.%07d.%s.%02d", in.JobID, group, in.Index, in.NodeID, row)}
	}
}

// someDerived lists the same, and derives only the instances of the jobs that are read. With
// reverse, the jobs come in reverse order. It makes keys of one job at a time: a page in the
// order of the request compares only the object that it reads.
func someDerived(jobs iter.Seq[[]*api.Instance], reverse bool) (order[*api.Instance], iter.Seq[*api.Instance]) {
	keys := map[*api.Instance]key{}
	var keyless []*api.Instance // the job that is read, until one of its keys is asked for
	by := order[*api.Instance]{ready: true, byName: true}
	by.key = func(in *api.Instance) key {
		if keyless != nil {
			clear(keys)
			addInstanceKeys(keys, keyless)
			keyless = nil
		}
		return keys[in]
	}
	return by, func(yield func(*api.Instance) bool) {
		for job := range jobs {
			keyless = job
			for i := range job {
				if reverse {
					i = len(job) - 1 - i
				}
				if !yield(job[i]) {
					return
				}
			}
		}
	}
}

// askedInstances returns the instances that match the parameters.
func (c *call) askedInstances(instances iter.Seq[*api.Instance]) (iter.Seq[*api.Instance], error) {
	if err := c.oneOf("state", api.InstanceUnclaimed, api.InstanceClaimed, api.InstanceRunning, api.InstanceCrashed, api.InstanceComplete); err != nil {
		return nil, err
	}
	if err := c.oneOf("presence", api.PresenceOrdinary, api.PresenceEvacuating, api.PresenceSuspect); err != nil {
		return nil, err
	}
	state, presence, name := c.query.Get("state"), c.query.Get("presence"), c.query.Get("instance")
	return where(instances, func(in *api.Instance) bool {
		return (state == "" || strings.EqualFold(in.State, state)) && (presence == "" || strings.EqualFold(in.Presence, presence)) &&
			(name == "" || in.Name == name || strconv.Itoa(in.Index) == name) &&
			strings.HasPrefix(in.Name, c.prefix)
	}), nil
}

// oneOf rejects a parameter that is none of the words.
func (c *call) oneOf(param string, words ...string) error {
	value := c.query.Get(param)
	if value == "" || slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, value) }) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "%s: %q is none of %s", param, value, strings.Join(words, ", "))
}

func listInstances(c *call, v *state.Snapshot) ([]*api.Instance, uint64, error) {
	f := server.InstanceFilter{Namespace: c.namespace, Job: c.query.Get("job"), May: c.mayRead}
	index := v.TableIndex(c.route.Tables...)
	if c.query.Has("domain") {
		domain := c.query.Get("domain")
		f.Domain = &domain
	}
	if id := c.query.Get("node"); id != "" {
		n, err := findNode(v, id)
		if err != nil {
			return nil, index, err
		}
		f.Node = n.ID
	}
	if c.perPage > 0 {
		return c.pageOfInstances(f)
	}
	instances, index, err := c.Server.AllInstances(c.r.Context(), f)
	if err != nil {
		return nil, index, err
	}
	asked, err := c.askedInstances(slices.Values(instances))
	if err != nil {
		return nil, index, err
	}
	return c.shownInstances(asDerived(instances), asked, index)
}

// pageOfInstances derives only the instances of the page, and of the jobs before it that the
// filter leaves out.
func (c *call) pageOfInstances(f server.InstanceFilter) ([]*api.Instance, uint64, error) {
	if c.token != "" {
		from, err := (order[*api.Instance]{byName: true}).parseToken(c.token)
		if err != nil {
			return nil, 0, err
		}
		job, _, _ := strings.Cut(from.id, " ")
		f.From = &api.NamespacedID{Namespace: from.namespace, ID: job}
	}
	f.Reverse = c.reverse
	jobs, index := c.Server.InstancesByJob(f)
	by, instances := someDerived(jobs, c.reverse)
	asked, err := c.askedInstances(instances)
	if err != nil {
		return nil, index, err
	}
	return c.shownInstances(by, asked, index)
}

// shownInstances returns the requested page: without the states of tasks, which are most of an
// instance, unless the caller asks for them. A filter sees them in any case.
func (c *call) shownInstances(by order[*api.Instance], asked iter.Seq[*api.Instance], index uint64) ([]*api.Instance, uint64, error) {
	states, err := c.flag("task_states")
	if err != nil {
		return nil, index, err
	}
	page, err := pageOf(c, by, asked)
	if page == nil {
		page = []*api.Instance{}
	}
	if !states {
		for _, in := range page {
			in.TaskStates = nil
		}
	}
	return page, index, err
}

func getJobInstances(c *call, v *state.Snapshot) ([]*api.Instance, uint64, error) {
	instances, index, err := c.Server.Instances(c.r.Context(), c.namespace, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	asked, err := c.askedInstances(slices.Values(instances))
	if err != nil {
		return nil, index, err
	}
	return c.shownInstances(asDerived(instances), asked, index)
}

func getJobInstance(c *call, v *state.Snapshot) (*api.Instance, uint64, error) {
	instances, index, err := c.Server.Instances(c.r.Context(), c.namespace, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	name := c.r.PathValue("name")
	if found := api.FindInstances(instances, name); len(found) > 0 {
		return found[0], index, nil
	}
	return nil, index, api.Errorf(api.CodeNotFound, "instance %q not found: job %s has %s", name, c.jobName(c.id()), someInstances(instances))
}

// instancesShown is the maximum number of names in the error of an unknown name.
const instancesShown = 10

func someInstances(instances []*api.Instance) string {
	if len(instances) == 0 {
		return "none"
	}
	var names []string
	for _, in := range instances {
		if len(names) == instancesShown {
			names = append(names, "...")
			break
		}
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

func killInstance(c *call, _ *none) (*api.KillInstanceResponse, uint64, error) {
	noDelay, err := c.flag("no_shutdown_delay")
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.KillInstance(c.r.Context(), c.namespace, c.id(), c.r.PathValue("name"), noDelay)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

// instanceVerbs lists the verbs of instances.
var instanceVerbs = []api.Verb{api.VerbRestart, api.VerbReplace, api.VerbPause, api.VerbResume}

func instanceVerb(c *call, req *api.InstanceRequest) (*api.InstanceResponse, uint64, error) {
	verb, err := c.verb("instances", instanceVerbs)
	if err != nil {
		return nil, 0, err
	}
	if err := c.fillIn(map[string]*string{"by": &req.By, "reason": &req.Reason}); err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.InstanceVerb(c.r.Context(), c.namespace, c.id(), c.r.PathValue("name"), verb, req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
