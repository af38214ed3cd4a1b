// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strconv"
	"testing"
	"time"
)

var start = time.Unix(1_790_000_000, 0)

func key(token string) Key { return Key{Token: token} }

func TestABucketEmptiesAndFillsAgain(t *testing.T) {
	l := New(Rate{2, 3}, 10)
	for i := range 3 {
		if wait := l.Take(key("a"), start); wait != 0 {
			t.Errorf("event %d of the burst waits %s", i, wait)
		}
	}
	for range 5 { // refused events cost nothing
		if wait := l.Take(key("a"), start); wait != 500*time.Millisecond {
			t.Errorf("the event after the burst waits %s, want 500ms", wait)
		}
	}
	if wait := l.Take(key("b"), start); wait != 0 {
		t.Errorf("another key waits %s", wait)
	}
	if wait := l.Take(key("a"), start.Add(500*time.Millisecond)); wait != 0 {
		t.Errorf("after its wait, the event waits another %s", wait)
	}
	for i := range 3 {
		if wait := l.Take(key("a"), start.Add(time.Hour)); wait != 0 {
			t.Errorf("after an hour, event %d waits %s", i, wait)
		}
	}
	if l.Take(key("a"), start.Add(time.Hour)) == 0 {
		t.Error("a bucket grew beyond its size")
	}
}

// TestTheRateHolds sends events at random times, and compares with a bucket that counts its content.
func TestTheRateHolds(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		rate := Rate{PerSecond: 1 + 50*random.Float64(), Burst: 1 + random.IntN(20)}
		times := uint16(1 + random.IntN(10))
		l, content, last := New(rate, 10), float64(rate.Burst)*float64(times), start
		for i := range 2000 {
			now := last.Add(time.Duration(random.Float64() * 2 / (rate.PerSecond * float64(times)) * float64(time.Second)))
			content = min(float64(rate.Burst)*float64(times), content+now.Sub(last).Seconds()*rate.PerSecond*float64(times))
			last = now
			permitted := l.Take(Key{Token: "a", Times: times}, now) == 0
			if d := content - 1; d > 1e-3 && !permitted || d < -1e-3 && permitted {
				t.Fatalf("seed %d, event %d: permitted %v with a content of %.4f", seed, i, permitted, content)
			}
			if permitted {
				content--
			}
		}
	}
}

func TestTimesMakeABucketLarger(t *testing.T) {
	l := New(Rate{1, 2}, 10)
	permitted := map[uint16]int{}
	for _, times := range []uint16{0, 1, 10} {
		for range 100 {
			if l.Take(Key{Token: fmt.Sprint(times), Times: times}, start) == 0 {
				permitted[times]++
			}
		}
	}
	if permitted[0] != 2 || permitted[1] != 2 || permitted[10] != 20 {
		t.Errorf("permitted by times: %v", permitted)
	}
	unlimited := New(Rate{}, 10)
	for range 1000 {
		if unlimited.Take(key("a"), start) != 0 {
			t.Fatal("an event without a limit waits")
		}
	}
}

func TestAFloodOfKeysIsBounded(t *testing.T) {
	l := New(Rate{1, 1}, 100)
	l.Take(key("busy"), start)
	for i := range 10_000 {
		l.Take(key(strconv.Itoa(i)), start)
		if l.Take(key("busy"), start) == 0 {
			t.Fatalf("after %d other keys, a key that is in use has a new bucket", i)
		}
	}
	if len(l.index) != 100 || len(l.slots) != 101 {
		t.Errorf("%d keys with %d buckets, want 100", len(l.index), len(l.slots)-1)
	}
	seen := 0
	for i := l.slots[0].next; i != 0; i = l.slots[i].next {
		if seen++; l.index[l.slots[i].key] != i || l.slots[l.slots[i].next].prev != i {
			t.Fatalf("bucket %d of the list is not that of its key", seen)
		}
	}
	if seen != 100 {
		t.Errorf("%d buckets in the list, want 100", seen)
	}
}

// TestAMillionAddressesTakeFewMegabytes floods a limiter of the size that the API uses.
func TestAMillionAddressesTakeFewMegabytes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := New(Rate{5, 100}, 10_000)
	for i := range uint32(1_000_000) {
		var address [4]byte
		binary.BigEndian.PutUint32(address[:], i)
		l.Take(Key{Network: netip.PrefixFrom(netip.AddrFrom4(address), 32)}, start)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grew := int64(after.HeapAlloc) - int64(before.HeapAlloc); grew > 8<<20 {
		t.Errorf("the limiter takes %d KB", grew>>10)
	}
	runtime.KeepAlive(l)
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

func TestClassesHaveNamesAndRates(t *testing.T) {
	for _, c := range Classes() {
		if got, ok := Named(c.String()); !ok || got != c {
			t.Errorf("class %d named %q is found as %d, %v", c, c, got, ok)
		}
		if r := c.Default(); r.PerSecond < 1 || r.Burst < 10 {
			t.Errorf("class %s has the rate %+v", c, r)
		}
	}
	if c, ok := Named(""); ok {
		t.Errorf("the empty name is class %d", c)
	}
}

func BenchmarkTake(b *testing.B) {
	l := New(Rate{1e6, 1e6}, 1000)
	for i := range 1000 {
		l.Take(key(strconv.Itoa(i)), start)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Take(Key{Network: NetworkOf("10.0.0.7:1234"), Times: 20}, start)
	}
}
