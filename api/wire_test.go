// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"
)

// leftOut are keys of the foreign client's types that Reeve does not have on
// purpose: features that are not part of it, or another form of the same.
var leftOut = []string{
	"Services.Connect", // kept free form, to be refused by name
	"Node.CSIControllerPlugins",
	"Node.CSINodePlugins",
	"Node.NodeMaxAllocs",
	"Node.GCVolumesOnNodeGC",
	"Node.Resources", // the old form; NodeResources holds it
	"Node.Reserved",
	"Instances.Locality",
	"MissingNonNodeResources",
	"Allocation.Services",
	"Events.DiskSize",
}

func isLeftOut(path string) bool {
	return slices.ContainsFunc(leftOut, func(s string) bool { return strings.HasSuffix(path, s) })
}

func TestWireKeysCoverForeignClient(t *testing.T) {
	for _, pair := range []struct {
		name          string
		foreign, ours any
	}{
		{"Job", nomad.Job{}, Job{}},
		{"Evaluation", nomad.Evaluation{}, Evaluation{}},
		{"Allocation", nomad.Allocation{}, Allocation{}},
		{"AllocationListStub", nomad.AllocationListStub{}, AllocationListStub{}},
		{"Node", nomad.Node{}, Node{}},
		{"NodeListStub", nomad.NodeListStub{}, NodeListStub{}},
		{"Deployment", nomad.Deployment{}, Deployment{}},
		{"JobListStub", nomad.JobListStub{}, JobListStub{}},
		{"JobSummary", nomad.JobSummary{}, JobSummary{}},
		{"JobDiff", nomad.JobDiff{}, JobDiff{}},
		{"JobRegisterRequest", nomad.JobRegisterRequest{}, RegisterJobRequest{}},
		{"JobPlanRequest", nomad.JobPlanRequest{}, PlanJobRequest{}},
		{"JobPlanResponse", nomad.JobPlanResponse{}, PlanJobResponse{}},
		{"JobRevertRequest", nomad.JobRevertRequest{}, RevertJobRequest{}},
		{"ScalingRequest", nomad.ScalingRequest{}, ScaleJobRequest{}},
		{"JobDispatchRequest", nomad.JobDispatchRequest{}, DispatchJobRequest{}},
		{"JobDispatchResponse", nomad.JobDispatchResponse{}, DispatchJobResponse{}},
		{"ScalingPolicy", nomad.ScalingPolicy{}, Scaling{}},
		{"ScalingPolicyListStub", nomad.ScalingPolicyListStub{}, ScalingPolicyStub{}},
		{"JobScaleStatusResponse", nomad.JobScaleStatusResponse{}, ScaleStatus{}},
	} {
		t.Run(pair.name, func(t *testing.T) {
			compareKeys(t, pair.name, reflect.TypeOf(pair.foreign), reflect.TypeOf(pair.ours), map[reflect.Type]bool{})
		})
	}
}

func compareKeys(t *testing.T, path string, foreign, ours reflect.Type, seen map[reflect.Type]bool) {
	foreign, ours = element(foreign), element(ours)
	if isLeftOut(path) || seen[foreign] {
		return
	}
	if foreign.Kind() != reflect.Struct || foreign == timeType {
		if class(foreign) != class(ours) {
			t.Errorf("%s: is %s in the foreign client, %s here", path, foreign, ours)
		}
		return
	}
	if ours.Kind() != reflect.Struct {
		t.Errorf("%s: is %s in the foreign client, %s here", path, foreign, ours)
		return
	}
	seen[foreign] = true
	defer delete(seen, foreign)
	fields := jsonFields(ours)
	for f := range reflectFields(foreign) {
		if strings.HasPrefix(f.PkgPath, "net/") || f.Name == "LastIndex" || f.Name == "LastContact" || f.Name == "KnownLeader" || f.Name == "RequestTime" {
			continue
		}
		at := path + "." + jsonName(f)
		mine, ok := fields[strings.ToLower(jsonName(f))]
		if !ok {
			if !isLeftOut(at) && len(f.Index) == 1 {
				t.Errorf("%s: missing here", at)
			}
			continue
		}
		compareKeys(t, at, f.Type, mine, seen)
	}
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != bytesType || t.Kind() == reflect.Map && t.Elem().Kind() != reflect.Interface {
		t = t.Elem()
	}
	return t
}

// class is how a type looks in JSON.
func class(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Slice:
		return "string"
	case reflect.Map, reflect.Interface:
		return "any"
	case reflect.Struct:
		return t.String()
	}
	return "number"
}
