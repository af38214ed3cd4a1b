// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/quota"
	"github.com/reeve-run/reeve/internal/state"
)

// Evaluations that a quota keeps from placing wait for it: for less usage, for higher limits, or for
// another quota of their namespace. As with nodes, a change is an offer of what is left, and wakes
// only as many evaluations as that suffices for. When they are done, the offer is repeated.

// limits are what an evaluation that waits for a quota needs of the quotas of its namespace.
type limits struct {
	quotas []string // that limit the namespace
	needs  []limitedNeed
	sized  bool // reports whether needs are known
}

// A limitedNeed is what the waiting instances of a group use.
type limitedNeed struct {
	use   api.QuotaUse // of one
	pool  string
	count int64
}

// quotaOffer begins the offers of quotas among those of nodes; see jobQueue.offers.
const quotaOffer = "quota:"

// needsRoom reports whether a change of a node may help the evaluation.
func needsRoom(e *api.Evaluation) bool {
	return e.QuotaLimitReached == "" || e.EscapedComputedClass || len(e.ClassEligibility) > 0
}

func (b *blocked) limit(i *item) {
	for _, name := range i.limits.quotas {
		if b.limited[name] == nil {
			b.limited[name] = map[api.NamespacedID]*item{}
		}
		b.limited[name][i.eval.JobKey()] = i
	}
}

func (b *blocked) unlimit(i *item) {
	for _, name := range i.limits.quotas {
		if delete(b.limited[name], i.eval.JobKey()); len(b.limited[name]) == 0 {
			delete(b.limited, name)
		}
	}
}

// fits reports whether a budget suffices for an instance.
func (l *limits) fits(b *quota.Budget) bool {
	return !l.sized || slices.ContainsFunc(l.needs, func(n limitedNeed) bool { return b.Copies(n.use, n.pool, 1) > 0 })
}

// take takes from a budget as many of the instances as it suffices for.
func (l *limits) take(b *quota.Budget) {
	if b == nil || !l.sized {
		return
	}
	for _, n := range l.needs {
		if fit := b.Copies(n.use, n.pool, max(n.count, 1)); fit > 0 {
			b.Take(n.use.Times(fit), n.pool)
		}
	}
}

// quotaChanged records that something may be left of a quota, and offers it.
func (q *queue) quotaChanged(name string, index uint64, now time.Time) {
	q.quotas[name] = index
	q.offerQuota(name, index, now)
}

// offerQuota offers what is left of a quota to the evaluations with a snapshot older than index.
func (q *queue) offerQuota(name string, index uint64, now time.Time) {
	waiting := q.blocked.limited[name]
	if len(waiting) == 0 {
		return
	}
	ledger := q.world.ledger()
	var open []*item
	for _, i := range waiting {
		if i.eval.SnapshotIndex < index && i.limits.fits(ledger.Budget(i.eval.Namespace)) {
			open = append(open, i)
		}
	}
	slices.SortFunc(open, func(x, y *item) int {
		if moreUrgentEvaluation(x.eval, y.eval) {
			return -1
		}
		return 1
	})
	for _, i := range open {
		budget := ledger.Budget(i.eval.Namespace)
		if !i.limits.fits(budget) {
			continue
		}
		i.limits.take(budget)
		q.blocked.remove(i.eval.JobKey())
		q.stopTimer(i.eval.ID)
		if index == math.MaxUint64 {
			q.wake(i.eval, now)
		} else {
			q.wake(i.eval, now, quotaOffer+name)
		}
	}
}

// offerQuotaAgain repeats an offer.
func (q *queue) offerQuotaAgain(offer string, now time.Time) {
	name := strings.TrimPrefix(offer, quotaOffer)
	if index, known := q.quotas[name]; known {
		q.offerQuota(name, index, now)
	}
}

// missedQuota reports whether a change of a quota after the evaluation's snapshot could help the
// evaluation, and returns the quota if it is known.
func (q *queue) missedQuota(e *api.Evaluation, l *limits) (name string, missed bool) {
	switch {
	case e.QuotaLimitReached == "":
		return "", false
	case len(l.quotas) == 0, q.requotas > e.SnapshotIndex:
		return "", true
	}
	for _, name := range l.quotas {
		if q.quotas[name] > e.SnapshotIndex && l.fits(q.world.ledger().Budget(e.Namespace)) {
			return name, true
		}
	}
	return "", false
}

// offerAllQuotas offers every quota for which evaluations wait.
func (q *queue) offerAllQuotas(index uint64, now time.Time) {
	var names []string
	for name := range q.blocked.limited {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		q.quotaChanged(name, index, now)
	}
}

// wakeLimited wakes the evaluations that wait for a quota and belong to a namespace or to one of its
// descendants.
func (q *queue) wakeLimited(namespace string, index uint64, now time.Time) {
	q.requotas = index
	var jobs []api.NamespacedID
	for _, waiting := range q.blocked.limited {
		for job := range waiting {
			if job.Namespace == namespace || strings.HasPrefix(job.Namespace, namespace+"/") {
				jobs = append(jobs, job)
			}
		}
	}
	for _, job := range jobs {
		q.wakeJob(job, now)
	}
}

// quotaEvents are the changes of a log entry that could help evaluations that wait for quotas.
type quotaEvents struct {
	quotas     map[string]bool // that may have something left
	namespaces []string        // that have another quota
}

func (h *quotaEvents) add(names ...string) {
	for _, name := range names {
		if name == "" {
			continue
		}
		if h.quotas == nil {
			h.quotas = map[string]bool{}
		}
		h.quotas[name] = true
	}
}

// addChange adds what a change frees of quotas.
func (h *quotaEvents) addChange(c *state.Change, snap *state.Snapshot) {
	switch c.Table {
	case state.TableAllocations:
		old, _ := c.Old.(*api.Allocation)
		a, _ := c.New.(*api.Allocation)
		if old != nil && !old.IsTerminal() && (a == nil || a.IsTerminal() || a.Job != old.Job) {
			h.add(snap.QuotasOf(old.Namespace)...)
		}
	case state.TableQuotas:
		if q, _ := c.New.(*api.Quota); q != nil {
			h.add(q.Name)
		}
	case state.TableNamespaces:
		var was, is string
		var name string
		if old, _ := c.Old.(*api.Namespace); old != nil {
			name, was = old.Name, old.Quota
		}
		if n, _ := c.New.(*api.Namespace); n != nil {
			name, is = n.Name, n.Quota
		}
		if was != is {
			h.add(was)
			h.namespaces = append(h.namespaces, name)
		}
	}
}

// limits returns what an evaluation that waits for a quota needs. It never exceeds what placement
// will ask for: an instance that replaces one of another version counts net, so the needs of a job
// with several versions are unknown.
func (w *storeLookup) limits(e *api.Evaluation, snap *state.Snapshot, job *api.Job) (l limits) {
	if e.QuotaLimitReached == "" {
		return limits{}
	}
	l.quotas, l.sized = snap.QuotasOf(e.Namespace), true
	for a := range snap.AllocationsByJob(e.Namespace, e.JobID) {
		if !a.IsTerminal() && (a.Job == nil || a.Job.Version != job.Version || a.Job.CreateIndex != job.CreateIndex) {
			l.sized = false
			return l
		}
	}
	for _, g := range job.Groups {
		if n := int64(e.QueuedAllocations[g.Name]); n > 0 {
			l.needs = append(l.needs, limitedNeed{g.QuotaUse(), job.NodePool, n})
		}
	}
	l.sized = len(l.needs) > 0
	return l
}

func (w *storeLookup) ledger() *quota.Ledger { return quota.NewLedger(w.snapshot()) }
