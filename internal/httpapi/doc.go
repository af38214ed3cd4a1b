// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package httpapi implements the HTTP API of an agent: it converts requests to reads of
// the state and calls of the server's verbs, and their results to answers.
//
// One table (routes.go) declares every route: method, pattern, capability,
// request and response type, and a sentence. The mux, the errors of wrong methods, the
// OpenAPI document, the page docs/api.md and the test of all routes are derived from it. A
// route that is not in the table does not exist.
//
// Routes, parameters, headers and JSON are those of Nomad's API if it has the object, so
// that its clients work unchanged.
//
// The package decides nothing: a read uses one snapshot, a write calls one verb of
// the server, and package api validates objects.
package httpapi

//go:generate go test -run TestDocumentsAreFresh -rewrite .
