// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package slab provides memory for many values that are used together and released
// together.
package slab
