// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package limit bounds how often callers may do something. A Limiter has a bucket for each
// caller, and keeps the buckets of a bounded number of callers: a flood from many addresses cannot
// exhaust the memory. A forgotten caller begins with a full bucket.
//
// A bucket is one time: when it is full again. Each event moves that time into the future by the time
// that refills one event, and an event is refused if the bucket would need longer than a whole burst
// takes to refill.
package limit
