// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Modes of a network. Others are "cni/NAME", for networks that plugins make.
const (
	ModeBridge = "bridge" // an address of its own, and ports of the node that lead to it
	ModeNone   = "none"   // loopback only
)

// Device is the name of the interface that an allocation sees.
const Device = "eth0"

// A Request is the network that a group asks for.
type Request struct {
	Alloc    string
	Mode     string
	Hostname string // "": derived from the allocation's id
	DNS      *api.DNS
	Ports    []Port
	Args     map[string]string `json:",omitempty"` // for plugins
}

// A Port is a port of the node that leads to a port of the allocation, for TCP and UDP.
type Port struct {
	Host uint16
	To   uint16
	// IP is the only address of the node on which the port is taken; invalid: all of them.
	IP     netip.Addr
	Shared bool `json:",omitempty"` // other allocations and programs may hold the number, too
}

// A Record is the network of an allocation.
type Record struct {
	Request
	Address  netip.Prefix // with the length of the bridge's subnet; invalid for ModeNone
	Address6 netip.Prefix // invalid without a subnet
	Gateway  netip.Addr
	Gateway6 netip.Addr
	Chain    *Chain `json:",omitempty"` // nil: plugins have done nothing
}

// KeyPrefix is the prefix of the ledger's keys of records.
const KeyPrefix = "network/"

func decodeRecord(data []byte) (*Record, error) {
	r := new(Record)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read the record of a network: %w", err)
	}
	if !isID(r.Alloc) || r.Mode != ModeBridge && r.Mode != ModeNone && !r.isPlugged() || r.Mode == ModeBridge && !r.Address.IsValid() {
		return nil, fmt.Errorf("read the record of a network: allocation %q, mode %q, address %s", r.Alloc, r.Mode, r.Address)
	}
	return r, r.validateChain()
}

// isID reports whether an allocation's id can be the name of a file.
func isID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// hostname returns the name of the allocation's machine.
func (r *Record) hostname() string {
	if r.Hostname != "" {
		return r.Hostname
	}
	return api.ShortID(r.Alloc)
}

// hash returns the first digits of a text's digest.
func hash(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}

// linkPrefix returns the beginning of the names of a node's links. Nodes that share a machine
// have different ones.
func linkPrefix(node string) string { return "rv" + hash(node, 4) }

// linkName returns the name of the node's end of an allocation's link: 15 characters, the most
// that the kernel accepts.
func linkName(node, alloc string) string { return linkPrefix(node) + hash(alloc, 9) }

// hardwareAddress returns the address of the allocation's interface. It is a function of the IP
// address, so an address never has two of them.
func hardwareAddress(ip netip.Addr) net.HardwareAddr {
	b := ip.As4()
	return net.HardwareAddr{0x02, 0x72, b[0], b[1], b[2], b[3]}
}

// bridgeAddress returns the hardware address of a bridge, which would otherwise change with its
// ports.
func bridgeAddress(node, bridge string) net.HardwareAddr {
	sum := sha256.Sum256([]byte(node + "/" + bridge))
	return net.HardwareAddr{0x02, 0x73, sum[0], sum[1], sum[2], sum[3]}
}
