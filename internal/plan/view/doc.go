// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package view displays what is derived: plans, instances, troubles, and the
// instances that wait for a place.
package view
