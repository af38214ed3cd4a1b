// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdk implements the HTTP API of schedulers built with the DC/OS SDK, so that
// their clients work against Reeve: the command lines of packages, dashboards, and
// scripts that poll a plan until it answers 200.
//
// A service is a job, a pod type a group, a pod an instance, a configuration a
// version of the job. Plans are plans. Stable values are derived for terms that Reeve
// lacks, such as a framework's id.
//
// The dialect is thin: it makes no decisions and stores nothing. It reads the state and
// plans, and converts verbs to decisions, only through [Core]. No other package uses its
// types. docs/sdk.md lists the paths, and the intended differences from the original.
package sdk
