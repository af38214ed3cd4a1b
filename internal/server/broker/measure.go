// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import "time"

// measure adds the statistics that need a pass over the queued evaluations.
func (q *queue) measure(s *Stats) {
	oldest := int64(0)
	for i := range q.ready.heaps {
		for _, j := range q.ready.heaps[i].Items() {
			e := j.blocked
			if len(j.waiting) > 0 {
				e = j.waiting[0]
			}
			if e != nil && (oldest == 0 || e.CreateTime < oldest) {
				oldest = e.CreateTime
			}
		}
	}
	if oldest > 0 {
		s.Oldest = time.Unix(0, oldest)
	}
	for _, d := range q.out.Items() {
		s.Pending += len(d.job.waiting)
	}
	for _, i := range q.blocked.byJob {
		if i.eval.QuotaLimitReached != "" {
			s.Limited++
		}
		if i.want == nil {
			continue
		}
		if i.want.classes.any {
			s.Escaped++
		}
		if i.want.sized {
			n := max(i.count, 1)
			s.Lacking.CPU += n * i.want.need.CPU
			s.Lacking.MemoryMB += n * i.want.need.MemoryMB
			s.Lacking.DiskMB += n * i.want.need.DiskMB
		}
	}
}
