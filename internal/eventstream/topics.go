// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A topic is one kind of event.
type topic struct {
	name   string
	object any // an empty object of the payload's type
	// events yields an event for each current object.
	events func(*state.Snapshot) iter.Seq[*api.Event]
	// table holds the objects, and describe fills in the event that reports a change of
	// one. describe is nil if the topic is derived.
	table    state.Table
	describe func(*api.Event, state.Change)
}

// topics lists the topics in the order in which a snapshot sends them: the declared
// nouns first, because other objects refer to them.
var topics = slices.Concat(declaredTopics(), []topic{
	stored(api.TopicNode, state.TableNodes, (*state.Snapshot).Nodes, describeNode),
	stored(api.TopicJob, state.TableJobs, (*state.Snapshot).Jobs, describeJob),
	stored(api.TopicEvaluation, state.TableEvaluations, (*state.Snapshot).Evaluations, describeEvaluation),
	stored(api.TopicDeployment, state.TableDeployments, (*state.Snapshot).Deployments, describeDeployment),
	stored(api.TopicAllocation, state.TableAllocations, (*state.Snapshot).Allocations, describeAllocation),
	stored(api.TopicPlan, state.TableDecisions, (*state.Snapshot).AllDecisions, describeDecision),
	stored(api.TopicRestart, state.TableRestarts, (*state.Snapshot).Restarts, describeRestart),
	stored(api.TopicCallback, state.TableCallbacks, allCallbacks, describeCallback),
	{name: api.TopicInstance, object: &api.Instance{}, events: instancesOf},
	{name: api.TopicService, object: &api.ServiceRegistration{}, events: servicesOfState},
	{name: api.TopicStep, object: &api.StepState{}, events: func(*state.Snapshot) iter.Seq[*api.Event] { return func(func(*api.Event) bool) {} }}, // see Stream.sendStepsOf
})

// topicsByTable finds the topic of a change.
var topicsByTable = func() map[state.Table]*topic {
	byTable := map[state.Table]*topic{}
	for i := range topics {
		if topics[i].describe != nil {
			byTable[topics[i].table] = &topics[i]
		}
	}
	return byTable
}()

// foreignTopics are topics of Nomad without events here. Its clients may ask for them.
var foreignTopics = []string{
	"ACLAuthMethod", "ACLBindingRule", "ACLPolicy", "ACLRole", "ACLToken", "CSIPlugin", "CSIVolume", "Operator", "Variable",
}

// IsForeignTopic reports whether a topic is one of Nomad without events here.
func IsForeignTopic(name string) bool { return slices.Contains(foreignTopics, name) }

// TopicNames returns the names of all topics, sorted.
func TopicNames() []string {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.name
	}
	slices.Sort(names)
	return names
}

// A change is a change of one object of type T.
type change[T any] struct {
	op       state.Op
	old, new *T
	object   *T // new, or old if the object was deleted
}

// choose returns the type of an event that only distinguishes deletions.
func (c change[T]) choose(put, deleted string) string {
	if c.op == state.Delete {
		return deleted
	}
	return put
}

// stored returns the topic of a table's objects. The payload is the object, unless
// describe sets another one.
func stored[T any](name string, table state.Table, all func(*state.Snapshot) iter.Seq[*T], describe func(*api.Event, change[T])) topic {
	t := topic{name: name, object: new(T), table: table}
	t.describe = func(e *api.Event, c state.Change) {
		typed := change[T]{op: c.Op}
		typed.old, _ = c.Old.(*T)
		typed.new, _ = c.New.(*T)
		if typed.object = typed.new; c.Op == state.Delete {
			typed.object = typed.old
		}
		describe(e, typed)
		if e.Payload == nil {
			e.Payload = map[string]any{name: typed.object}
		}
	}
	t.events = func(v *state.Snapshot) iter.Seq[*api.Event] { return currentEvents(&t, all(v)) }
	return t
}

// declaredTopics returns the topics of the nouns that package state declares.
func declaredTopics() []topic {
	var declared []topic
	for _, n := range state.Nouns() {
		if n.Topic == "" {
			continue
		}
		t := topic{name: n.Topic, object: n.Empty, table: n.Table}
		t.describe = func(e *api.Event, c state.Change) {
			object := c.New
			if c.Op == state.Delete {
				object = c.Old
			}
			key := n.EventKey(object)
			e.Key, e.Namespace, e.FilterKeys = key.Key, key.Namespace, key.FilterKeys
			e.Type, e.Payload = n.EventType(c.Op, object), map[string]any{n.Topic: object}
		}
		t.events = func(v *state.Snapshot) iter.Seq[*api.Event] { return currentEvents(&t, n.All(v, "")) }
		declared = append(declared, t)
	}
	return declared
}

// currentEvents yields objects as if each had just been stored.
func currentEvents[T any](t *topic, objects iter.Seq[T]) iter.Seq[*api.Event] {
	return func(yield func(*api.Event) bool) {
		for object := range objects {
			if !yield(t.event(0, state.Change{Op: state.Put, New: object})) {
				return
			}
		}
	}
}

// event returns the event that reports a change of an object of the topic. The event of
// a deletion shows the object's last state.
func (t *topic) event(index uint64, c state.Change) *api.Event {
	e := &api.Event{Topic: t.name, Index: index, Deleted: c.Op == state.Delete, FilterKeys: []string{}}
	t.describe(e, c)
	return e
}

// eventOf returns the event that reports a change, nil if its table has no topic.
func eventOf(index uint64, c state.Change) *api.Event {
	if t := topicsByTable[c.Table]; t != nil {
		return t.event(index, c)
	}
	return nil
}
