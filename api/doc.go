// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package api defines Reeve's vocabulary: the nouns that are stored, sent over the network
// and shown to people, with the rules that decide whether a job is valid.
//
// There is one set of types. The server stores them, the node agent receives them, the
// command line prints them, and programs import them. Their JSON is the JSON of Nomad's
// HTTP API (same keys, nesting and units: durations are integer nanoseconds, sizes are MB
// unless a name says otherwise, timestamps named *Time are Unix nanoseconds). Clients of
// that API therefore work unchanged.
//
// Readers share the objects of the store and must not modify them: copy first (see the
// Copy methods).
//
// This package imports no other package of Reeve and does no I/O.
package api
