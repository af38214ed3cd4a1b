// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/internal/pki"
)

// A Member is this agent as a member of a cluster.
type Member struct {
	ID        string   `json:"id"`
	Role      pki.Role `json:"role,omitempty"`
	ClusterID string   `json:"cluster,omitempty"` // empty before the agent joined
	Servers   []string `json:"servers,omitempty"` // known addresses of servers, HOST:PORT
	Digests   []string `json:"digests,omitempty"` // of the roots that the cluster has, and had before: newest last
	// NodePool and NodeName are what the introduction token decided with which a node joined;
	// empty for other tokens.
	NodePool string `json:"node_pool,omitempty"`
	NodeName string `json:"node_name,omitempty"`
}

// maxDigests bounds the roots that a member remembers.
const maxDigests = 16

// HasDigest reports whether the digest of a root is one of the member's cluster, also of a root
// that was replaced since the member joined.
func (m Member) HasDigest(digest string) bool { return slices.Contains(m.Digests, digest) }

// remember returns the digests with those of roots.
func (m Member) remember(roots *pki.Roots) []string {
	digests := slices.Clone(m.Digests)
	for _, digest := range roots.Digests() {
		if !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
	}
	return digests[max(0, len(digests)-maxDigests):]
}

// maxServers bounds the servers that a member remembers.
const maxServers = 64

func parseMember(text []byte) (Member, error) {
	var m Member
	if err := json.Unmarshal(text, &m); err != nil {
		return Member{}, fmt.Errorf("it is damaged: %w", err)
	}
	if m.ID == "" {
		return Member{}, errors.New("it names no member")
	}
	return m, nil
}

// encode returns the file of a member.
func (m Member) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

func (m Member) joined() bool { return m.ClusterID != "" }

// checkServers returns the addresses without duplicates.
func checkServers(addrs []string) ([]string, error) {
	var known []string
	for _, addr := range addrs {
		host, port, err := net.SplitHostPort(addr)
		if n, errPort := strconv.ParseUint(port, 10, 16); err != nil || errPort != nil || n == 0 || host == "" || len(host) > 253 {
			return nil, fmt.Errorf("address of a server %q is not HOST:PORT", addr)
		}
		if !slices.Contains(known, addr) {
			known = append(known, addr)
		}
	}
	if len(known) > maxServers {
		return nil, fmt.Errorf("%d addresses of servers; at most %d are supported", len(known), maxServers)
	}
	return known, nil
}
