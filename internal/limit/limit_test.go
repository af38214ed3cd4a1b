// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"strconv"
	"testing"
	"time"
)

var start = time.Unix(1_790_000_000, 0)

func TestABucketEmptiesAndFillsAgain(t *testing.T) {
	l := New(2, 3, 10)
	for i := range 3 {
		if wait := l.Take("a", start); wait != 0 {
			t.Errorf("event %d of the burst waits %s", i, wait)
		}
	}
	for range 5 { // refused events cost nothing
		if wait := l.Take("a", start); wait != 500*time.Millisecond {
			t.Errorf("the event after the burst waits %s, want 500ms", wait)
		}
	}
	if wait := l.Take("b", start); wait != 0 {
		t.Errorf("another key waits %s", wait)
	}
	if wait := l.Take("a", start.Add(500*time.Millisecond)); wait != 0 {
		t.Errorf("after its wait, the event waits another %s", wait)
	}
	for i := range 3 {
		if wait := l.Take("a", start.Add(time.Hour)); wait != 0 {
			t.Errorf("after an hour, event %d waits %s", i, wait)
		}
	}
	if l.Take("a", start.Add(time.Hour)) == 0 {
		t.Error("a bucket grew beyond its size")
	}
}

func TestAFloodOfKeysIsBounded(t *testing.T) {
	l := New(1, 1, 100)
	l.Take("busy", start)
	for i := range 10_000 {
		l.Take(strconv.Itoa(i), start)
		if l.Take("busy", start) == 0 {
			t.Fatalf("after %d other keys, a key that is in use has a new bucket", i)
		}
	}
	if len(l.buckets) != 100 || l.recent.Len() != 100 {
		t.Errorf("%d buckets in the map and %d in the list, want 100", len(l.buckets), l.recent.Len())
	}
}

func TestAddressKeys(t *testing.T) {
	for remote, want := range map[string]string{
		"10.0.0.7:1234": "10.0.0.7", "10.0.0.7:99": "10.0.0.7", "[::ffff:10.0.0.7]:1": "10.0.0.7",
		"[2001:db8:1:2:3:4:5:6]:443": "2001:db8:1:2::/64", "[2001:db8:1:2::9]:443": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64",
		"@": "", "": "", "/run/reeve.sock": "",
	} {
		if got := AddressKey(remote); got != want {
			t.Errorf("%q: got %q, want %q", remote, got, want)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l := New(1e9, 1, 1000)
	for i := range 1000 {
		l.Take(strconv.Itoa(i), start)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Take("7", start)
	}
}
