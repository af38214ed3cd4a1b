// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package joblogs merges the output of the tasks of a job into one stream. It knows neither HTTP nor the
// state: the caller gives it the job's allocations, and opens the output of a task on its node.
package joblogs
