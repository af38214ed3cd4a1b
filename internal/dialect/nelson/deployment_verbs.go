// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// registerManual registers a stack outside of Reeve. Nelson finds such stacks by name, and Reeve by
// address: the address is in the body, or it is the first word of the description, which Nelson's
// command line can set.
func registerManual(q *request) error {
	var body struct {
		Datacenter  string `json:"datacenter"`
		Namespace   string `json:"namespace"`
		ServiceType string `json:"service_type"`
		Version     string `json:"version"`
		Description string `json:"description"`
		Port        int64  `json:"port"`
		Address     string `json:"address"`
	}
	if err := q.decode(&body); err != nil {
		return err
	}
	snap := q.core.Store().Snapshot()
	if err := checkDatacenter(snap, body.Datacenter); err != nil {
		return err
	}
	if snap.Namespace(body.Namespace) == nil {
		return failf(http.StatusNotFound, "namespace %q not found; create it with: nelson namespaces create", api.Printable(body.Namespace, 64))
	}
	address := body.Address
	if address == "" {
		address, _, _ = strings.Cut(strings.TrimSpace(body.Description), " ")
	}
	ip, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return invalid("description", "%q is not an IP address: begin the description with the IP address of the stack, as in \"10.0.0.7 the database\", or add the field address", api.Printable(address, 64))
	case body.Port < 1 || body.Port > 65535:
		return invalid("port", "port %d: must be between 1 and 65535", body.Port)
	}
	res, err := q.core.RegisterStack(q.r.Context(), &api.RegisterStackRequest{
		Unit: body.ServiceType, Address: netip.AddrPortFrom(ip, uint16(body.Port)).String(), Stack: &api.StackSpec{Version: body.Version}, By: operator,
	}, body.Namespace)
	if err != nil {
		return err
	}
	q.w.Header().Set("Location", prefix+"/v1/deployments/"+stackGUID(res.Stack.Stack))
	return q.json(http.StatusOK, describeDeployment(places(q.core.Store().Snapshot()), res.Stack))
}

func redeploy(q *request) error {
	s, err := q.stack()
	if err != nil {
		return err
	}
	res, err := q.core.RedeployStack(q.r.Context(), s.Namespace, s.Name, &api.StackVerbRequest{By: operator})
	if err != nil {
		return err
	}
	return q.json(http.StatusOK, describeDeployment(places(q.core.Store().Snapshot()), res.Stack))
}

// reverseShift reverses the running shift to a stack. The refusals are Nelson's.
func reverseShift(q *request) error {
	s, err := q.stack()
	if err != nil {
		return err
	}
	shift := latestShift(q.core.Store().Snapshot(), s)
	refused := func(text string) error {
		return &failure{status: http.StatusBadRequest, text: text, body: message{text}}
	}
	switch {
	case shift == nil || shift.To != s.Name:
		return refused("deployment (" + stackGUID(s.Stack) + ") is not the target for latest traffic shift")
	case shift.Status == api.ShiftReversing || shift.Status == api.ShiftReversed:
		return refused("can't reverse a traffic shift that's already been reversed")
	case !shift.IsActive():
		return refused("can't reverse a traffic shift that is currently not in progress")
	}
	if _, err := q.core.ShiftVerb(q.r.Context(), s.Namespace, shift.ID, "reverse", &api.ShiftVerbRequest{By: operator}); err != nil {
		return err
	}
	return done(q)
}

// latestShift returns the newest shift of a stack's unit and major version, or nil.
func latestShift(snap *state.Snapshot, s *api.StackStatus) (latest *api.Shift) {
	for shift := range snap.Shifts() {
		if shift.Namespace == s.Namespace && shift.Unit == s.Unit && shift.Major == s.Version.Major &&
			(latest == nil || shift.StartedAt.After(latest.StartedAt)) {
			latest = shift
		}
	}
	return latest
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
