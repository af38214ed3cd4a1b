// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdk speaks the HTTP API of the schedulers that are built with the
// DC/OS SDK, so that what people wrote against one works against Reeve: the
// command lines of packages, dashboards, and scripts that poll a plan until it
// answers 200.
//
// A service is a job, a pod type a group, a pod an instance, a configuration a
// version of the job. Plans are plans. What Reeve has no word for, such as a
// framework's id, is derived so that it stays the same.
//
// The dialect is thin: it decides nothing and keeps nothing. It reads the state,
// asks for trees, and turns verbs into decisions, through [Core] and nothing
// else. No type of it is known outside of the room. docs/sdk.md lists the paths,
// and where the answers differ from the original, on purpose.
package sdk
