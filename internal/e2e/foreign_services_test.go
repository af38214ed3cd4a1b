// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// offering has a job offer its port as a service.
func offering(job *nomad.Job, service string, tags ...string) *nomad.Job {
	g := job.TaskGroups[0]
	g.Networks = []*nomad.NetworkResource{{DynamicPorts: []nomad.Port{{Label: "http"}}}}
	g.Services = []*nomad.Service{{Name: service, Provider: "nomad", PortLabel: "http", Tags: tags}}
	return job
}

// registrations reads a service with blocking queries until it has n.
func (f *foreign) registrations(service string, n int, q nomad.QueryOptions) []*nomad.ServiceRegistration {
	f.t.Helper()
	q.WaitTime = 5 * time.Second
	for late := wait.Limit(f.t, patience); !isClosed(late); {
		all, meta, err := f.api.Services().Get(service, q.WithContext(f.t.Context()))
		if err != nil {
			f.t.Fatal(err)
		}
		if len(all) == n {
			return all
		}
		if meta.LastIndex == 0 {
			f.t.Fatalf("the answer has no index: %+v", meta)
		}
		q.WaitIndex = meta.LastIndex
	}
	f.t.Fatalf("service %s never had %d registrations", service, n)
	return nil
}

func TestForeignClientFindsServices(t *testing.T) {
	f := newForeign(t)
	services := f.api.Services()
	if none, _, err := services.List(nil); err != nil || none == nil || len(none) != 0 {
		t.Errorf("without services the list is %v, %v; want an empty one", none, err)
	}
	if none, _, err := services.Get("web", nil); err != nil || none == nil || len(none) != 0 {
		t.Errorf("an unknown service is %v, %v; want an empty list", none, err)
	}
	f.registerJob(offering(foreignJob("shop", "x", 3), "web", "blue", "v1"))
	all := f.registrations("web", 3, nomad.QueryOptions{})
	for _, r := range all {
		if r.ID == "" || r.ServiceName != "web" || r.Namespace != "default" || r.JobID != "shop" || r.AllocID == "" || r.NodeID == "" ||
			r.Datacenter != "dc1" || r.Address == "" || r.Port == 0 || !slices.Equal(r.Tags, []string{"blue", "v1"}) || r.CreateIndex == 0 || r.ModifyIndex == 0 {
			t.Errorf("a registration lacks something: %+v", r)
		}
		if _, _, err := f.api.Allocations().Info(r.AllocID, nil); err != nil {
			t.Errorf("its allocation: %v", err)
		}
	}
	for _, namespace := range []string{"", "default", "*"} {
		list, meta, err := services.List(&nomad.QueryOptions{Namespace: namespace})
		if err != nil || len(list) != 1 || list[0].Namespace != "default" || len(list[0].Services) != 1 || meta.LastIndex == 0 ||
			list[0].Services[0].ServiceName != "web" || !slices.Equal(list[0].Services[0].Tags, []string{"blue", "v1"}) {
			t.Errorf("services of namespace %q: %+v, %v", namespace, list, err)
		}
	}
	if other, _, err := services.List(&nomad.QueryOptions{Namespace: "other"}); err != nil || len(other) != 0 {
		t.Errorf("services of another namespace: %v, %v", other, err)
	}
	f.choosesServices(all)

	ofJob, _, err := f.api.Jobs().Services("shop", nil)
	if err != nil || len(ofJob) != 3 {
		t.Errorf("services of the job: %d, %v; want 3", len(ofJob), err)
	}
	ofAlloc, _, err := f.api.Allocations().Services(all[0].AllocID, nil)
	if err != nil || len(ofAlloc) != 1 || ofAlloc[0].ID != all[0].ID {
		t.Errorf("services of the allocation: %+v, %v", ofAlloc, err)
	}
	if _, err := services.Delete("web", all[0].ID, nil); err == nil || !strings.Contains(err.Error(), "Stop the allocation") {
		t.Errorf("taking a registration out by hand: %v; want to be told why not", err)
	}
	if _, err := services.Delete("web", "none", nil); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("taking out what is not there: %v", err)
	}
	if _, _, err := f.api.Jobs().Deregister("shop", false, nil); err != nil {
		t.Fatal(err)
	}
	f.registrations("web", 0, nomad.QueryOptions{})
}

// choosesServices filters, pages and chooses among three registrations.
func (f *foreign) choosesServices(all []*nomad.ServiceRegistration) {
	f.t.Helper()
	get := func(q nomad.QueryOptions) []*nomad.ServiceRegistration {
		f.t.Helper()
		some, _, err := f.api.Services().Get("web", &q)
		if err != nil {
			f.t.Fatalf("%+v: %v", q, err)
		}
		return some
	}
	if n := len(get(nomad.QueryOptions{Filter: `Tags contains "blue"`})); n != 3 {
		f.t.Errorf("%d have the tag, want 3", n)
	}
	if n := len(get(nomad.QueryOptions{Filter: fmt.Sprintf("AllocID == %q", all[1].AllocID)})); n != 1 {
		f.t.Errorf("%d are of one allocation", n)
	}
	if n := len(get(nomad.QueryOptions{PerPage: 2})); n != 2 {
		f.t.Errorf("a page of 2 has %d", n)
	}
	chosen := map[string]int{}
	for i := range 300 {
		q := nomad.QueryOptions{Params: map[string]string{"choose": fmt.Sprintf("1|client-%d", i%100)}}
		some := get(q)
		if len(some) != 1 || get(q)[0].ID != some[0].ID {
			f.t.Fatalf("choosing for client %d: %+v; want one, the same each time", i, some)
		}
		chosen[some[0].ID]++
	}
	for _, r := range all {
		if chosen[r.ID] < 40 {
			f.t.Errorf("%s was chosen for only %d of 300", r.ID, chosen[r.ID])
		}
	}
	if n := len(get(nomad.QueryOptions{Params: map[string]string{"choose": "9|x"}})); n != 3 {
		f.t.Errorf("choosing 9 of 3 gives %d", n)
	}
	if _, _, err := f.api.Services().Get("web", &nomad.QueryOptions{Params: map[string]string{"choose": "x"}}); err == nil || !strings.Contains(err.Error(), "choose") {
		f.t.Errorf("choose=x: %v", err)
	}
}

// TestFeedsOfOthers makes the calls, with the parameters, that Traefik's and
// Prometheus' discovery make with this client, as they document and publish
// them.
func TestFeedsOfOthers(t *testing.T) {
	f := newForeign(t)
	f.registerJob(offering(foreignJob("shop", "x", 2), "web", "traefik.enable=true", "traefik.http.routers.web.rule=Host(`shop.example.com`)"))
	f.registerJob(offering(foreignJob("back", "x", 1), "db"))
	f.registrations("web", 2, nomad.QueryOptions{})
	f.registrations("db", 1, nomad.QueryOptions{})

	t.Run("traefik", func(t *testing.T) {
		for _, stale := range []bool{false, true} {
			c, err := nomad.NewClient(&nomad.Config{Address: "http://" + f.Addr, Region: "global", Namespace: "default", WaitTime: 15 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			found := map[string]int{}
			stubs, _, err := c.Services().List(&nomad.QueryOptions{AllowStale: stale})
			if err != nil {
				t.Fatal(err)
			}
			for _, namespace := range stubs {
				for _, s := range namespace.Services {
					all, _, err := c.Services().Get(s.ServiceName, &nomad.QueryOptions{AllowStale: stale, Filter: `Tags contains "traefik.enable=true"`})
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range all {
						if r.ID == "" || r.NodeID == "" || r.Datacenter == "" || r.Address == "" || r.Port == 0 || len(r.Tags) != 2 {
							t.Errorf("a registration lacks what is read of it: %+v", r)
						}
						found[r.ServiceName]++
					}
				}
			}
			if len(found) != 1 || found["web"] != 2 {
				t.Errorf("stale=%v: found %v, want web twice and no other", stale, found)
			}
		}
	})
	t.Run("prometheus", func(t *testing.T) {
		q := &nomad.QueryOptions{AllowStale: true}
		c, err := nomad.NewClient(&nomad.Config{Address: "http://" + f.Addr, Namespace: "default", Region: "global"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		var targets []string
		stubs, _, err := c.Services().List(q)
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range stubs {
			for _, s := range namespace.Services {
				all, _, err := c.Services().Get(s.ServiceName, q)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range all {
					targets = append(targets, fmt.Sprintf("%s:%d", r.Address, r.Port))
				}
			}
		}
		slices.Sort(targets)
		if len(slices.Compact(targets)) != 3 {
			t.Errorf("targets %v, want three", targets)
		}
	})
}
