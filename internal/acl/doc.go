// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package acl decides who may do what: it parses policies, combines those of a caller, and answers
// whether they permit an action, and which rule decided.
//
// A policy holds rules. A rule names objects by a label, which may contain `*`, and grants
// capabilities for them. The rule language is Nomad's; see docs/access.md for its grammar.
//
// Several policies act as one: rules with the same label are joined, and `deny` beats every
// other capability. Then one label decides: the object's own name, otherwise the pattern that leaves the
// fewest characters to its asterisks. So a rule for one namespace replaces a rule for all
// namespaces, in whichever policy the two are.
//
// The package is pure: it knows no token, no request and no clock. Package door identifies
// callers, and package httpapi asks for each request.
package acl
