// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// serviceSpec is a version of a job as a configuration of the dialect.
type serviceSpec struct {
	Name                     string             `json:"name"`
	Goal                     string             `json:"goal"`
	User                     string             `json:"user"`
	WebURL                   *string            `json:"web-url"`
	PodSpecs                 []podSpec          `json:"pod-specs"`
	ReplacementFailurePolicy *replacementPolicy `json:"replacement-failure-policy"`
}

type replacementPolicy struct {
	PermanentFailureTimeout int64 `json:"permanent-failure-timeout-secs"`
	MinReplaceDelay         int64 `json:"min-replace-delay-secs"`
}

type podSpec struct {
	Type              string     `json:"type"`
	User              string     `json:"user"`
	Count             int        `json:"count"`
	AllowDecommission bool       `json:"allow-decommission"`
	TaskSpecs         []taskSpec `json:"task-specs"`
}

type taskSpec struct {
	Name            string            `json:"name"`
	Goal            string            `json:"goal"`
	Essential       bool              `json:"essential"`
	CommandSpec     commandSpec       `json:"command-spec"`
	ResourceSet     resourceSet       `json:"resource-set"`
	Labels          map[string]string `json:"task-labels"`
	ConfigFiles     []configFile      `json:"config-files"`
	KillGracePeriod int64             `json:"kill-grace-period"` // seconds
}

type commandSpec struct {
	Value       string            `json:"value"`
	Environment map[string]string `json:"environment"`
}

type resourceSet struct {
	ID        string         `json:"id"`
	Resources []resourceSpec `json:"resource-specifications"`
}

type resourceSpec struct {
	Name  string         `json:"name"`
	Value value[float64] `json:"value"`
}

type configFile struct {
	Name     string `json:"name"`
	Path     string `json:"relative-path"`
	Template string `json:"template-content"`
}

func serviceSpecOf(job *api.Job) serviceSpec {
	spec := serviceSpec{Name: job.ID, Goal: jobGoal(job), PodSpecs: []podSpec{}}
	for _, g := range job.Groups {
		pod := podSpec{Type: g.Name, Count: g.Size(), AllowDecommission: true, TaskSpecs: []taskSpec{}}
		for _, t := range g.Tasks {
			pod.TaskSpecs = append(pod.TaskSpecs, taskSpecOf(job, t))
		}
		if len(g.Tasks) > 0 {
			pod.User = g.Tasks[0].User
		}
		spec.PodSpecs = append(spec.PodSpecs, pod)
		if spec.User == "" {
			spec.User = pod.User
		}
		if spec.ReplacementFailurePolicy == nil && g.Recovery != nil && g.Recovery.PermanentAfter != nil {
			spec.ReplacementFailurePolicy = &replacementPolicy{PermanentFailureTimeout: int64(g.Recovery.PermanentAfter.Seconds())}
		}
	}
	return spec
}

func taskSpecOf(job *api.Job, t *api.Task) taskSpec {
	spec := taskSpec{
		Name: t.Name, Goal: goalOf(job, t), Essential: t.Essential == nil || *t.Essential,
		CommandSpec: commandSpec{commandOf(t), orNone(t.Env)},
		ResourceSet: resourceSet{ID: t.Name + "-resource-set", Resources: []resourceSpec{}},
		Labels:      orNone(t.Meta), ConfigFiles: []configFile{},
	}
	if r := t.Resources; r != nil {
		if r.Cores != nil && *r.Cores > 0 {
			spec.ResourceSet.Resources = append(spec.ResourceSet.Resources, resourceSpec{"cpus", value[float64]{float64(*r.Cores)}})
		} else if r.CPU != nil {
			spec.ResourceSet.Resources = append(spec.ResourceSet.Resources, resourceSpec{"cpus", value[float64]{float64(*r.CPU) / megahertzPerCPU}})
		}
		if r.MemoryMB != nil {
			spec.ResourceSet.Resources = append(spec.ResourceSet.Resources, resourceSpec{"mem", value[float64]{float64(*r.MemoryMB)}})
		}
	}
	if t.KillTimeout != nil {
		spec.KillGracePeriod = int64(t.KillTimeout.Seconds())
	}
	for _, tmpl := range t.Templates {
		spec.ConfigFiles = append(spec.ConfigFiles, configFile{templateName(tmpl), tmpl.DestPath, tmpl.EmbeddedTmpl})
	}
	return spec
}

// goalOf returns the dialect's name of a task's goal.
func goalOf(job *api.Job, t *api.Task) string {
	switch t.Goal {
	case api.GoalOnce:
		return "ONCE"
	case api.GoalFinish:
		return "FINISH"
	case api.GoalRunning:
		return "RUNNING"
	}
	if !t.IsMain() && !t.IsSidecar() {
		return "FINISH"
	}
	return jobGoal(job)
}

func jobGoal(job *api.Job) string {
	if job != nil && (job.Type == api.JobTypeBatch || job.Type == api.JobTypeSysBatch) {
		return "FINISH"
	}
	return "RUNNING"
}

// templateName returns the dialect's name of a template: the last segment of its
// destination.
func templateName(t *api.Template) string {
	return t.DestPath[strings.LastIndexByte(t.DestPath, '/')+1:]
}

func variablesOf(env map[string]string) []variable {
	variables := []variable{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		variables = append(variables, variable{name, env[name]})
	}
	return variables
}

func orNone(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
