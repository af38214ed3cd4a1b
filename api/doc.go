// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package api is Reeve's vocabulary: the nouns that are stored, sent over the
// wire and shown to people, with the rules that decide whether a job is well
// formed.
//
// There is one set of types. The server stores them, the node agent receives
// them, the command line prints them, and programs import them. Their JSON is
// the JSON of Nomad's HTTP API (same keys, nesting and units: durations are
// integer nanoseconds, sizes are MB unless a name says otherwise, timestamps
// named *Time are Unix nanoseconds), so clients written for it work unchanged.
//
// Objects that came out of the store are shared between readers and must not
// be changed: copy first (see the Copy methods).
//
// This package imports nothing of Reeve and does no I/O.
package api
