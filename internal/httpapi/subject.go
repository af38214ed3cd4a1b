// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

// A subject is what a route's capability is for.
type subject string

const (
	ofNamespace  subject = "namespace" // that the query names
	ofBodyJob    subject = "job"       // in the body, whose namespace may differ from the query's
	ofAllocation subject = "allocation"
	ofEvaluation subject = "evaluation"
	ofDeployment subject = "deployment"
	ofRestart    subject = "restart"
	ofCallback   subject = "callback"
	ofVolume     subject = "host volume"
	ofClaim      subject = "volume claim"
	ofVariable   subject = "variable"
	ofManagement subject = "management" // only management tokens have it
	// ofAnyNamespace is for routes that show namespaces in which the caller has a capability.
	ofAnyNamespace subject = "any namespace"
	ofCluster      subject = "cluster" // not of a namespace
	// ofQuota is for routes that show the quotas of namespaces in which the caller has a capability:
	// their handlers decide.
	ofQuota subject = "quota"
	// ofEvents is for the event stream: each topic has its own capability.
	ofEvents subject = "events"
	// everyNamespace is for routes about objects to which jobs of all namespaces belong.
	everyNamespace subject = "every namespace"
	// ofDialect is for requests of a dialect about a job of one namespace.
	ofDialect subject = "dialect"
	// ofDelegation is for routes that change the access to a namespace: their handlers decide, because the
	// capability counts also in namespaces below.
	ofDelegation subject = "delegation"
)

// subjects are what the namespace capabilities of routes are for, by the longest prefix of the
// pattern.
var subjects = []struct {
	prefix string
	is     subject
}{
	{"/v1/job/", ofNamespace},
	{"/v1/jobs/statuses", ofNamespace},
	{"/v1/jobs", ofNamespace},
	{"/v1/validate/job", ofNamespace},
	{"/v1/plans", ofNamespace},
	{"/v1/instances", ofNamespace},
	{"/v1/stacks/graph", ofNamespace},
	{"/v1/stacks", ofNamespace},
	{"/v1/stack/", ofNamespace},
	{"/v1/units", ofNamespace},
	{"/v1/unit/", ofNamespace},
	{"/v1/shifts", ofNamespace},
	{"/v1/shift/", ofNamespace},
	{"/v1/audit", ofNamespace},
	{"/v1/orphans", ofNamespace},
	{"/v1/restarts", ofNamespace},
	{"/v1/restart/", ofRestart},
	{"/v1/callbacks", ofNamespace},
	{"/v1/callback/", ofCallback},
	{"/v1/allocations", ofNamespace},
	{"/v1/allocation/", ofAllocation},
	{"/v1/client/fs/", ofAllocation},
	{"/v1/client/allocation/", ofAllocation},
	{"/v1/evaluations", ofNamespace},
	{"/v1/evaluation/", ofEvaluation},
	{"/v1/deployments", ofNamespace},
	{"/v1/deployment/", ofDeployment},
	{"/v1/routes", ofNamespace},
	{"/v1/scaling/", ofNamespace},
	{"/v1/services", ofNamespace},
	{"/v1/service/", ofNamespace},
	{"/v1/search", ofNamespace},
	{"/v1/catalog", ofNamespace},
	{"/v1/event/stream", ofEvents},
	{"/v1/volumes", ofNamespace},
	{"/v1/volumes/claims", ofNamespace},
	{"/v1/volumes/claim/", ofClaim},
	{"/v1/volume/host/", ofVolume},
	{"/v1/volume/host/create", ofNamespace},
	{"/v1/volume/host/register", ofNamespace},
	{"/v1/domain/", everyNamespace},
	{"/v1/node/pool/{id}/jobs", ofNamespace},
	{"/v1/namespaces", ofAnyNamespace},
	{"/v1/namespace/", ofAnyNamespace},
}

// jobBodies are bodies with a job, whose handlers call takeNamespace.
var jobBodies = []reflect.Type{reflect.TypeFor[api.RegisterJobRequest](), reflect.TypeFor[api.PlanJobRequest](), reflect.TypeFor[api.ValidateJobRequest]()}

// managementOnly are routes below the prefixes above that reach beyond a namespace.
var managementOnly = map[string]bool{
	"/v1/stacks/sweep": true,
}

// settle derives what the route asks of tokens.
func (r *route) settle() {
	r.needs, _ = acl.Named(string(r.Capability))
	r.about = r.subject()
	r.Audited = r.isSensitive()
}

func (r *route) subject() subject {
	switch {
	case r.needs == acl.None, managementOnly[r.Pattern]:
		return ofManagement
	case r.In != nil && slices.Contains(jobBodies, r.In):
		return ofBodyJob
	case r.needs.Scope() == acl.Variables:
		return ofVariable
	case r.needs == acl.Delegate:
		return ofDelegation
	case r.needs == acl.ReadQuota:
		return ofQuota
	case r.needs.Scope() != acl.Namespace:
		return ofCluster
	}
	best, is := "", ofManagement
	for _, o := range subjects {
		if strings.HasPrefix(r.Pattern, o.prefix) && len(o.prefix) > len(best) {
			best, is = o.prefix, o.is
		}
	}
	return is
}

// An owned object has an id and a namespace.
type owned struct{ id, namespace string }

// objectsOf returns the object with an id, or those whose ids begin with it and whose namespaces may be
// shown: as many as the error of find shows, and one more.
func objectsOf(v *state.Snapshot, is subject, id string, may func(namespace string) bool) []owned {
	switch is {
	case ofAllocation:
		return matching(id, may, v.Allocation(id), v.AllocationsPrefix, func(a *api.Allocation) owned { return owned{a.ID, a.Namespace} })
	case ofEvaluation:
		return matching(id, may, v.Evaluation(id), v.EvaluationsPrefix, func(e *api.Evaluation) owned { return owned{e.ID, e.Namespace} })
	case ofDeployment:
		return matching(id, may, v.Deployment(id), v.DeploymentsPrefix, func(d *api.Deployment) owned { return owned{d.ID, d.Namespace} })
	case ofRestart:
		return matching(id, may, v.Restart(id), v.RestartsPrefix, func(r *api.JobRestart) owned { return owned{r.ID, r.Namespace} })
	case ofCallback:
		return matching(id, may, v.Callback(id), v.CallbacksPrefix, func(k *api.Callback) owned { return owned{k.ID, k.Namespace} })
	case ofVolume:
		return matching(id, may, v.HostVolume(id), v.HostVolumes, func(h *api.HostVolume) owned { return owned{h.ID, h.Namespace} })
	case ofClaim:
		all := func(string) iter.Seq[*api.VolumeClaim] { return func(func(*api.VolumeClaim) bool) {} } // only by whole ids
		return matching(id, may, v.VolumeClaim(id), all, func(k *api.VolumeClaim) owned { return owned{k.ID, k.Namespace} })
	}
	return nil
}

func matching[T any](id string, may func(string) bool, exact *T, withPrefix func(string) iter.Seq[*T], of func(*T) owned) (found []owned) {
	if exact != nil {
		return []owned{of(exact)}
	}
	if id == "" {
		return nil
	}
	for object := range withPrefix(id) {
		if is := of(object); may(is.namespace) {
			found = append(found, is)
		}
		if len(found) > ambiguousShown {
			break
		}
	}
	return found
}
