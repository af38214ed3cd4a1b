// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	scheduleTimeout = 3 * time.Second
	scheduleLimit   = 64 << 10 // bytes of an answer
)

func getSnapshotSchedule(c *call) (*api.SnapshotSchedule, error) {
	if c.Server == nil {
		return nil, api.Errorf(api.CodeNotFound, "this agent is not a server, and saves no snapshots: ask a server; see reeve server list")
	}
	return c.Server.LastSnapshot(), nil
}

// getSnapshotSchedules asks all servers. One that does not answer has a Failure.
func getSnapshotSchedules(c *call) ([]*api.SnapshotSchedule, error) {
	servers := c.Server.Servers()
	schedules := make([]*api.SnapshotSchedule, 0, len(servers))
	var asked sync.WaitGroup
	for _, m := range servers {
		schedule := &api.SnapshotSchedule{Server: m.ID, Name: m.Name}
		switch {
		case m.Status == api.ServerLeft:
			continue
		case m.ID == c.Server.ServerID():
			schedule = c.Server.LastSnapshot()
		case m.Status == api.ServerFailed:
			schedule.Failure = fmt.Sprintf("server %s does not answer: its snapshots are unknown", m.Name)
		default:
			asked.Go(func() {
				if err := c.askServer(m.Address, "/v1/agent/snapshots", schedule); err != nil {
					schedule.Failure = fmt.Sprintf("cannot ask server %s for its snapshots: %v", m.Name, err)
				}
			})
		}
		schedules = append(schedules, schedule)
	}
	asked.Wait()
	return schedules, nil
}

// askServer reads the answer of another server to a request of this server.
func (c *call) askServer(addr, path string, answer any) error {
	ctx, cancel := context.WithTimeout(c.r.Context(), scheduleTimeout)
	defer cancel()
	transport, scheme := c.outbound()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+addr+path, nil)
	if err != nil {
		return err
	}
	c.addHop(r.Header, toServer)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return unreachable(addr, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, scheduleLimit))
	switch {
	case err != nil:
		return unreachable(addr, err)
	case resp.StatusCode == http.StatusNotFound:
		return api.Errorf(api.CodeNotFound, "its version of Reeve is too old: upgrade it")
	case resp.StatusCode != http.StatusOK:
		return api.Errorf(api.CodeUnavailable, "it answers %s: %s", resp.Status, api.Printable(string(text), 1000))
	}
	return json.Unmarshal(text, answer)
}
