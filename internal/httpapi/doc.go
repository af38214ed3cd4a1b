// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package httpapi is the HTTP face of an agent: it turns requests into reads of
// the state and calls of the server's verbs, and their results into answers.
//
// One table (routes.go) declares every route: method, pattern, capability,
// request and response type, and a sentence. From it come the mux, the refusals
// of wrong methods, the OpenAPI document, the page docs/api.md, and the test
// that walks all routes. A route that is not in the table does not exist.
//
// Routes, parameters, headers and JSON are those of Nomad's API where it has
// the thing, so that its clients work unchanged.
//
// The package decides nothing: a read uses one snapshot, a write calls one verb of
// the server, and package api validates objects.
package httpapi

//go:generate go test -run TestDocumentsAreFresh -rewrite .
