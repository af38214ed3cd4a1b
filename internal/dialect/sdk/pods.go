// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// pod is an instance with the allocation that holds it, or held it last.
type pod struct {
	*api.Instance
	allocation *api.Allocation // nil: it has never been launched
}

// pods returns the service's instances.
func (q *request) pods() ([]pod, error) {
	instances, _, err := q.core.Instances(q.r.Context(), q.job.Namespace, q.job.ID)
	if err != nil {
		return nil, err
	}
	// The first row of a name is the instance; an allocation that leaves it, or runs
	// beside it, is no pod.
	instances = slices.CompactFunc(instances, func(a, b *api.Instance) bool { return a.Name == b.Name })
	instances = slices.DeleteFunc(instances, func(in *api.Instance) bool { return in.Orphan || in.Canary })
	newest := map[string]*api.Allocation{}
	for a := range q.v.AllocationsByJob(q.job.Namespace, q.job.ID) {
		name := api.InstanceName(a.Group, a.Index())
		if last := newest[name]; last == nil || a.CreateIndex > last.CreateIndex {
			newest[name] = a
		}
	}
	pods := make([]pod, len(instances))
	for i, in := range instances {
		pods[i] = pod{in, newest[in.Name]}
		if a := q.v.Allocation(in.Allocation); a != nil {
			pods[i].allocation = a
		}
	}
	return pods, nil
}

// pathPod returns the instance that the path names.
func (q *request) pathPod() (pod, error) {
	name := q.r.PathValue("pod")
	pods, err := q.pods()
	for _, p := range pods {
		if p.Name == name {
			return p, nil
		}
	}
	if err != nil {
		return pod{}, err
	}
	return pod{}, notFound("Pod", name)
}

func listPods(q *request) error {
	pods, err := q.pods()
	if err != nil {
		return err
	}
	names := []string{}
	for _, p := range pods {
		if p.allocation != nil {
			names = append(names, p.Name)
		}
	}
	return q.json(http.StatusOK, names)
}

type podsBody struct {
	Service string    `json:"service"`
	Pods    []podType `json:"pods"`
}

type podType struct {
	Name      string    `json:"name"`
	Instances []podBody `json:"instances"`
}

type podBody struct {
	Name  string     `json:"name"`
	Tasks []taskBody `json:"tasks"`
}

type taskBody struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status,omitempty"` // none: nothing is known of it
}

func getPodStatuses(q *request) error {
	pods, err := q.pods()
	if err != nil {
		return err
	}
	body := podsBody{Service: q.service, Pods: []podType{}}
	for _, p := range pods {
		if p.allocation == nil {
			continue
		}
		if n := len(body.Pods); n == 0 || body.Pods[n-1].Name != p.Group {
			body.Pods = append(body.Pods, podType{Name: p.Group})
		}
		last := &body.Pods[len(body.Pods)-1]
		last.Instances = append(last.Instances, p.body())
	}
	return q.json(http.StatusOK, body)
}

func getPodStatus(q *request) error {
	p, err := q.pathPod()
	if err != nil {
		return err
	}
	if p.allocation == nil {
		return notFound("Pod", p.Name)
	}
	return q.json(http.StatusOK, p.body())
}

func (p pod) body() podBody {
	body := podBody{Name: p.Name, Tasks: []taskBody{}}
	for _, t := range p.tasks() {
		body.Tasks = append(body.Tasks, taskBody{ID: p.taskID(t.Name), Name: p.taskName(t.Name), Status: p.taskStatus(t.Name)})
	}
	return body
}

// tasks returns the pod's tasks that were launched, or soon will be.
func (p pod) tasks() []*api.Task {
	if p.allocation == nil || p.allocation.Job == nil {
		return nil
	}
	g := p.allocation.Job.Group(p.Group)
	if g == nil {
		return nil
	}
	var launched []*api.Task
	for _, t := range g.Tasks {
		if l := p.launch(t.Name); l == nil || l.Token != "" {
			launched = append(launched, t)
		}
	}
	return launched
}

func (p pod) launch(task string) *api.Launch {
	if p.allocation == nil || p.allocation.Launches == nil {
		return nil
	}
	return p.allocation.Launches.Tasks[task]
}

// taskName returns the dialect's name of a task of the pod: pod-task.
func (p pod) taskName(task string) string { return p.Name + "-" + task }

// taskID returns the id of a task in one allocation.
func (p pod) taskID(task string) string { return p.taskName(task) + "__" + p.allocation.ID }
