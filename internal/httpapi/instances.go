// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// pageOfInstances keeps the order in which instances are derived: groups as
// declared, indexes upwards.
func pageOfInstances(c *call, instances []*api.Instance) ([]*api.Instance, error) {
	place := make(map[string]uint64, len(instances))
	for i, in := range instances {
		place[in.Name] = uint64(i)
	}
	byPlace := order[*api.Instance]{
		key:   func(in *api.Instance) key { return key{index: place[in.Name], id: in.Name} },
		dated: true,
	}
	return pageOf(c, byPlace, where(slices.Values(instances), func(in *api.Instance) bool { return strings.HasPrefix(in.Name, c.prefix) }))
}

func getJobInstances(c *call, v *state.Snapshot) ([]*api.Instance, uint64, error) {
	instances, index, err := c.Server.Instances(c.r.Context(), c.namespace, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	page, err := pageOfInstances(c, instances)
	return page, index, err
}

func getJobInstance(c *call, v *state.Snapshot) (*api.Instance, uint64, error) {
	instances, index, err := c.Server.Instances(c.r.Context(), c.namespace, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	name := c.r.PathValue("name")
	for _, in := range instances {
		if in.Name == name {
			return in, index, nil
		}
	}
	return nil, index, api.Errorf(api.CodeNotFound, "instance %q not found: job %s has %s", name, c.jobName(c.id()), someInstances(instances))
}

// instancesShown is how many names an unknown one is answered with.
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

// instanceVerbs are what operators do to instances.
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
