// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/hashicorp/go-bexpr"

	"github.com/reeve-run/reeve/api"
)

// eventDatum is an event as filters see it: the same names as in its JSON, but
// with every topic's object, all nil but one. What is selected of an event of
// another topic is absent then, and what no topic has is a mistake.
type eventDatum struct {
	Topic, Type, Key, Namespace string
	FilterKeys                  []string
	Index                       uint64
	Deleted                     bool
	Payload                     struct {
		Job        *api.Job
		Evaluation *api.Evaluation
		Allocation *api.Allocation
		Deployment *api.Deployment
		Node       *api.Node
		NodePool   *api.NodePool
		Plan       *api.Decision
		Restart    *api.JobRestart
		Domain     *api.Domain
		Instance   *api.Instance
		Service    *api.ServiceRegistration
	}
}

func datumOf(e *api.Event) *eventDatum {
	d := &eventDatum{Topic: e.Topic, Type: e.Type, Key: e.Key, Namespace: e.Namespace, FilterKeys: e.FilterKeys, Index: e.Index, Deleted: e.Deleted}
	p := &d.Payload
	switch object := e.Payload[e.Topic].(type) {
	case *api.Job:
		p.Job = object
	case *api.Evaluation:
		p.Evaluation = object
	case *api.Allocation:
		p.Allocation = object
	case *api.Deployment:
		p.Deployment = object
	case *api.Node:
		p.Node = object
	case *api.NodePool:
		p.NodePool = object
	case *api.Decision:
		p.Plan = object
	case *api.JobRestart:
		p.Restart = object
	case *api.Domain:
		p.Domain = object
	case *api.Instance:
		p.Instance = object
	case *api.ServiceRegistration:
		p.Service = object
	}
	return d
}

// parseEventFilter reads an expression about events. Names are tried on an empty
// object of each wanted topic, so that a wrong one is not taken for silence.
func parseEventFilter(expression string, wanted topics) (*bexpr.Evaluator, error) {
	f, err := parseFilter(expression)
	if err != nil {
		return nil, err
	}
	empty := map[string]any{
		api.TopicJob: &api.Job{}, api.TopicEvaluation: &api.Evaluation{}, api.TopicAllocation: &api.Allocation{}, api.TopicDeployment: &api.Deployment{},
		api.TopicNode: &api.Node{}, api.TopicNodePool: &api.NodePool{}, api.TopicPlan: &api.Decision{}, api.TopicRestart: &api.JobRestart{}, api.TopicCallback: &api.Callback{},
		api.TopicDomain: &api.Domain{}, api.TopicInstance: &api.Instance{}, api.TopicService: &api.ServiceRegistration{},
	}
	for _, topic := range knownTopics {
		if !wanted.wantsTopic(topic) {
			continue
		}
		if _, err := matchesFilter(f, datumOf(&api.Event{Topic: topic, Payload: map[string]any{topic: empty[topic]}})); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// admits reports whether a subscriber is to be told of an event.
func (q *eventQuery) admits(c *call, e *api.Event) (bool, error) {
	if e.Namespace != "" && !c.inNamespace(e.Namespace) || !q.topics.want(e) {
		return false, nil
	}
	if q.only == nil {
		return true, nil
	}
	return matchesFilter(q.only, datumOf(e))
}
