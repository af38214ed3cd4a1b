// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestPackingIsAsGoodAsBestFitDecreasing places the same jobs in three ways and
// compares how many nodes they need: as they arrive, one order each, with Place;
// all instances together, the largest first, each on the best of all nodes (what
// a scheduler could do that knew the future); and as they arrive, each on the
// better one of two random nodes with room. All want a job's instances apart as
// much as Place does: that costs nodes, and is part of the workload.
func TestPackingIsAsGoodAsBestFitDecreasing(t *testing.T) {
	for _, workload := range []struct {
		name string
		draw func(r *rand.Rand) (count, cpu, mem int)
	}{
		{"single instances", func(r *rand.Rand) (int, int, int) { return 1, 50 + r.IntN(450), 64 + r.IntN(1000) }},
		{"services of a few sizes", func(r *rand.Rand) (int, int, int) {
			size := 1 << r.IntN(4)
			return []int{1, 3, 10, 50}[r.IntN(4)], 50 * size, 100 * size
		}},
		{"services", func(r *rand.Rand) (int, int, int) {
			return []int{1, 3, 10, 50}[r.IntN(4)], 50 + r.IntN(450), 64 + r.IntN(1000)
		}},
		{"one large service", func(*rand.Rand) (int, int, int) { return 1000, 100, 128 }},
	} {
		for _, fleet := range []string{"uniform", "three sizes"} {
			t.Run(workload.name+"/"+fleet, func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 7))
				f := testFleet(3500)
				if fleet == "three sizes" {
					f = testFleet(1200)
					for i, n := range f.nodes {
						n.Resources.CPU.CPUShares <<= i % 3
						n.Resources.Memory.MemoryMB <<= i % 3
					}
				}
				var jobs []*api.Job
				for instances := 0; instances < 12000; {
					count, cpu, mem := workload.draw(r)
					job := testJob(count)
					job.ID = fmt.Sprintf("job-%d", len(jobs))
					job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: &cpu, MemoryMB: &mem}
					jobs = append(jobs, job)
					instances += count
				}
				ours, ideal, random := asTheyCome(t, f, jobs), bestFitDecreasing(f, jobs), bestOfTwo(f, jobs, r)
				t.Logf("nodes used: %d, by best fit decreasing %d, by the best of two random ones %d", ours, ideal, random)
				if float64(ours) > 1.02*float64(ideal) {
					t.Errorf("%d nodes are used, more than 1.02 times the %d of best fit decreasing", ours, ideal)
				}
				if ours > random {
					t.Errorf("%d nodes are used, more than the %d of the best of two random ones", ours, random)
				}
			})
		}
	}
}

// asTheyCome places the jobs one after the other.
func asTheyCome(t *testing.T, f *fixture, jobs []*api.Job) int {
	t.Helper()
	fleet, used := NewFleet(f), map[string]bool{}
	for i, job := range jobs {
		n := job.Groups[0].Size()
		out := Place(fleet.View(), &Order{JobID: job.ID, Requests: requests(job, n), Seed: uint64(i)})
		if len(out.Place) != n {
			t.Fatalf("%d of %d instances of %s are placed", len(out.Place), n, job.ID)
		}
		for _, a := range out.Place {
			used[a.NodeID] = true
			fleet.Change((*api.Allocation)(nil), a)
		}
	}
	return len(used)
}

// A bin is a node, and what is used of it.
type bin struct {
	used, capacity api.Usage
	holds          map[*api.Job]int32
}

func (b *bin) score(job *api.Job) (float64, bool) {
	with := b.used.Add(job.Groups[0].Usage())
	_, ok := with.Fits(b.capacity)
	return packed(free(with.CPU, b.capacity.CPU), free(with.MemoryMB, b.capacity.MemoryMB)) +
		crowded(b.holds[job], job.Groups[0].Size()), ok
}

func (b *bin) put(job *api.Job) {
	b.used = b.used.Add(job.Groups[0].Usage())
	b.holds[job]++
}

func binsOf(f *fixture) []bin {
	var bins []bin
	for _, n := range f.nodes {
		bins = append(bins, bin{capacity: n.Capacity(), holds: make(map[*api.Job]int32)})
	}
	return bins
}

func occupied(bins []bin) (n int) {
	for _, b := range bins {
		if len(b.holds) > 0 {
			n++
		}
	}
	return n
}

func bestFitDecreasing(f *fixture, jobs []*api.Job) int {
	bins := binsOf(f)
	var open []int // bins in use
	share := func(job *api.Job) float64 {
		u := job.Groups[0].Usage()
		return max(float64(u.CPU)/4000, float64(u.MemoryMB)/8192)
	}
	largest := slices.Clone(jobs)
	slices.SortStableFunc(largest, func(a, b *api.Job) int { return cmp.Compare(share(b), share(a)) })
	for _, job := range largest {
		for range job.Groups[0].Size() {
			best, at := math.Inf(-1), -1
			consider := func(i int) {
				if s, ok := bins[i].score(job); ok && s > best {
					best, at = s, i
				}
			}
			for _, i := range open {
				consider(i)
			}
			// Of the empty nodes, one of each size is all there is to see.
			for i := range 3 {
				for i < len(bins) && len(bins[i].holds) > 0 {
					i += 3
				}
				if i < len(bins) {
					consider(i)
				}
			}
			if len(bins[at].holds) == 0 {
				open = append(open, at)
			}
			bins[at].put(job)
		}
	}
	return occupied(bins)
}

func bestOfTwo(f *fixture, jobs []*api.Job, r *rand.Rand) int {
	bins := binsOf(f)
	for _, job := range jobs {
		for range job.Groups[0].Size() {
			best, at := math.Inf(-1), -1
			for seen := 0; seen < 2; {
				i := r.IntN(len(bins))
				if s, ok := bins[i].score(job); ok {
					seen++
					if s > best {
						best, at = s, i
					}
				}
			}
			bins[at].put(job)
		}
	}
	return occupied(bins)
}
