// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"
)

// TestEveryNameOfNomadsJobFilesIsKnown walks the hcl tags of Nomad's public types
// and looks for each in our tables.
func TestEveryNameOfNomadsJobFilesIsKnown(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type, k *keys, path string)
	walk = func(typ reflect.Type, k *keys, path string) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, kind, _ := strings.Cut(strings.TrimSpace(f.Tag.Get("hcl")), ",")
			if name == "" || kind == "label" {
				continue
			}
			if !slices.Contains(k.all(), name) {
				t.Errorf("%s has no %q (Nomad's %s.%s)", path, name, typ.Name(), f.Name)
				continue
			}
			if elem := element(f.Type); kind == "block" && elem.Kind() == reflect.Struct && k.nested[name] != nil {
				walk(elem, k.nested[name], path+"."+name)
			}
		}
	}
	walk(reflect.TypeFor[nomad.Job](), jobSchema.keys(), "job")
	walk(reflect.TypeFor[nomad.ConsulConnect](), connectShape.keys(), "connect")
	if len(seen) < 60 {
		t.Errorf("only %d of Nomad's types were reached: %v", len(seen), slices.Collect(maps.Keys(seen)))
	}
}

// element is the type behind pointers, lists and maps.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// TestEveryArgumentGoesWhereNomadPutsIt compares the JSON key that each argument
// ends up under.
func TestEveryArgumentGoesWhereNomadPutsIt(t *testing.T) {
	compared := 0
	for _, c := range []struct {
		noun  string
		ours  map[string]string
		nomad reflect.Type
	}{
		{"job", targets(jobSchema), reflect.TypeFor[nomad.Job]()},
		{"group", targets(groupSchema), reflect.TypeFor[nomad.TaskGroup]()},
		{"task", targets(taskSchema), reflect.TypeFor[nomad.Task]()},
		{"update", targets(updateSchema), reflect.TypeFor[nomad.UpdateStrategy]()},
		{"restart", targets(restartSchema), reflect.TypeFor[nomad.RestartPolicy]()},
		{"reschedule", targets(rescheduleSchema), reflect.TypeFor[nomad.ReschedulePolicy]()},
		{"migrate", targets(migrateSchema), reflect.TypeFor[nomad.MigrateStrategy]()},
		{"disconnect", targets(disconnectSchema), reflect.TypeFor[nomad.DisconnectStrategy]()},
		{"ephemeral_disk", targets(diskSchema), reflect.TypeFor[nomad.EphemeralDisk]()},
		{"volume", targets(volumeSchema), reflect.TypeFor[nomad.VolumeRequest]()},
		{"mount_options", targets(mountOptionsSchema), reflect.TypeFor[nomad.CSIMountOptions]()},
		{"volume_mount", targets(volumeMountSchema), reflect.TypeFor[nomad.VolumeMount]()},
		{"csi_plugin", targets(csiPluginSchema), reflect.TypeFor[nomad.TaskCSIPluginConfig]()},
		{"constraint", targets(constraintSchema), reflect.TypeFor[nomad.Constraint]()},
		{"affinity", targets(affinitySchema), reflect.TypeFor[nomad.Affinity]()},
		{"spread", targets(spreadSchema), reflect.TypeFor[nomad.Spread]()},
		{"target", targets(spreadTargetSchema), reflect.TypeFor[nomad.SpreadTarget]()},
		{"network", targets(networkSchema), reflect.TypeFor[nomad.NetworkResource]()},
		{"port", targets(portSchema), reflect.TypeFor[nomad.Port]()},
		{"dns", targets(dnsSchema), reflect.TypeFor[nomad.DNSConfig]()},
		{"resources", targets(resourcesSchema), reflect.TypeFor[nomad.Resources]()},
		{"device", targets(deviceSchema), reflect.TypeFor[nomad.RequestedDevice]()},
		{"numa", targets(numaSchema), reflect.TypeFor[nomad.NUMAResource]()},
		{"service", targets(serviceSchema), reflect.TypeFor[nomad.Service]()},
		{"check", targets(checkSchema), reflect.TypeFor[nomad.ServiceCheck]()},
		{"check_restart", targets(checkRestartSchema), reflect.TypeFor[nomad.CheckRestart]()},
		{"weights", targets(weightsSchema), reflect.TypeFor[nomad.ServiceWeights]()},
		{"template", targets(templateSchema), reflect.TypeFor[nomad.Template]()},
		{"change_script", targets(changeScriptSchema), reflect.TypeFor[nomad.ChangeScript]()},
		{"wait", targets(waitSchema), reflect.TypeFor[nomad.WaitConfig]()},
		{"artifact", targets(artifactSchema), reflect.TypeFor[nomad.TaskArtifact]()},
		{"logs", targets(logsSchema), reflect.TypeFor[nomad.LogConfig]()},
		{"lifecycle", targets(lifecycleSchema), reflect.TypeFor[nomad.TaskLifecycle]()},
		{"dispatch_payload", targets(dispatchPayloadSchema), reflect.TypeFor[nomad.DispatchPayloadConfig]()},
		{"action", targets(actionSchema), reflect.TypeFor[nomad.Action]()},
		{"cron", targets(taskCronSchema), reflect.TypeFor[nomad.TaskScheduleCron]()},
		{"identity", targets(identitySchema), reflect.TypeFor[nomad.WorkloadIdentity]()},
		{"vault", targets(vaultSchema), reflect.TypeFor[nomad.Vault]()},
		{"consul", targets(consulSchema), reflect.TypeFor[nomad.Consul]()},
		{"secret", targets(secretSchema), reflect.TypeFor[nomad.Secret]()},
		{"scaling", targets(scalingSchema), reflect.TypeFor[nomad.ScalingPolicy]()},
		{"periodic", targets(periodicSchema), reflect.TypeFor[nomad.PeriodicConfig]()},
		{"parameterized", targets(parameterizedSchema), reflect.TypeFor[nomad.ParameterizedJobConfig]()},
		{"ui", targets(uiSchema), reflect.TypeFor[nomad.JobUIConfig]()},
		{"link", targets(uiLinkSchema), reflect.TypeFor[nomad.JobUILink]()},
		{"strategy", targets(multiregionStrategySchema), reflect.TypeFor[nomad.MultiregionStrategy]()},
		{"region", targets(multiregionRegionSchema), reflect.TypeFor[nomad.MultiregionRegion]()},
	} {
		for i := range c.nomad.NumField() {
			f := c.nomad.Field(i)
			name, kind, _ := strings.Cut(strings.TrimSpace(f.Tag.Get("hcl")), ",")
			ours, ok := c.ours[name]
			if !ok || kind == "block" {
				continue
			}
			if compared++; ours != jsonKey(f) {
				t.Errorf("%s.%s sets %q, in Nomad %q", c.noun, name, ours, jsonKey(f))
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d arguments were compared", compared)
	}
}

// targets says for each plain argument of a table the JSON key of the field it
// sets.
func targets[T any](s *schema[T]) map[string]string {
	obj := new(T)
	base := reflect.ValueOf(obj).Pointer()
	out := map[string]string{}
	for name, field := range s.attrs {
		ptr := reflect.ValueOf(field(obj))
		if ptr.Kind() == reflect.Pointer {
			out[name] = keyAt(reflect.TypeFor[T](), ptr.Type().Elem(), ptr.Pointer()-base)
		}
	}
	return out
}

// keyAt is the JSON key of the field of a type at an offset.
func keyAt(t, field reflect.Type, offset uintptr) string {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous && offset >= f.Offset && offset < f.Offset+f.Type.Size():
			return keyAt(f.Type, field, offset-f.Offset)
		case f.Offset == offset && f.Type == field:
			return jsonKey(f)
		}
	}
	return ""
}
