// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package facts collects what the store says about one job at one moment, sorted by
// group and instance: which allocation holds each instance, in which state it is,
// what may still claim it, and how versions of the job compare. [New] computes the
// facts once; they never change afterwards. No package of facts decides what to do
// about them: that is the task of the plans.
package facts
