// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// value wraps an id or a number.
type value[T any] struct {
	Value T `json:"value"`
}

type taskInfo struct {
	Name      string         `json:"name"`
	TaskID    value[string]  `json:"taskId"`
	SlaveID   value[string]  `json:"slaveId"`
	Resources []taskResource `json:"resources"`
	Command   taskCommand    `json:"command"`
	Labels    labels         `json:"labels"`
}

type taskResource struct {
	Name   string          `json:"name"`
	Type   string          `json:"type"`
	Scalar *value[float64] `json:"scalar,omitempty"`
	Ranges *ranges         `json:"ranges,omitempty"`
}

type ranges struct {
	Range []portRange `json:"range"`
}

type portRange struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

type taskCommand struct {
	Value       string      `json:"value"`
	Environment environment `json:"environment"`
}

type environment struct {
	Variables []variable `json:"variables"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type labels struct {
	Labels []label `json:"labels"`
}

type label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type taskState struct {
	TaskID    value[string] `json:"taskId"`
	State     string        `json:"state"`
	SlaveID   value[string] `json:"slaveId"`
	Message   string        `json:"message,omitempty"`
	Timestamp float64       `json:"timestamp,omitempty"` // Unix seconds
}

type podTask struct {
	Info   taskInfo   `json:"info"`
	Status *taskState `json:"status,omitempty"`
}

func getPod(q *request) error {
	p, err := q.pathPod()
	if err != nil {
		return err
	}
	if p.allocation == nil {
		return notFound("Pod", p.Name)
	}
	body := []podTask{}
	for _, t := range p.tasks() {
		body = append(body, podTask{p.info(t), p.state(t.Name)})
	}
	return q.json(http.StatusOK, body)
}

func (p pod) info(t *api.Task) taskInfo {
	a := p.allocation
	return taskInfo{
		Name: p.taskName(t.Name), TaskID: value[string]{p.taskID(t.Name)}, SlaveID: value[string]{a.NodeID},
		Resources: p.resources(t.Name),
		Command:   taskCommand{commandOf(t), environment{variablesOf(t.Env)}},
		Labels: labels{[]label{
			{"index", strconv.Itoa(p.Index)},
			{"task_type", p.Group},
			{"goal_state", goalOf(a.Job, t)},
			{"target_configuration", configurationID(a.Job)},
			{"offer_hostname", a.NodeName},
		}},
	}
}

// resources returns the task's resources and the pod's ports.
func (p pod) resources(task string) []taskResource {
	all := []taskResource{}
	scalar := func(name string, n float64) {
		if n > 0 {
			all = append(all, taskResource{Name: name, Type: "SCALAR", Scalar: &value[float64]{n}})
		}
	}
	r := p.allocation.AllocatedResources
	if r == nil {
		return all
	}
	if t := r.Tasks[task]; t != nil {
		scalar("cpus", cpus(t.CPU))
		scalar("mem", float64(t.Memory.MemoryMB))
	}
	scalar("disk", float64(r.Shared.DiskMB))
	if len(r.Shared.Ports) > 0 {
		ports := &ranges{}
		for _, port := range r.Shared.Ports {
			ports.Range = append(ports.Range, portRange{port.Value, port.Value})
		}
		all = append(all, taskResource{Name: "ports", Type: "RANGES", Ranges: ports})
	}
	return all
}

// megahertzPerCPU is the assumed speed of one cpu of the dialect.
const megahertzPerCPU = 1000

// cpus returns a share of processors: cores, or thousands of megahertz.
func cpus(c api.AllocatedCPU) float64 {
	if len(c.ReservedCores) > 0 {
		return float64(len(c.ReservedCores))
	}
	return float64(c.CPUShares) / megahertzPerCPU
}

func (p pod) state(task string) *taskState {
	status := p.taskStatus(task)
	if status == "" {
		return nil
	}
	s := &taskState{TaskID: value[string]{p.taskID(task)}, State: "TASK_" + status, SlaveID: value[string]{p.allocation.NodeID}}
	if events := p.allocation.TaskStates[task]; events != nil && len(events.Events) > 0 {
		last := events.Events[len(events.Events)-1]
		s.Message = last.DisplayMessage
		s.Timestamp = float64(last.Time) / 1e9
	}
	return s
}

// commandOf returns the command line of a task; "" if its driver has none.
func commandOf(t *api.Task) string {
	command, _ := t.Config["command"].(string)
	words := []string{command}
	if args, ok := t.Config["args"].([]any); ok {
		for _, arg := range args {
			if s, ok := arg.(string); ok {
				words = append(words, s)
			}
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
