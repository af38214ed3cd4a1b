// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// guidLength is the length of Nelson's identifiers, which are lower-case letters and digits.
const guidLength = 12

// stackGUID returns the identifier of a stack: the beginning of its id.
func stackGUID(s *api.Stack) string {
	return firstHex(strings.ReplaceAll(s.ID, "-", ""), s.ID)
}

// derivedGUID returns the identifier of an object that has no id of its own.
func derivedGUID(parts ...string) string { return firstHex("", strings.Join(parts, "\x00")) }

// firstHex returns the first digits of a text of hexadecimal digits, or those of the hash of another
// text if there are too few.
func firstHex(digits, otherwise string) string {
	isHex := func(r rune) bool { return strings.ContainsRune("0123456789abcdef", r) }
	if len(digits) >= guidLength && !strings.ContainsFunc(digits[:guidLength], func(r rune) bool { return !isHex(r) }) {
		return digits[:guidLength]
	}
	sum := sha256.Sum256([]byte(otherwise))
	return hex.EncodeToString(sum[:])[:guidLength]
}

// A deployment is a stack in a list.
type deployment struct {
	GUID       string   `json:"guid"`
	Datacenter string   `json:"datacenter"`
	Namespace  string   `json:"namespace"`
	StackName  string   `json:"stack_name"`
	Status     string   `json:"status"`
	Plan       string   `json:"plan"`
	Workflow   string   `json:"workflow"`
	DeployedAt int64    `json:"deployed_at"`
	Unit       string   `json:"unit"`
	Type       string   `json:"type"`
	Weight     int      `json:"weight"`
	Resources  []string `json:"resources"`
}

func describeDeployment(p placeOf, s *api.StackStatus) deployment {
	d := deployment{
		GUID: stackGUID(s.Stack), Datacenter: p.first(s), Namespace: s.Namespace, StackName: s.Name, Status: s.Shown, Plan: "default",
		Workflow: "reeve", DeployedAt: millis(s.DeployedAt), Unit: s.Unit, Type: "unit", Weight: percent(s.Share), Resources: []string{},
	}
	if s.IsExternal() {
		d.Workflow = manual
	}
	return d
}

// manual is the workflow of stacks outside of Reeve, and selects them among statuses.
const manual = "manual"

func percent(share float64) int { return int(math.Round(100 * share)) }

// A selection holds the filters of a list.
type selection struct{ namespaces, datacenters, statuses, units []string }

func (q *request) selection(defaults ...string) selection {
	var s selection
	s.namespaces, _ = q.words("ns")
	s.datacenters, _ = q.words("dc")
	s.units, _ = q.words("unit")
	var given bool
	if s.statuses, given = q.words("status"); !given {
		s.statuses = defaults
	}
	return s
}

// has reports whether a selection contains a stack. A filter without values selects all.
func (s selection) has(p placeOf, stack *api.StackStatus) bool {
	isAmong := func(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
	return isAmong(s.namespaces, stack.Namespace) && isAmong(s.units, stack.Unit) &&
		(len(s.datacenters) == 0 || p.isIn(stack, s.datacenters)) &&
		(isAmong(s.statuses, stack.Shown) || stack.IsExternal() && stack.IsRoutable() && slices.Contains(s.statuses, manual))
}

func listDeployments(q *request) error {
	wanted := q.selection()
	if len(wanted.namespaces) == 0 {
		return failf(http.StatusBadRequest, "name the namespaces, as in ?ns=dev,qa")
	}
	p := places(q.core.Store().Snapshot())
	list := []deployment{}
	for _, s := range q.core.ListStacks() {
		if wanted.has(p, s) {
			list = append(list, describeDeployment(p, s))
		}
	}
	return q.json(http.StatusOK, list)
}

// stack returns the stack of the guid in the request's path.
func (q *request) stack() (*api.StackStatus, error) {
	guid := q.r.PathValue("guid")
	var found []*api.StackStatus
	for _, s := range q.core.ListStacks() {
		if stackGUID(s.Stack) == guid {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, failf(http.StatusNotFound, "deployment %q not found; list deployments with: nelson stacks list", api.Printable(guid, 64))
	case 1:
		return found[0], nil
	}
	return nil, failf(http.StatusConflict, "deployment %q is ambiguous: the ids of %s and %s begin with it; use the commands of reeve", guid, found[0].Name, found[1].Name)
}
