// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package template renders the template blocks of tasks: the language of Go's text/template with functions
// for variables, services, the environment, and text.
//
// The package is pure. Values come from a Source. A value that is absent does not fail a rendering: the
// rendering reports it, so that the caller can wait for it.
//
// The text of a template is hostile, and so are the values. The language itself has no bounds, so Parse
// rewrites the syntax tree: each iteration of a range, each call of a template and each output becomes a call
// of this package, which charges a budget of steps. Functions are called through one adapter, which charges the
// size of arguments and results. No error contains a value, because values are secrets.
package template
