// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package limit bounds how often callers may do something. A Limiter has a token bucket for each
// caller, and keeps the buckets of a bounded number of callers: a flood from many addresses cannot
// exhaust the memory. A forgotten caller begins with a full bucket.
package limit
