// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package view displays the plans of a job, its instances, their troubles, and the
// instances that wait for a place.
package view
