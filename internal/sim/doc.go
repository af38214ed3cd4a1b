// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package sim simulates a fleet: thousands of nodes that talk to a real server over its real
// API, to measure the server, to test failures of machines, and to find out whether work
// fits.
//
// Only the execution of allocations is simulated: they start, run, end and fail as the mock
// driver would make them, after times that are drawn with the scenario's seed. All other
// parts are real: the server is a separate process with a log on the disk; nodes register,
// send heartbeats, hold their streams and report over HTTP with package client, or over TLS
// connections that many nodes share (trunk.go); jobs are registered from job files. Time is
// real, too.
//
// A Scenario describes the fleet and the events. Run plays it and returns a Report, whose
// figures were all measured in that run. The package never imports the server: it uses only
// the API and the statistics of the server's process.
package sim
