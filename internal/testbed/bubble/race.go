// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package bubble

const detectsRaces = true
