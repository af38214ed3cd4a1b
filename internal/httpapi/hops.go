// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// forwardedHeader names the agents that forwarded a request, in order, each with the kind of
// agent that it forwarded to, as in "server by n1, node by s1".
const forwardedHeader = "X-Reeve-Forwarded"

// maxHops bounds the agents that forward a request one after the other: a node, and a server
// that does not lead.
const maxHops = 2

// Kinds of agents that receive forwarded requests.
const (
	toServer = "server"
	toNode   = "node"
)

// hopsOf returns the hops of a request.
func hopsOf(h http.Header) []string {
	text := strings.Join(h.Values(forwardedHeader), ",")
	if text == "" {
		return nil
	}
	hops := strings.Split(text, ",")
	for i := range hops {
		hops[i] = strings.TrimSpace(hops[i])
	}
	return hops
}

// isForNode reports whether a server forwarded a request to this node.
func isForNode(h http.Header) bool {
	hops := hopsOf(h)
	if len(hops) == 0 {
		return false
	}
	kind, _, _ := strings.Cut(hops[len(hops)-1], " ")
	return kind == toNode
}

// checkHops returns an error if a request was forwarded too often.
func (h *Handler) checkHops(r *http.Request) error {
	hops := hopsOf(r.Header)
	if len(hops) < maxHops {
		return nil
	}
	return api.Errorf(api.CodeUnavailable, "the request was forwarded %d times (to a %.200s) and reached %s, which cannot answer it either: the agents do not agree on the leader, or name each other as servers; try again, and check their servers if it lasts",
		len(hops), strings.Join(hops, ", to a "), h.self())
}

// addHop adds this agent to the hops of a request.
func (h *Handler) addHop(header http.Header, kind string) {
	header.Set(forwardedHeader, strings.Join(append(hopsOf(header), kind+" by "+h.self()), ", "))
}

// self names this agent in the hops of a request.
func (h *Handler) self() string {
	name := h.Name
	if h.Self != nil {
		name = h.Self()
	}
	if name == "" {
		name = h.NodeID()
	}
	if name == "" {
		return "an agent"
	}
	return strings.ReplaceAll(name, ",", " ")
}
