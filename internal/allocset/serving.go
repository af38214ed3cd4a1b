// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import "github.com/reeve-run/reeve/api"

// addServing adds whether the allocation serves, and how often it crashed.
func (e *Encoder) addServing(w *Allocation, a *api.Allocation) {
	if s := a.Serving; s != nil {
		w.Serving = &Serving{Up: s.Up, Routable: s.Routable, Reason: e.name(s.Reason), Since: s.Since}
		for _, r := range s.Services {
			if r != nil {
				w.Serving.Services = append(w.Serving.Services, e.registration(r, a.ID))
			}
		}
		for _, f := range s.Failing {
			if f != nil {
				w.Serving.Failing = append(w.Serving.Failing, &CheckFailure{
					Kind: e.name(string(f.Kind)), Service: e.name(f.Service), Check: e.name(f.Check), Task: e.name(f.Task),
					Answer: f.Answer, StatusCode: int64(f.StatusCode), ExitCode: int64(f.ExitCode), Since: f.Since,
				})
			}
		}
		if p := s.Warm; p != nil {
			w.Serving.Warm = &WarmProgress{Total: int64(p.Total), Sent: int64(p.Sent), Failed: int64(p.Failed), Failure: p.Failure, Done: p.Done}
		}
	}
	if c := a.Crashes; c != nil {
		w.Crashes = &Crashes{
			Count: int64(c.Count), Total: int64(c.Total), Reason: e.name(c.Reason), At: c.At, Next: c.Next,
			Kind: e.name(string(c.Kind)), Task: e.name(c.Task), ExitCode: int64(c.ExitCode), Signal: int64(c.Signal),
		}
	}
}

func (e *Encoder) registration(r *api.ServiceRegistration, own string) *Registration {
	w := &Registration{
		Id: e.name(r.ID), ServiceName: e.name(r.ServiceName), Namespace: e.name(r.Namespace), Node: e.name(r.NodeID),
		Datacenter: e.name(r.Datacenter), Job: e.name(r.JobID), Address: e.name(r.Address), Port: uint32(r.Port),
		CreateIndex: r.CreateIndex, ModifyIndex: r.ModifyIndex, Weight: int64(r.Weight), Instance: uint32(r.Instance),
	}
	if w.OwnAllocation = r.AllocID == own; !w.OwnAllocation {
		w.Allocation = e.name(r.AllocID)
	}
	for _, tag := range r.Tags {
		w.Tags = append(w.Tags, e.name(tag))
	}
	for _, key := range sortedKeys(r.Meta) {
		w.Meta = append(w.Meta, &Detail{Key: e.name(key), Value: e.name(r.Meta[key])})
	}
	return w
}

func (d *decoder) serving(w *Serving, own string) *api.Serving {
	s := &api.Serving{Up: w.Up, Routable: w.Routable, Reason: d.name(w.Reason), Since: w.Since}
	if len(w.Services) > 0 {
		s.Services = make([]*api.ServiceRegistration, len(w.Services))
	}
	for i, r := range w.Services {
		s.Services[i] = d.registration(r, own)
	}
	for _, f := range w.Failing {
		s.Failing = append(s.Failing, &api.CheckFailure{
			Kind: api.TroubleKind(d.name(f.GetKind())), Service: d.name(f.GetService()), Check: d.name(f.GetCheck()), Task: d.name(f.GetTask()),
			Answer: f.GetAnswer(), StatusCode: int(f.GetStatusCode()), ExitCode: int(f.GetExitCode()), Since: f.GetSince(),
		})
	}
	if p := w.Warm; p != nil {
		s.Warm = &api.WarmProgress{Total: int(p.Total), Sent: int(p.Sent), Failed: int(p.Failed), Failure: p.Failure, Done: p.Done}
	}
	return s
}

func (d *decoder) registration(w *Registration, own string) *api.ServiceRegistration {
	r := &api.ServiceRegistration{
		ID: d.name(w.GetId()), ServiceName: d.name(w.GetServiceName()), Namespace: d.name(w.GetNamespace()), NodeID: d.name(w.GetNode()),
		Datacenter: d.name(w.GetDatacenter()), JobID: d.name(w.GetJob()), AllocID: d.name(w.GetAllocation()), Address: d.name(w.GetAddress()),
		Port: int(w.GetPort()), CreateIndex: w.GetCreateIndex(), ModifyIndex: w.GetModifyIndex(), Weight: int(w.GetWeight()), Instance: int(w.GetInstance()),
	}
	if w.GetOwnAllocation() {
		r.AllocID = own
	}
	if len(w.GetTags()) > 0 {
		r.Tags = make([]string, len(w.Tags))
		for i, tag := range w.Tags {
			r.Tags[i] = d.name(tag)
		}
	}
	if len(w.GetMeta()) > 0 {
		r.Meta = make(map[string]string, len(w.Meta))
		for _, m := range w.Meta {
			r.Meta[d.name(m.GetKey())] = d.name(m.GetValue())
		}
	}
	return r
}

func (d *decoder) crashes(w *Crashes) *api.Crashes {
	return &api.Crashes{
		Count: int(w.Count), Total: int(w.Total), Reason: d.name(w.Reason), At: w.At, Next: w.Next,
		Kind: api.TroubleKind(d.name(w.Kind)), Task: d.name(w.Task), ExitCode: int(w.ExitCode), Signal: int(w.Signal),
	}
}
