// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"reflect"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// An effect is what changing a field does to running instances.
type effect uint8

const (
	replaces    effect = iota // the running task would be another one: a new allocation
	inPlace                   // nothing that runs depends on it, or it follows by itself
	whereabouts               // in place as long as the node still suits
	looksInto                 // decided by the fields of what it holds
)

// effects classify every field of the job, its groups and tasks. A test fails
// for a field that is missing here.
var effects = map[reflect.Type]map[string]effect{
	reflect.TypeFor[api.Job](): {
		"Region": inPlace, "Namespace": inPlace, "ID": inPlace, "Name": inPlace, "Type": replaces,
		"Priority": inPlace, "AllAtOnce": inPlace, "Datacenters": whereabouts, "NodePool": whereabouts,
		"Constraints": whereabouts, "Affinities": inPlace, "Groups": inPlace, "Update": inPlace,
		"Multiregion": inPlace, "Spreads": inPlace, "Periodic": inPlace, "Parameterized": inPlace,
		"Reschedule": inPlace, "Migrate": inPlace, "Meta": replaces, "UI": inPlace,
		"ConsulNamespace": replaces, "VaultNamespace": replaces, "Plans": inPlace,
		"Stop": inPlace, "Purge": inPlace, "ParentID": inPlace, "Dispatched": inPlace, "DispatchIdempotencyToken": inPlace,
		"Payload": replaces, "NomadTokenID": inPlace, "Stack": inPlace, "Status": inPlace, "StatusDescription": inPlace, "Held": inPlace, "HeldReason": inPlace,
		"Stable": inPlace, "Version": inPlace, "SubmitTime": inPlace, "CreateIndex": inPlace,
		"ModifyIndex": inPlace, "JobModifyIndex": inPlace, "VersionTag": inPlace,
		"Domain": inPlace, "Annotation": inPlace, "MaxPending": inPlace, "MaxRejections": inPlace, "Callback": inPlace,
		"Failure": inPlace,
	},
	reflect.TypeFor[api.Group](): {
		"Name": inPlace, "Count": inPlace, "Constraints": whereabouts, "Affinities": inPlace,
		"Tasks": looksInto, "Spreads": inPlace, "Volumes": replaces, "Restart": inPlace,
		"Disconnect": inPlace, "Reschedule": inPlace, "EphemeralDisk": replaces, "Update": inPlace,
		"Migrate": inPlace, "Networks": replaces, "Meta": replaces, "Services": looksInto,
		"ShutdownDelay": inPlace, "MaxRunDuration": inPlace, "StopAfterClientDisconnect": inPlace,
		"MaxClientDisconnect": inPlace, "Scaling": inPlace, "Consul": replaces,
		"PreventRescheduleOnLost": inPlace, "Recovery": inPlace, "Routes": inPlace, "MetricTags": inPlace, "Fate": inPlace,
	},
	reflect.TypeFor[api.Task](): {
		"Name": inPlace, "Driver": replaces, "User": replaces, "Lifecycle": replaces, "Config": replaces,
		"Constraints": whereabouts, "Affinities": inPlace, "Env": replaces, "Services": looksInto,
		"Resources": replaces, "Restart": inPlace, "Meta": replaces, "KillTimeout": inPlace,
		"Logs": replaces, "Artifacts": replaces, "Vault": replaces, "Consul": replaces,
		"Templates": looksInto, "DispatchPayload": replaces, "VolumeMounts": replaces, "CSIPlugin": replaces,
		"Leader": replaces, "ShutdownDelay": inPlace, "KillSignal": inPlace, "Kind": replaces,
		"Scaling": inPlace, "Secrets": replaces, "Identity": replaces, "Identities": replaces,
		"Actions": inPlace, "Schedule": replaces, "Goal": replaces, "Essential": replaces, "Monitor": inPlace,
		"ResultFile": inPlace, "Daemon": replaces, "After": inPlace, "Timeout": inPlace,
	},
	reflect.TypeFor[api.Service](): {
		"Name": inPlace, "Tags": inPlace, "CanaryTags": inPlace, "EnableTagOverride": inPlace,
		"PortLabel": inPlace, "AddressMode": inPlace, "Address": inPlace, "Checks": inPlace,
		"CheckRestart": inPlace, "Connect": replaces, "Meta": inPlace, "CanaryMeta": inPlace,
		"TaggedAddresses": inPlace, "TaskName": inPlace, "OnUpdate": inPlace, "Identity": replaces,
		"Weights": inPlace, "Provider": inPlace, "Cluster": inPlace, "Kind": inPlace,
	},
}

// Destructive reports whether an instance of the old job version's group must
// be replaced to get the new version's group; otherwise it is updated in place. It ignores
// constraints, datacenters and pool: their effect depends on the node.
func Destructive(oldJob *api.Job, old *api.Group, newJob *api.Job, new *api.Group) bool {
	return differs(oldJob, newJob) || differs(old, new) ||
		servicesDiffer(old.Services, new.Services) || tasksDiffer(old.Tasks, new.Tasks)
}

// differs reports whether a field that replaces instances has another value.
func differs[T any](old, new *T) bool { return changed(old, new, replaces) }

// changed reports whether a field with that effect has another value.
func changed[T any](old, new *T, with effect) bool {
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(new).Elem()
	for name, e := range effects[a.Type()] {
		if e == with && !same(a.FieldByName(name), b.FieldByName(name)) {
			return true
		}
	}
	return false
}

// same compares values deeply; nil and empty lists and maps are the same.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice, reflect.Map:
		if a.Len() == 0 && b.Len() == 0 {
			return true
		}
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func tasksDiffer(old, new []*api.Task) bool {
	if len(old) != len(new) {
		return true
	}
	for _, was := range old {
		is := find(new, func(t *api.Task) bool { return t.Name == was.Name })
		if is == nil || differs(was, is) || templatesDiffer(was.Templates, is.Templates) || servicesDiffer(was.Services, is.Services) {
			return true
		}
	}
	return false
}

// templatesDiffer compares the templates of a task. Whether a change restarts the task at once or in its turn is followed
// in place: the default depends on the number of instances, which changes without replacing any.
func templatesDiffer(old, new []*api.Template) bool {
	return !slices.EqualFunc(old, new, func(was, is *api.Template) bool {
		if was == nil || is == nil {
			return was == is
		}
		a, b := *was, *is
		for _, t := range []*api.Template{&a, &b} {
			if t.ChangeMode == api.TemplateRolling {
				t.ChangeMode = api.TemplateRestart
			}
		}
		return reflect.DeepEqual(a, b)
	})
}

// servicesDiffer compares services that both have; that one comes or goes is
// followed in place.
func servicesDiffer(old, new []*api.Service) bool {
	for _, was := range old {
		is := find(new, func(s *api.Service) bool { return s.Name == was.Name })
		if is != nil && differs(was, is) {
			return true
		}
	}
	return false
}

func find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}

// MovesAbout reports whether the versions differ in where the group may run.
func MovesAbout(oldJob *api.Job, old *api.Group, newJob *api.Job, new *api.Group) bool {
	if changed(oldJob, newJob, whereabouts) || changed(old, new, whereabouts) {
		return true
	}
	for _, was := range old.Tasks {
		is := new.Task(was.Name)
		if is == nil || changed(was, is, whereabouts) {
			return true
		}
	}
	return false
}
