// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// AgentSelf describes an agent.
type AgentSelf struct {
	Config map[string]any               `json:"config"`
	Member AgentMember                  `json:"member"`
	Stats  map[string]map[string]string `json:"stats"`
}

// AgentMember is one server of the cluster.
type AgentMember struct {
	Name        string
	Addr        string
	Port        uint16
	Tags        map[string]string
	Status      string // "alive" or "failed"
	ProtocolMin uint8
	ProtocolMax uint8
	ProtocolCur uint8
	DelegateMin uint8
	DelegateMax uint8
	DelegateCur uint8
}

// AgentMembers lists the servers of the cluster.
type AgentMembers struct {
	ServerName   string
	ServerRegion string
	ServerDC     string
	Members      []*AgentMember
}

// AgentHealth holds the health of an agent's parts. Absent parts are nil.
type AgentHealth struct {
	Client *AgentPartHealth `json:"client,omitempty"`
	Server *AgentPartHealth `json:"server,omitempty"`
}

// AgentPartHealth is the health of one part of an agent.
type AgentPartHealth struct {
	Ok      bool   `json:"ok"`
	Message string `json:"message"`
}

// Warn appends a warning to the message. It does not change Ok.
func (h *AgentPartHealth) Warn(warning string) {
	switch {
	case h == nil || warning == "":
	case h.Message == "ok":
		h.Message = warning
	default:
		h.Message += "; " + warning
	}
}
