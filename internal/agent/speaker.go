// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/server"
)

const (
	speakerTimeout = 2 * time.Second
	maxSpeaker     = 1 << 20 // bytes of an answer
)

// speakerAt asks the agent at an address who it is. The answer is that of a member of the cluster;
// without an id if the certificate of the member is not valid yet, by the clock of this machine.
func (a *Agent) speakerAt(ctx context.Context, address string) (server.Speaker, error) {
	ctx, cancel := context.WithTimeout(ctx, speakerTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/v1/agent/self", nil)
	if err != nil {
		return server.Speaker{}, err
	}
	// A connection of its own: another process may have taken the address.
	transport := &http.Transport{TLSClientConfig: a.trust.MemberConfig("http/1.1"), DisableKeepAlives: true}
	asked := time.Now()
	resp, err := transport.RoundTrip(r)
	if refused := (*pki.CertificateError)(nil); errors.As(err, &refused) && refused.Reason == pki.ReasonEarly {
		// Its certificate was signed before: since then, the other clock has only advanced.
		return server.Speaker{Ahead: refused.Skew + pki.Backdate}, nil
	}
	if err != nil {
		return server.Speaker{}, err
	}
	answered := time.Now()
	defer resp.Body.Close()
	who, ok := a.trust.Peer(*resp.TLS)
	if !ok {
		return server.Speaker{}, errors.New("it is no member of the cluster")
	}
	speaker := server.Speaker{ID: who.ID}
	if clock, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		speaker.Ahead = aheadOf(clock, asked, answered)
	}
	if resp.StatusCode != http.StatusOK {
		return speaker, fmt.Errorf("it answers %s", resp.Status)
	}
	var self api.AgentSelf
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxSpeaker)).Decode(&self); err != nil {
		return speaker, err
	}
	if addresses, ok := self.Config["AdvertiseAddrs"].(map[string]any); ok {
		speaker.Advertise, _ = addresses["HTTP"].(string)
	}
	return speaker, nil
}

// aheadOf returns by how much another clock is at least ahead of this machine's, or behind it if
// negative. The other clock, which showed a time in seconds without their fraction, was read
// between two times of this machine.
func aheadOf(clock, asked, answered time.Time) time.Duration {
	// Round drops the monotonic reading: the wall clocks are compared.
	if ahead := clock.Sub(answered.Round(0)); ahead > 0 {
		return ahead
	}
	return min(clock.Add(time.Second).Sub(asked.Round(0)), 0)
}

// checkTwin refuses to start as a server that already runs: at one of the servers' addresses,
// another process has the identity of this one. It runs before this server takes part in
// elections. A server at an address that the cluster knows is no copy.
func (a *Agent) checkTwin(ctx context.Context) error {
	m, _ := a.trust.Member()
	if m.Role != pki.RoleServer || slices.Contains(m.Servers, a.advertise) {
		return nil
	}
	twins := make([]error, len(m.Servers))
	var asked sync.WaitGroup
	for i, address := range m.Servers {
		asked.Go(func() {
			speaker, err := a.speakerAt(ctx, address)
			if err == nil && speaker.IsTwin(m.ID, address, a.advertise) {
				twins[i] = server.TwinError(m.ID, a.config.Name, a.advertise, address)
			}
		})
	}
	asked.Wait()
	return errors.Join(twins...)
}
