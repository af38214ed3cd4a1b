// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"net"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/dialect/nelson"
	"github.com/reeve-run/reeve/internal/door"
)

// openDoor reads or creates the token. All local callers that are not admitted by their user
// need it, including the agent itself.
func (a *Agent) openDoor() error {
	token, path, err := door.OpenToken(a.config.DataDir)
	if err != nil {
		return err
	}
	config := door.Config{Token: token, TokenFile: path, Hosts: a.config.Hosts}
	if a.config.speaksNelson() {
		config.Cookies = []door.Cookie{{Name: nelson.SessionCookie, Claims: nelson.Claims}}
	}
	if a.trust != nil {
		config.Peer = a.trust.Peer
	}
	if a.server != nil {
		config.IsOperator, config.Removed = a.server.IsOperator, a.server.IsRevoked
		config.UserOf = func(token string) string {
			if r := a.server.RightsOf(token); r != nil {
				return r.Accessor
			}
			return ""
		}
		config.AnonymousMay = func() bool { return a.server.AnonymousRights() != nil }
	}
	a.door, err = door.New(config)
	return err
}

// Token returns the secret that admits any caller of this machine to the agent's API.
func (a *Agent) Token() string { return a.door.Token }

// connect creates the client with which the agent calls its own API.
func (a *Agent) connect() (err error) {
	a.client, err = client.New(client.Config{Address: "http://" + a.localAddr(), Token: a.Token(), Multiplex: true})
	return err
}

// Connections between members.
const (
	memberDialTimeout = 3 * time.Second
	memberIdleTimeout = 90 * time.Second
)

// memberTransport returns the transport of requests to other members.
func (a *Agent) memberTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: memberDialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: a.trust.MemberConfig("h2", "http/1.1"), TLSHandshakeTimeout: memberDialTimeout,
		ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConns: 512, MaxIdleConnsPerHost: 128, IdleConnTimeout: memberIdleTimeout, DisableCompression: true,
	}
}
