// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package eventstream turns the change feed of the store into the event stream: typed
// events by topic, snapshots of the current objects, and resumption from an index.
//
// A topic is one row of the table in topics.go. Declared nouns of package state bring
// their own rows. Instances and services are derived from allocations.
//
// The package knows nothing of HTTP: it writes to an io.Writer, and package httpapi reads
// the request.
package eventstream
