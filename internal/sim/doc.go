// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package sim is a fleet in a box: thousands of simulated nodes that talk to a
// real server over its real API, to measure it, to try what happens when
// machines die, and to find out whether work would fit.
//
// What is simulated is only what a node does with its allocations: they start,
// run, end and fail as the mock driver would have them, after times that are
// drawn with the scenario's seed. Everything else is real: the server is a
// process of its own with a log on the disk, nodes register, send heartbeats,
// hold their streams and report over HTTP with package client, jobs are
// registered from job files. Time is real, too: nothing is sped up.
//
// A Scenario says what there is and what happens; Run plays it and returns a
// Report, in which every figure was measured in that run. The package never
// imports the server: what it knows of it, it was told over the API or reads
// off its process.
package sim
