// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package nelson implements the HTTP API of Nelson below /nelson/, so that Nelson's command
// line and scripts for its API manage stacks of Reeve.
//
// A deployment is a stack, a unit a unit, a load balancer an exposed host. Requests for parts of
// Nelson that Reeve does not have, such as blueprints and repositories, receive an
// empty list or a refusal in plain text. Clients retry a request after the status 500 or
// 502, so the dialect never answers with either.
//
// The dialect keeps nothing: it reads the state and calls the verbs of [Core].
// docs/nelson.md lists the paths and the differences from Nelson.
package nelson
