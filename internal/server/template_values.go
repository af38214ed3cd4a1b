// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

// Values of templates.
//
// A node asks for the values that the templates of its tasks need, in one request for all of them, and waits until one
// differs from what it has. The server grants each value by the rights of the task that needs it, which are those
// of its default identity. So a node never receives what none of its tasks may read.

const (
	// templateBytes bounds the values of one answer. The node asks again for the others.
	templateBytes = 8 << 20
	// templatePause is the shortest time between two looks at the state for a request that waits.
	templatePause = 50 * time.Millisecond
)

// templateTables are the tables on which values depend, besides the catalog.
var templateTables = append([]state.Table{state.TableVariables}, state.ACLTables...)

// TemplateValues returns the values that differ from the node's, once one does, or the request has waited long enough.
func (s *Server) TemplateValues(ctx context.Context, node string, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error) {
	needs, services := 0, false
	for _, t := range r.Tasks {
		if t == nil {
			return nil, api.Errorf(api.CodeInvalid, "Tasks: an entry is empty")
		}
		for _, n := range t.Needs {
			if n == nil {
				return nil, api.Errorf(api.CodeInvalid, "Needs: an entry is empty")
			}
			services = services || n.Kind == api.TemplateService || n.Kind == api.TemplateServices
		}
		needs += len(t.Needs)
	}
	if needs > api.MaxTemplateNeeds {
		return nil, api.Errorf(api.CodeInvalid, "Tasks: need %d values together; at most %d are allowed", needs, api.MaxTemplateNeeds)
	}
	until := time.Now().Add(min(max(r.Wait, 0), api.MaxTemplateWait))
	ctx, cancel := context.WithDeadline(ctx, until.Add(time.Second))
	defer cancel()
	for {
		v := s.store.Snapshot()
		if services {
			if err := s.catalog.WaitSeen(ctx, v.TableIndex(state.TableAllocations)); err != nil {
				return nil, err
			}
		}
		answer := s.templateValues(v, node, r)
		if left := time.Until(until); len(answer.Values) > 0 || left <= 0 {
			return answer, nil
		}
		if !s.awaitTemplateChange(ctx, v, r, services, until) {
			return answer, nil
		}
	}
}

// awaitTemplateChange waits for a change that may concern the values. It reports false when the wait ended first.
func (s *Server) awaitTemplateChange(ctx context.Context, v *state.Snapshot, r *api.TemplateValuesRequest, services bool, until time.Time) bool {
	var waits sync.WaitGroup
	defer waits.Wait()
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	changed := make(chan bool, 2)
	waits.Go(func() {
		_, err := s.store.WaitChange(waiting, v.TableIndex(templateTables...), templateTables...)
		changed <- err == nil
	})
	if services {
		before := s.serviceIndex(v, r)
		waits.Go(func() {
			err := s.catalog.Wait(waiting, "", "", func() bool { return s.serviceIndex(v, r) != before })
			changed <- err == nil
		})
	}
	if !<-changed || waiting.Err() != nil {
		return false
	}
	select { // further changes gather
	case <-time.After(templatePause):
		return true
	case <-waiting.Done():
		return true
	}
}

// serviceIndex returns a number that changes with the services that the request names.
func (s *Server) serviceIndex(v *state.Snapshot, r *api.TemplateValuesRequest) (sum uint64) {
	for _, t := range r.Tasks {
		for _, n := range t.Needs {
			var index uint64
			switch namespace := namespaceOfNeed(v, t, n); n.Kind {
			case api.TemplateService:
				_, index = s.catalog.Service(namespace, n.Name)
			case api.TemplateServices:
				_, index = s.catalog.Names(namespace)
			}
			sum = sum*31 + index
		}
	}
	return sum
}

func namespaceOfNeed(v *state.Snapshot, t *api.TemplateTask, n *api.TemplateNeed) string {
	if n.Namespace != "" {
		return n.Namespace
	}
	if a := v.Allocation(t.AllocID); a != nil {
		return a.Namespace
	}
	return ""
}

// templateValues returns the values that differ in a state.
func (s *Server) templateValues(v *state.Snapshot, node string, r *api.TemplateValuesRequest) *api.TemplateValuesResponse {
	answer := &api.TemplateValuesResponse{Values: []*api.TemplateValue{}}
	size := 0
	for i, t := range r.Tasks {
		var rights *Rights
		a := v.Allocation(t.AllocID)
		if a != nil && a.NodeID == node {
			rights = s.rightsOfTask(v, t.Task, t.AllocID)
		}
		for k, n := range t.Needs {
			value := s.templateValue(v, a, rights, n)
			if value == nil || value.Stamp == n.Stamp {
				continue
			}
			if size > templateBytes {
				return answer
			}
			if value.Variable != nil {
				for key, text := range value.Variable.Items {
					size += len(key) + len(text)
				}
			}
			size += 256 * (1 + len(value.Variables) + len(value.Services) + len(value.Names))
			value.Task, value.Need = i, k
			answer.Values = append(answer.Values, value)
		}
	}
	return answer
}

// templateValue returns the value of a need; without its content if the node has it.
func (s *Server) templateValue(v *state.Snapshot, a *api.Allocation, rights *Rights, n *api.TemplateNeed) *api.TemplateValue {
	if rights == nil {
		return forbidden("the task does not run on this node")
	}
	namespace := n.Namespace
	if namespace == "" {
		namespace = a.Namespace
	}
	switch n.Kind {
	case api.TemplateVariable:
		return s.templateVariable(v, rights, namespace, n)
	case api.TemplateVariables:
		value := &api.TemplateValue{State: api.TemplatePresent}
		for stored := range v.Variables(namespace, n.Name) {
			if rights.ACL.Allows(acl.Question{Capability: acl.ListVariables, Name: namespace, Path: stored.Path}) {
				m := stored.VariableMetadata.Copy()
				m.Lock = nil
				value.Variables = append(value.Variables, m)
			}
		}
		value.Stamp = stampOf(value.Variables)
		return value
	case api.TemplateService, api.TemplateServices:
		q := acl.Question{Capability: acl.ReadJob, Name: namespace}
		if namespace != a.Namespace && !rights.ACL.Allows(q) {
			return forbidden(rights.ACL.Explain(q).Reason)
		}
		value := &api.TemplateValue{State: api.TemplatePresent}
		if n.Kind == api.TemplateService {
			value.Services, _ = s.catalog.Service(namespace, n.Name)
			value.Stamp = stampOf(value.Services)
			return value
		}
		names, _ := s.catalog.Names(namespace)
		for _, name := range names {
			value.Names = append(value.Names, &api.ServiceStub{ServiceName: name.ServiceName, Tags: name.Tags})
		}
		value.Stamp = stampOf(value.Names)
		return value
	}
	return forbidden("this version does not know values of this kind")
}

func (s *Server) templateVariable(v *state.Snapshot, rights *Rights, namespace string, n *api.TemplateNeed) *api.TemplateValue {
	q := acl.Question{Capability: acl.ReadVariables, Name: namespace, Path: n.Name}
	if !rights.ACL.Allows(q) {
		return forbidden(rights.ACL.Explain(q).Reason)
	}
	stored := v.Variable(namespace, n.Name)
	if stored == nil {
		return &api.TemplateValue{State: api.TemplateAbsent, Stamp: api.TemplateAbsent}
	}
	// After the restoration of a snapshot, another content may have the same index.
	stamp := strconv.FormatUint(stored.ModifyIndex, 36) + "." + strconv.FormatInt(stored.ModifyTime, 36)
	if stamp == n.Stamp {
		return nil
	}
	shown, err := s.Variable(v, stored)
	if err != nil {
		return nil // the keyring of this server lacks the key for a moment; the node keeps what it has
	}
	shown.Lock = nil
	return &api.TemplateValue{State: api.TemplatePresent, Stamp: stamp, Variable: shown}
}

func forbidden(reason string) *api.TemplateValue {
	return &api.TemplateValue{State: api.TemplateForbidden, Stamp: api.TemplateForbidden + " " + reason, Reason: reason}
}

// stampOf returns a stamp for a list.
func stampOf(list any) string {
	h := fnv.New128a()
	if err := json.NewEncoder(h).Encode(list); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// taskMayRead returns what a task of a job would get of a variable, for warnings: whether it exists, and why the
// task may not read it; "" if it may.
func (s *Server) taskMayRead(v *state.Snapshot, j *api.Job, group, task, namespace, path string) (exists bool, refusal string) {
	if namespace == "" {
		namespace = j.Namespace
	}
	policies := []*acl.Policy{}
	for p := range v.ACLPolicies("") {
		if p.JobACL.Matches(j.Namespace, j.ID, group, task) {
			policies = append(policies, s.rights.parse(p))
		}
	}
	rights := acl.NewBesides(acl.New(acl.OfTask(j.Namespace, j.ID, group, task, api.IsVariablePath)), policies...)
	q := acl.Question{Capability: acl.ReadVariables, Name: namespace, Path: path}
	if d := rights.Explain(q); !d.Allowed {
		refusal = strings.TrimSpace(d.Reason)
	}
	return v.Variable(namespace, path) != nil, refusal
}
