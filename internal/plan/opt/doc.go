// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package opt reads optional values, which are pointers.
package opt
