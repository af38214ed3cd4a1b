// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A jobText is a job as written.
type jobText struct {
	api.Job
	shared
}

var jobSchema = &schema[jobText]{
	noun:  "job",
	label: "name",
	name:  func(j *jobText) *string { return &j.ID },
	oneOf: map[string][]string{"type": {api.JobTypeService, api.JobTypeBatch, api.JobTypeSystem, api.JobTypeSysBatch}},
	attrs: attrs[jobText]{
		"region":           func(j *jobText) any { return &j.Region },
		"namespace":        func(j *jobText) any { return &j.Namespace },
		"id":               func(j *jobText) any { return &j.ID },
		"name":             func(j *jobText) any { return &j.Name },
		"type":             func(j *jobText) any { return &j.Type },
		"priority":         func(j *jobText) any { return &j.Priority },
		"all_at_once":      func(j *jobText) any { return &j.AllAtOnce },
		"datacenters":      func(j *jobText) any { return &j.Datacenters },
		"node_pool":        func(j *jobText) any { return &j.NodePool },
		"consul_namespace": func(j *jobText) any { return &j.ConsulNamespace },
		"vault_namespace":  func(j *jobText) any { return &j.VaultNamespace },
		"domain":           func(j *jobText) any { return &j.Domain },
		"annotation":       func(j *jobText) any { return &j.Annotation },
		"max_pending":      func(j *jobText) any { return &j.MaxPending },
		"max_rejections":   func(j *jobText) any { return &j.MaxRejections },
	},
	blocks: blocks[jobText]{
		"group":         {known: groupSchema.keys(), block: readGroup},
		"task":          {known: taskSchema.keys(), block: readLoneTask},
		"constraint":    many(constraintSchema, func(j *jobText) *[]*api.Constraint { return &j.Constraints }),
		"affinity":      many(affinitySchema, func(j *jobText) *[]*api.Affinity { return &j.Affinities }),
		"spread":        many(spreadSchema, func(j *jobText) *[]*api.Spread { return &j.Spreads }),
		"update":        one(updateSchema, func(j *jobText) **api.Update { return &j.Update }),
		"plan":          many(planSchema, func(j *jobText) *[]*api.PlanSpec { return &j.Plans }),
		"multiregion":   one(multiregionSchema, func(j *jobText) **api.Multiregion { return &j.Multiregion }),
		"periodic":      one(periodicSchema, func(j *jobText) **api.Periodic { return &j.Periodic }),
		"parameterized": one(parameterizedSchema, func(j *jobText) **api.Parameterized { return &j.Parameterized }),
		"reschedule":    one(rescheduleSchema, func(j *jobText) **api.Reschedule { return &j.Reschedule }),
		"migrate":       one(migrateSchema, func(j *jobText) **api.Migrate { return &j.Migrate }),
		"callback":      one(callbackSchema, func(j *jobText) **api.JobCallback { return &j.Callback }),
		"stack":         one(stackSchema, func(j *jobText) **api.StackSpec { return &j.Stack }),
		"meta":          texts(func(j *jobText) *map[string]string { return &j.Meta }),
		"ui":            one(uiSchema, func(j *jobText) **api.JobUI { return &j.UI }),
		"vault":         one(vaultSchema, func(j *jobText) **api.Vault { return &j.vault }),
		"secret":        many(secretSchema, func(j *jobText) *[]*api.Secret { return &j.secrets }),
		"env":           texts(func(j *jobText) *map[string]string { return &j.env }),
	},
	finish: finishJob,
}

// readGroup reads a group and copies its shared blocks to its tasks.
func readGroup(d *decoder, j *jobText, b *block) {
	var g groupText
	read(d, groupSchema, b, &g)
	notePlace(d, &g.Group, b)
	for _, t := range g.Tasks {
		g.hand(t)
	}
	addGroup(d, j, b, &g.Group)
}

// readLoneTask makes a group for a task that is written directly in the job.
func readLoneTask(d *decoder, j *jobText, b *block) {
	t := new(api.Task)
	read(d, taskSchema, b, t)
	addGroup(d, j, b, &api.Group{Name: t.Name, Tasks: []*api.Task{t}})
}

func addGroup(d *decoder, j *jobText, b *block, g *api.Group) {
	if len(b.labels) == 1 && slices.ContainsFunc(j.Groups, func(o *api.Group) bool { return o.Name == g.Name }) {
		d.addAt(b.labelAt[0], "there is already a group named %q here", g.Name)
		return
	}
	j.Groups = append(j.Groups, g)
}

func finishJob(d *decoder, j *jobText, b *block) {
	if j.Name == "" && len(b.labels) == 1 {
		j.Name = b.labels[0]
	}
	for _, g := range j.Groups {
		for _, t := range g.Tasks {
			j.hand(t)
		}
	}
	notePlace(d, &j.Job, b)
	d.checkWhole(&j.Job)
}
