// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"reflect"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
)

// permitVolumes checks the host volumes that the jobs of a body mount: the rules host_volume of
// policies say who may mount which ones.
func (c *call) permitVolumes(body any) error {
	r := c.rights()
	if r == nil || r.ACL.IsManagement() {
		return nil
	}
	for _, job := range jobsIn(reflect.ValueOf(body), 0) {
		for _, g := range job.Groups {
			if g == nil {
				continue
			}
			for _, v := range g.Volumes {
				if v == nil || v.Type != api.VolumeTypeHost {
					continue
				}
				capability := acl.MountReadWrite
				if v.ReadOnly {
					capability = acl.MountReadOnly
				}
				if err := c.permitQuestion(r, acl.Question{Capability: capability, Name: v.Source}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// jobsIn returns the jobs of a body: its own, and those of its lists.
func jobsIn(v reflect.Value, depth int) (all []*api.Job) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		if job, ok := v.Interface().(*api.Job); ok {
			return []*api.Job{job}
		}
		v = v.Elem()
	}
	if depth > bodyDepth+1 {
		return nil
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, jobsIn(v.Index(i), depth)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				all = append(all, jobsIn(v.Field(i), depth+1)...)
			}
		}
	}
	return all
}
