// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkReplicaAlone measures one proposer, who waits for each of its
// commands, beside one sync of the same disk in the same run.
func BenchmarkReplicaAlone(b *testing.B) {
	dir := b.TempDir()
	r, _ := start(b, Config{Dir: dir})
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	unix.Fallocate(int(f.Fd()), 0, 0, 64<<20)
	times, syncs := make([]time.Duration, b.N), make([]time.Duration, b.N)
	block := make([]byte, 1024)
	b.ResetTimer()
	for i := range b.N {
		begin := time.Now()
		if _, err := r.Propose(context.Background(), register("job-"+strconv.Itoa(i))); err != nil {
			b.Fatal(err)
		}
		times[i] = time.Since(begin)
		begin = time.Now()
		f.WriteAt(block, int64(i%60000)*1024)
		unix.Fdatasync(int(f.Fd()))
		syncs[i] = time.Since(begin)
	}
	b.StopTimer()
	slices.Sort(times)
	slices.Sort(syncs)
	p50, sync := times[b.N/2], syncs[b.N/2]
	b.ReportMetric(float64(p50.Microseconds()), "p50-us")
	b.ReportMetric(float64(times[b.N*99/100].Microseconds()), "p99-us")
	b.ReportMetric(float64(sync.Microseconds()), "fsync-p50-us")
	b.ReportMetric(float64(p50)/float64(sync), "p50/fsync")
}

// BenchmarkReplicaTogether measures proposers that each wait for their own
// registrations of jobs.
func BenchmarkReplicaTogether(b *testing.B) {
	for _, proposers := range []int{16, 64, 256} {
		b.Run(fmt.Sprint(proposers), func(b *testing.B) {
			r, _ := start(b, Config{Dir: b.TempDir()})
			before := r.Stats()
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range proposers {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if _, err := r.Propose(context.Background(), register("job-"+strconv.FormatInt(i, 10))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			after := r.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			b.ReportMetric(float64(after.Proposals-before.Proposals)/float64(after.Entries-before.Entries), "commands/entry")
		})
	}
}
