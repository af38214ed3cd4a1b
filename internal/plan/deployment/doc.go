// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package deployment decides whether the deployment of a job has succeeded or
// failed, and describes its status.
package deployment
