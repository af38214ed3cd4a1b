// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Duration and clients of the load during updates. Half of the clients keep their connections.
const (
	rollingTime    = time.Minute
	rollingClients = 16
	rollingPace    = 5 * time.Millisecond // of each client
)

// rolling updates a service of three instances behind the router repeatedly, and counts failed
// requests.
func rolling(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	if err := m.roll(ctx, b.reeve, 0); err != nil {
		return err
	}
	s, err := m.Client.Status().Router(ctx)
	if err != nil {
		return err
	}
	var sent, lost atomic.Int64
	var first atomic.Pointer[error]
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for i := range rollingClients {
		wg.Go(func() {
			transport := &http.Transport{DisableKeepAlives: i%2 == 1}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: time.Minute}
			pace := time.NewTicker(rollingPace)
			defer pace.Stop()
			for asking.Err() == nil {
				<-pace.C
				if err := askOnce(client, s.HTTP); err != nil {
					lost.Add(1)
					first.CompareAndSwap(nil, &err)
				}
				sent.Add(1)
			}
		})
	}
	updates := 0
	begin := time.Now()
	for time.Since(begin) < rollingTime && err == nil {
		updates++
		err = m.roll(ctx, b.reeve, updates)
	}
	took := time.Since(begin)
	stop()
	wg.Wait()
	if err != nil {
		return err
	}
	why := ""
	if e := first.Load(); e != nil {
		why = "; the first one: " + (*e).Error()
	}
	b.add(fmt.Sprintf("router: requests lost in %.0f s of rolling updates, 3 instances", took.Seconds()), "0",
		"%d of %s, in %d updates%s", lost.Load(), amount(float64(sent.Load())), updates, why)
	return nil
}

// roll updates the service and waits until all instances are new.
func (m *machine) roll(ctx context.Context, reeve string, version int) error {
	job := testbed.Job("rolled", "raw_exec", 3, map[string]any{"command": reeve, "args": []string{"example-web"}})
	one, healthy, delay := 1, 100*time.Millisecond, 500*time.Millisecond
	g := job.Groups[0]
	g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	g.Routes = []*api.Route{{Port: "http"}}
	g.Update.MaxParallel, g.Update.MinHealthyTime = &one, &healthy
	g.ShutdownDelay = &delay
	g.Tasks[0].Env = map[string]string{"VERSION": strconv.Itoa(version)}
	g.Services = []*api.Service{{Name: "rolled", PortLabel: "http", Provider: "nomad", Checks: []*api.Check{{
		Name: "ready", Type: "http", Kind: api.CheckKindReadiness, Path: "/healthz", Interval: time.Second, Timeout: time.Second,
	}}}}
	if err := register(ctx, m, job); err != nil {
		return err
	}
	return m.poll(ctx, func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, job.ID, nil)
		if err != nil {
			return err
		}
		if d == nil || d.Status != api.DeploymentSuccessful || d.JobVersion != uint64(version) {
			return fmt.Errorf("version %d is not deployed: %+v", version, d)
		}
		return nil
	})
}

func askOnce(client *http.Client, addr string) error {
	resp, err := client.Get("http://" + addr + "/")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return err
}
