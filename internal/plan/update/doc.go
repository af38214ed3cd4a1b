// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package update compares versions of a job: it classifies every field by what a
// change of it does to instances that run. A change replaces the instance, moves it,
// is made in place, or changes its checks.
package update
