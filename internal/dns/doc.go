// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package dns answers DNS queries with the addresses of routable instances. It follows the
// catalog's stream, so it can run in any agent, and answers from memory: while no server is
// reachable, from the last known catalog.
//
// Names in the zone ("reeve" by default):
//
//	 SERVICE.NAMESPACE.svc.reeve            A, AAAA, SRV of all its instances
//	 TAG.SERVICE.NAMESPACE.svc.reeve        of those with the tag
//		_SERVICE._tcp.NAMESPACE.svc.reeve      SRV, as RFC 2782 writes it
//		INDEX.GROUP.JOB.NAMESPACE.inst.reeve   one instance
//	 1.UNIT.NAMESPACE.stack.reeve           A, AAAA of one stack, drawn by share, that serves callers in the
//	                                        namespace: of major version 1; 1-2: at least 1.2 and below 2.0;
//	                                        1-2-0: exactly; or with a tag. SRV of all such stacks
//	 _UNIT._tcp.1.NAMESPACE.stack.reeve     SRV, as RFC 2782 writes it
//	 HEX.addr.reeve                         an address: the target of SRV records
//
// Queries for names outside of the zone are forwarded to the upstreams, or refused.
//
// The package makes no decisions: it answers with the content of the catalog.
package dns
