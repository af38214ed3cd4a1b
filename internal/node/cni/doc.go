// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package cni reads the configurations of CNI networks and calls their plugins, by version 1.1.0 of
// the specification and earlier ones.
//
// The operator chooses the configurations and the plugins. A job chooses only the name of a network
// and arguments, and the answers of plugins are not trusted. The package keeps no state: the caller
// records a network before Add, and passes the same record to Delete.
package cni
