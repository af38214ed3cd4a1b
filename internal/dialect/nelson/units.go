// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// A unit is a feature version of a unit in a namespace.
type unit struct {
	GUID        string  `json:"guid"`
	Datacenter  string  `json:"datacenter"`
	Namespace   string  `json:"namespace"`
	ServiceType string  `json:"service_type"`
	Version     feature `json:"version"`
}

type feature struct {
	Major int64 `json:"major"`
	Minor int64 `json:"minor"`
}

func listUnits(q *request) error {
	wanted, p := q.selection(api.StackReady, api.StackWarming, manual), places(q.core.Store().Snapshot())
	list, seen := []unit{}, make(map[string]bool)
	for _, s := range q.core.ListStacks() {
		if !wanted.has(p, s) {
			continue
		}
		v := s.Version.Feature()
		guid := derivedGUID("unit", s.Namespace, s.Unit, v.String())
		if !seen[guid] {
			seen[guid] = true
			list = append(list, unit{guid, p.first(s), s.Namespace, s.Unit, feature{int64(v.Major), int64(v.Minor)}})
		}
	}
	return q.json(http.StatusOK, list)
}

// featureStacks returns the unit and the feature version in the body of a request, and its stacks in all
// namespaces that are not terminated.
func (q *request) featureStacks() (name string, v api.FeatureVersion, stacks []*api.StackStatus, err error) {
	var body struct {
		ServiceType string   `json:"service_type"`
		Version     *feature `json:"version"`
	}
	if err = q.decode(&body); err != nil {
		return "", v, nil, err
	}
	if err = api.ValidateUnitName(body.ServiceType); err != nil {
		return "", v, nil, invalid("service_type", "%v", err)
	}
	if body.Version == nil {
		return "", v, nil, invalid("version", "version is missing, as in {\"major\": 1, \"minor\": 2}")
	}
	if v, err = featureVersion(body.Version.Major, body.Version.Minor); err != nil {
		return "", v, nil, err
	}
	for _, s := range q.core.ListStacks() {
		if s.Unit == body.ServiceType && s.Version.Feature() == v && s.Status != api.StackTerminated {
			stacks = append(stacks, s)
		}
	}
	if len(stacks) == 0 {
		return "", v, nil, failf(http.StatusNotFound, "unit %s has no stack of version %s; list units with: nelson units list", body.ServiceType, v)
	}
	return body.ServiceType, v, stacks, nil
}

// deprecateUnit deprecates a feature version in all namespaces.
func deprecateUnit(q *request) error {
	name, v, stacks, err := q.featureStacks()
	if err != nil {
		return err
	}
	_, err = q.core.UnitVerb(q.r.Context(), stacks[0].Namespace, name, "deprecate", &api.UnitVerbRequest{Version: v.String(), AllNamespaces: true, By: operator})
	if err != nil {
		return err
	}
	return done(q)
}

// expireUnit ends the time of the ready stacks of a feature version in all namespaces. A policy may still keep
// them.
func expireUnit(q *request) error {
	_, _, stacks, err := q.featureStacks()
	if err != nil {
		return err
	}
	for _, s := range stacks {
		if !s.IsRoutable() {
			continue
		}
		_, err := q.core.StackVerb(q.r.Context(), s.Namespace, s.Name, "expire", &api.StackVerbRequest{By: operator})
		if code := api.CodeOf(err); err != nil && code != api.CodeConflict && code != api.CodeNotFound { // those changed meanwhile
			return err
		}
	}
	return done(q)
}

// commitUnit deploys a version of a unit of the default namespace in another one.
func commitUnit(q *request) error {
	var body struct {
		Unit    string `json:"unit"`
		Version string `json:"version"`
		Target  string `json:"target"`
	}
	if err := q.decode(&body); err != nil {
		return err
	}
	if err := api.ValidateUnitName(body.Unit); err != nil {
		return invalid("unit", "%v", err)
	}
	if _, err := api.ParseStackVersion(body.Version); err != nil {
		return invalid("version", "%v", err)
	}
	if q.core.Store().Snapshot().Namespace(body.Target) == nil {
		return failf(http.StatusNotFound, "namespace %q not found; create it with: nelson namespaces create", api.Printable(body.Target, 64))
	}
	_, err := q.core.DeployStacks(q.r.Context(), &api.DeployStacksRequest{From: []string{api.DefaultNamespace + ":" + body.Unit + "@" + body.Version}, By: operator}, body.Target)
	if err != nil {
		return err
	}
	return done(q)
}
