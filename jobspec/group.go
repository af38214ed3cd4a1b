// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A groupText is a group as written, where blocks that its tasks share are written once.
type groupText struct {
	api.Group
	shared
}

// shared holds blocks that apply to every task of the group without such a block.
type shared struct {
	vault   *api.Vault
	secrets []*api.Secret
	env     map[string]string
}

var groupSchema = &schema[groupText]{
	noun:  "group",
	label: "name",
	name:  func(g *groupText) *string { return &g.Name },
	oneOf: map[string][]string{"fate": {api.FateShared, api.FateIndependent, api.FateCodependent}},
	attrs: attrs[groupText]{
		"count":                        func(g *groupText) any { return &g.Count },
		"fate":                         func(g *groupText) any { return &g.Fate },
		"shutdown_delay":               func(g *groupText) any { return &g.ShutdownDelay },
		"max_run_duration":             func(g *groupText) any { return &g.MaxRunDuration },
		"stop_after_client_disconnect": func(g *groupText) any { return &g.StopAfterClientDisconnect },
		"max_client_disconnect":        func(g *groupText) any { return &g.MaxClientDisconnect },
		"prevent_reschedule_on_lost":   func(g *groupText) any { return &g.PreventRescheduleOnLost },
	},
	blocks: blocks[groupText]{
		"constraint":     many(constraintSchema, func(g *groupText) *[]*api.Constraint { return &g.Constraints }),
		"affinity":       many(affinitySchema, func(g *groupText) *[]*api.Affinity { return &g.Affinities }),
		"task":           many(taskSchema, func(g *groupText) *[]*api.Task { return &g.Tasks }),
		"spread":         many(spreadSchema, func(g *groupText) *[]*api.Spread { return &g.Spreads }),
		"volume":         {known: volumeSchema.keys(), block: readVolume},
		"restart":        one(restartSchema, func(g *groupText) **api.Restart { return &g.Restart }),
		"disconnect":     one(disconnectSchema, func(g *groupText) **api.Disconnect { return &g.Disconnect }),
		"reschedule":     one(rescheduleSchema, func(g *groupText) **api.Reschedule { return &g.Reschedule }),
		"ephemeral_disk": one(diskSchema, func(g *groupText) **api.EphemeralDisk { return &g.EphemeralDisk }),
		"update":         one(updateSchema, func(g *groupText) **api.Update { return &g.Update }),
		"recovery":       one(recoverySchema, func(g *groupText) **api.Recovery { return &g.Recovery }),
		"migrate":        one(migrateSchema, func(g *groupText) **api.Migrate { return &g.Migrate }),
		"network":        many(networkSchema, func(g *groupText) *[]*api.Network { return &g.Networks }),
		"meta":           texts(func(g *groupText) *map[string]string { return &g.Meta }),
		"service":        many(serviceSchema, func(g *groupText) *[]*api.Service { return &g.Services }),
		"scaling":        one(scalingSchema, func(g *groupText) **api.Scaling { return &g.Scaling }),
		"consul":         one(consulSchema, func(g *groupText) **api.Consul { return &g.Consul }),
		"vault":          one(vaultSchema, func(g *groupText) **api.Vault { return &g.vault }),
		"secret":         many(secretSchema, func(g *groupText) *[]*api.Secret { return &g.secrets }),
		"route":          many(routeSchema, func(g *groupText) *[]*api.Route { return &g.Routes }),
		"metric_tag":     {known: metricTagSchema.keys(), block: readMetricTag},
		"env":            texts(func(g *groupText) *map[string]string { return &g.env }),
	},
}

// hand copies the shared blocks to a task.
func (s *shared) hand(t *api.Task) {
	if t.Vault == nil && s.vault != nil {
		v := *s.vault
		t.Vault = &v
	}
	for _, secret := range s.secrets {
		if !slices.ContainsFunc(t.Secrets, func(own *api.Secret) bool { return own.Name == secret.Name }) {
			c := *secret
			t.Secrets = append(t.Secrets, &c)
		}
	}
	for name, value := range s.env {
		if _, own := t.Env[name]; own {
			continue
		}
		if t.Env == nil {
			t.Env = map[string]string{}
		}
		t.Env[name] = value
	}
}

// readVolume reads a volume and stores it by name.
func readVolume(d *decoder, g *groupText, b *block) {
	v := new(api.VolumeRequest)
	read(d, volumeSchema, b, v)
	if _, dup := g.Volumes[v.Name]; dup {
		d.addAt(b.labelAt[0], "there is already a volume named %q here", v.Name)
		return
	}
	if g.Volumes == nil {
		g.Volumes = map[string]*api.VolumeRequest{}
	}
	g.Volumes[v.Name] = v
}
