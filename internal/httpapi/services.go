// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalogentry"
	"github.com/reeve-run/reeve/internal/state"

	live "github.com/reeve-run/reeve/internal/server/catalog"
)

// servicesByName lists services by namespace and name.
var servicesByName = order[live.Name]{
	key:    func(n live.Name) key { return key{namespace: n.Namespace, id: n.ServiceName} },
	byName: true,
	stored: true,
}

// registrationsByID lists the registrations of a service by namespace and id.
var registrationsByID = order[*api.ServiceRegistration]{
	key:    func(r *api.ServiceRegistration) key { return key{namespace: r.Namespace, id: r.ID} },
	byName: true,
	stored: true,
}

// answerService answers with the result of look. A blocking query waits until the index of
// the result exceeds that of the caller, or until its wait ends. Only changes of the named
// service wake it; "" means all services.
func (c *call) answerService(name string, look func() (any, uint64, error)) error {
	k, ctx := c.Server.Catalog(), c.r.Context()
	if err := k.WaitSeen(ctx, c.Server.Store().Snapshot().TableIndex(allocations)); err != nil {
		return err
	}
	until := time.Now().Add(c.wait)
	if c.index > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	var answer any
	var index uint64
	var err error
	blocks := false
	waited := k.Wait(ctx, c.namespaceOf(name), name, func() bool {
		answer, index, err = look()
		done := err != nil || index > c.index
		blocks = blocks || !done
		return done
	})
	if waited != nil && c.r.Context().Err() != nil {
		return waited
	}
	if blocks && err == nil && c.isCurrentRead() {
		if forwarded, err := c.confirmAgain(until); forwarded || err != nil {
			return err
		}
		if err := c.seeCatalog(); err != nil {
			return err
		}
		answer, index, err = look()
	}
	if err != nil {
		return err
	}
	c.setIndex(max(index, 1))
	return c.writeJSON(200, answer)
}

// namespaceOf returns the namespace in which the call waits for a service.
func (c *call) namespaceOf(name string) string {
	if name == "" {
		return ""
	}
	return c.namespace
}

func listServices(c *call) error {
	return c.answerService("", func() (any, uint64, error) {
		namespace := c.namespace
		if namespace == allNamespaces {
			namespace = ""
		}
		names, index := c.Server.Catalog().Names(namespace)
		page, err := pageOf(c, servicesByName, where(slices.Values(names), func(n live.Name) bool { return strings.HasPrefix(n.ServiceName, c.prefix) }))
		return byNamespace(page), index, err
	})
}

// byNamespace groups the names by namespace.
func byNamespace(names []live.Name) []*api.ServiceListStub {
	all := make([]*api.ServiceListStub, 0, 1)
	for _, n := range names {
		if len(all) == 0 || all[len(all)-1].Namespace != n.Namespace {
			all = append(all, &api.ServiceListStub{Namespace: n.Namespace})
		}
		last := all[len(all)-1]
		last.Services = append(last.Services, &api.ServiceStub{ServiceName: n.ServiceName, Tags: n.Tags})
	}
	return all
}

func getService(c *call) error {
	name := c.r.PathValue("name")
	choose, err := parseChoice(c.query.Get("choose"))
	if err != nil {
		return err
	}
	waitFor := name
	if c.namespace == allNamespaces {
		waitFor = "" // of whichever namespace
	}
	return c.answerService(waitFor, func() (any, uint64, error) {
		var all []*api.ServiceRegistration
		var index uint64
		if c.namespace == allNamespaces {
			all, index = c.Server.Catalog().ServiceEverywhere(name)
		} else {
			all, index = c.Server.Catalog().Service(c.namespace, name)
		}
		page, err := registrationsPage(c, slices.Values(all))
		if err == nil && choose.n > 0 {
			page = catalogentry.Choose(page, choose.n, choose.key)
		}
		return page, index, err
	})
}

// registrationsPage returns the page of the registrations with the requested tags.
func registrationsPage(c *call, all iter.Seq[*api.ServiceRegistration]) ([]*api.ServiceRegistration, error) {
	page, err := pageOf(c, registrationsByID, where(all, func(r *api.ServiceRegistration) bool {
		return !slices.ContainsFunc(c.query["tag"], func(tag string) bool { return !slices.Contains(r.Tags, tag) })
	}))
	if page == nil {
		page = []*api.ServiceRegistration{}
	}
	return page, err
}

// choice is how many registrations are wanted, and for whom.
type choice struct {
	n   int // 0: all
	key string
}

// parseChoice reads "2|key".
func parseChoice(s string) (choice, error) {
	if s == "" {
		return choice{}, nil
	}
	number, key, cut := strings.Cut(s, "|")
	n, err := strconv.Atoi(number)
	if !cut || err != nil || n < 1 || key == "" {
		return choice{}, api.Errorf(api.CodeInvalid, "choose: %q must be a number from 1, \"|\", and what to choose for, as in \"2|client-17\"", s)
	}
	return choice{n, key}, nil
}

// refuseServiceDelete says why a registration cannot be taken out by hand.
func refuseServiceDelete(c *call, _ *none) (none, uint64, error) {
	name, id := c.r.PathValue("name"), c.r.PathValue("id")
	if err := c.seeCatalog(); err != nil {
		return none{}, 0, err
	}
	all, _ := c.Server.Catalog().Service(c.namespace, name)
	i := slices.IndexFunc(all, func(r *api.ServiceRegistration) bool { return r.ID == id })
	if i < 0 {
		return none{}, 0, api.Errorf(api.CodeNotFound, "registration %q of service %q not found", id, name)
	}
	return none{}, 0, api.Errorf(api.CodeInvalid,
		"registration %q exists while allocation %s runs and its checks pass. Stop the allocation, or change the service in job %s",
		id, api.ShortID(all[i].AllocID), c.jobName(all[i].JobID))
}

// seeCatalog waits until the catalog has what the state has.
func (c *call) seeCatalog() error {
	return c.Server.Catalog().WaitSeen(c.r.Context(), c.Server.Store().Snapshot().TableIndex(allocations))
}

func getJobServices(c *call, v *state.Snapshot) ([]*api.ServiceRegistration, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	if job := v.Job(c.namespace, c.id()); job == nil {
		return nil, index, api.Errorf(api.CodeNotFound, "job %s not found", c.jobName(c.id()))
	}
	all, err := c.registrations(v.AllocationsByJob(c.namespace, c.id()))
	return all, index, err
}

func getAllocationServices(c *call, v *state.Snapshot) ([]*api.ServiceRegistration, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	a, err := findAllocation(v, c.id())
	if err != nil {
		return nil, index, err
	}
	all, err := c.registrations(slices.Values([]*api.Allocation{a}))
	return all, a.ModifyIndex, err
}

// registrations are those of the allocations that are routable.
func (c *call) registrations(of iter.Seq[*api.Allocation]) ([]*api.ServiceRegistration, error) {
	if err := c.seeCatalog(); err != nil {
		return nil, err
	}
	return registrationsPage(c, func(yield func(*api.ServiceRegistration) bool) {
		for a := range of {
			e := c.Server.Catalog().Entry(a.ID)
			if e == nil {
				continue
			}
			for _, r := range e.Services {
				if !yield(r) {
					return
				}
			}
		}
	})
}
