// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package ident derives identifiers: equal parts give equal identifiers, on every
// server and at any time.
package ident
