// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"reflect"

	"github.com/reeve-run/reeve/internal/acl"
)

// permitBody checks the namespaces that a body names, those of jobs and its own, and the volumes of jobs.
func (c *call) permitBody(body any) error {
	r := c.rights()
	if r == nil || r.ACL.IsManagement() {
		return nil
	}
	if err := c.permitVolumes(body); err != nil {
		return err
	}
	if c.route.needs == acl.None || c.route.needs.Scope() != acl.Namespace || c.route.about == ofBodyJob || c.route.about == ofDelegation {
		return nil // takeNamespace checks the one that a job gets, and delegation.go the others
	}
	for _, namespace := range namespacesIn(reflect.ValueOf(body), 0) {
		if namespace == allNamespaces {
			return c.permitEvery()
		}
		if err := c.permit(c.route.needs, namespace); err != nil {
			return err
		}
	}
	return nil
}

// bodyDepth is the depth at which bodies name namespaces: of the body, and of a job in it or in its list.
const bodyDepth = 2

// namespacesIn returns the namespaces that a body names.
func namespacesIn(v reflect.Value, depth int) (all []string) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, namespacesIn(v.Index(i), depth)...)
		}
	case reflect.Struct:
		if n := v.FieldByName("Namespace"); n.IsValid() && n.Kind() == reflect.String && n.Len() > 0 {
			all = append(all, n.String())
		}
		for i := range v.NumField() {
			if depth < bodyDepth && v.Type().Field(i).IsExported() {
				all = append(all, namespacesIn(v.Field(i), depth+1)...)
			}
		}
	}
	return all
}

// signBody sets who acts, in a body that says so, to the name of the caller's token: it cannot be another's.
func (c *call) signBody(body any) {
	name := c.tokenName()
	if name == "" {
		return
	}
	if by := reflect.ValueOf(body).Elem(); by.Kind() == reflect.Struct {
		if field := by.FieldByName("By"); field.IsValid() && field.Kind() == reflect.String {
			field.SetString(name)
		}
	}
}

// tokenName returns the name of the caller's token; its accessor id if it has no name; "" for other
// callers.
func (c *call) tokenName() string {
	if r := c.rights(); r != nil {
		return cmp.Or(r.Name, r.Accessor)
	}
	return ""
}
