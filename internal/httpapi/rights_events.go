// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/eventstream"
	"github.com/reeve-run/reeve/internal/server"
)

// topicRights are the capabilities that the topics of the event stream need, of the cluster. None: the
// events concern namespaces, and need read-job there.
var topicRights = map[string]acl.Capability{
	api.TopicNode: acl.ReadNode, api.TopicNodePool: acl.ReadNode, api.TopicDomain: acl.ReadOperator,
}

// namespaceRights are the capabilities that topics need in the namespace of an event, other than read-job.
var namespaceRights = map[string]acl.Capability{api.TopicHostVolume: acl.HostVolumeRead}

// needsFor returns the capability that events of a topic need in their namespace.
func (c *call) needsFor(topic string) acl.Capability {
	if capability := namespaceRights[topic]; capability != acl.None {
		return capability
	}
	return c.route.needs
}

// permitEvents returns an error if the caller may receive no event of a topic that the query names. Other
// topics are left out.
func (c *call) permitEvents(r *server.Rights) error {
	if c.query == nil {
		c.query = c.r.URL.Query()
	}
	topics := c.query["topic"]
	if len(topics) == 0 {
		topics = []string{api.TopicAll}
	}
	for _, topic := range topics {
		topic, _, _ = strings.Cut(topic, ":")
		switch capability := topicRights[topic]; {
		case capability != acl.None:
			if err := c.permit(capability, ""); err != nil {
				return err
			}
			continue
		case eventstream.IsForeignTopic(topic):
			return c.forbidden("only management tokens receive the topic %s", topic)
		case topic == api.TopicNamespace:
			continue // events of namespaces without a right are left out
		}
		namespace := cmp.Or(c.query.Get("namespace"), api.DefaultNamespace)
		if namespace == allNamespaces && r.ACL.AllowsAnywhere(c.needsFor(topic)) {
			continue
		}
		if err := c.permit(c.needsFor(topic), namespace); err != nil {
			return err
		}
	}
	return nil
}

// mayReceive returns what decides whether the caller may receive an event; nil: all. It asks for the
// rights again for each event, because they change while the stream is open.
func (c *call) mayReceive() func(*api.Event) bool {
	if _, limited := c.author(); !limited {
		return nil
	}
	fixed := *c // the request's fields change while it is served
	return fixed.maySeeEvent
}

func (c *call) maySeeEvent(e *api.Event) bool {
	if capability := topicRights[e.Topic]; capability != acl.None {
		return c.may(capability, "")
	}
	switch {
	case e.Topic == api.TopicNamespace:
		return c.maySee(e.Key)
	case e.Namespace == "", e.Namespace == api.AnyNamespace, !slices.Contains(namespacedTopics, e.Topic):
		return false // a new topic is closed until it is listed
	}
	return c.may(c.needsFor(e.Topic), e.Namespace)
}

// namespacedTopics are the topics whose events contain only objects of their namespace.
var namespacedTopics = []string{
	api.TopicJob, api.TopicEvaluation, api.TopicAllocation, api.TopicDeployment, api.TopicPlan, api.TopicRestart, api.TopicCallback,
	api.TopicInstance, api.TopicService, api.TopicStep, api.TopicStack, api.TopicUnit, api.TopicShift, api.TopicHostVolume,
}
