// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package dns answers names with the addresses of routable instances. It follows
// the catalog's stream, so it can run in any agent, and answers from memory:
// while no server can be reached, from what was known last.
//
// Names in the zone ("reeve" by default):
//
//	SERVICE.NAMESPACE.svc.reeve            A, AAAA, SRV of all that offer it
//	TAG.SERVICE.NAMESPACE.svc.reeve        of those with the tag
//	_SERVICE._tcp.NAMESPACE.svc.reeve      SRV, as RFC 2782 writes it
//	INDEX.GROUP.JOB.NAMESPACE.inst.reeve   one instance
//	HEX.addr.reeve                         an address: what SRV records point to
//
// What is below stack.reeve is kept for stacks and does not exist yet. Names
// outside the zone are passed on to the upstreams, or refused.
//
// Nothing is decided here: what is in the catalog is answered.
package dns
