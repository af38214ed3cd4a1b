// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// A survey is what is known about one job at one moment, sorted by group and
// index. Everything else is derived from it.
type survey struct {
	r              Reader
	key            api.NamespacedID
	job            *api.Job // newest version; nil: purged
	eval           *api.Evaluation
	now            time.Time
	groups         []*group             // of the job in declared order, then those that left it
	deployment     *api.Deployment      // the newest one of the job, of whatever version
	nodes          map[string]*api.Node // that were looked at, by id; nil: removed
	changes        map[change]bool      // memory of differs
	proofs         map[change]bool      // memory of proves
	moves          map[change]*placement.Suitability
	old            map[*group]bool // memory of anyOld
	scratch        *scratch
	list           [4]*tree // room for those that most jobs have
	deploying      tree
	reverting      *bool           // memory of reverts
	deployed       *bool           // memory of wasDeployed
	replaced       map[*group]bool // memory of updates
	restarting     *api.JobRestart // the newest one; known once its plan was derived
	unwell         []string        // what it restarted that has not come back well, and is not noted in it
	drains         bool            // a node of it is drained
	ordered        map[place][]*api.Decision
	deployProgress progress                // of the newest version's deployment; known once deploy was derived
	spec           *api.PlanSpec           // that declares how it is deployed; nil: that is generated
	stagesByGroup  map[string]*groupStages // of a declared plan, by group
	deployRulings  *rulings                // of operators on deploying the newest version
	begunHeld      bool                    // the plan was interrupted before its deployment was made
	decisions      []*api.Decision
	reasons        map[string]string // memory of blocked
	left           []*api.Allocation // orphans that go on, and are none of the job's business for now
	// decisionsRead is set once decisions is what the store has.
	decisionsRead bool
	// collected is set when an allocation of the newest version belonged to a
	// deployment that is no longer stored.
	collected bool
}

// A group is the instances of one task group.
type group struct {
	name      string
	def       *api.Group // nil if the group left the job
	rolling   bool       // its instances are moved under a deployment
	instances []instance // by index; of a job that runs on every node, by node
	// Of a job that runs on every node: the first open instances are on nodes that
	// may be given one, ordered by id; closed are the others, by node.
	everywhere bool
	open       int
	closed     map[string]int
	shared     string // memory of the name that all of its allocations have
	excess     []departure
	stopping   []*api.Allocation // on a lost node, and told to stop before
	going      []*api.Allocation // told to stop, and not known to have ended; nobody comes after them
	gone       []*api.Allocation // ended, of a job that is being removed
	// rivals are further allocations that claim an instance, by its index; behind
	// are those of them that stay for now.
	rivals map[int][]*api.Allocation
	behind []*api.Allocation
	// unpromoted is set while the group waits for its canaries to be promoted.
	// Those that run beside the older instances are canaries, by index; beside is
	// what was placed as one.
	unpromoted bool
	canaries   []instance
	beside     []*api.Allocation
	// differs is memory of survey.differs, for the version that was asked about last.
	from    *api.Job
	differs bool
}

// An instance is one place of a group.
type instance struct {
	group   *group
	index   int
	node    string          // the only one that it may run on; "": any
	alloc   *api.Allocation // holds the place: wanted, and newer than others
	last    *api.Allocation // newest one that was stopped, if none holds it
	state   state
	claimed bool // a plan works on it: a dirty instance
	// busy are tasks that a plan launches, where it works on no others.
	busy []string
	// canary is set while it waits, or will wait, for promotion.
	canary bool
	// closed is set when its node takes nothing new: what is there stays as it is.
	closed bool
	asked  bool // something is to be placed for it now
	// renewed is set when what holds it was given the newest version in place.
	renewed bool
	// away is set when its node is silent, and its allocation not lost yet.
	away *absence
}

// A state is how the allocation that holds an instance is.
type state uint8

const (
	vacant  state = iota // no allocation holds the instance
	placed               // the node has not said anything of it yet
	running              // its tasks run
	unknown              // its node is out of reach, or has not spoken since it is back
	failed               // its tasks failed, and the restart policy gave up
	ended                // its tasks ended well
	lost                 // its node is gone
	moving               // somebody stopped it, or its node is drained
)

func newSurvey(r Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time, m *scratch) *survey {
	s := &survey{
		r: r, key: key, job: job, eval: eval, now: now, scratch: m,
		deployment: r.LatestDeployment(key.Namespace, key.ID),
	}
	byName := make(map[string]*group)
	if job != nil {
		for _, def := range job.Groups {
			g := &group{name: def.Name, def: def, rolling: rolls(job, def)}
			s.fill(g)
			byName[def.Name] = g
			s.groups = append(s.groups, g)
		}
	}
	declared := len(s.groups)
	var orphans []*api.Allocation
	for a := range r.AllocationsByJob(key.Namespace, key.ID) {
		if a.Orphan {
			orphans = append(orphans, a)
			continue
		}
		if s.isPast(a) {
			continue
		}
		g := byName[a.Group]
		if g == nil {
			g = &group{name: a.Group}
			byName[a.Group] = g
			s.groups = append(s.groups, g)
		}
		s.assign(g, a)
	}
	s.sortOrphans(byName, orphans)
	slices.SortFunc(s.groups[declared:], func(a, b *group) int { return strings.Compare(a.name, b.name) })
	for _, g := range s.groups {
		for i, claims := range g.rivals {
			in := &g.instances[i]
			claims = append(claims, in.alloc)
			in.alloc = nil
			s.resolveClaims(in, claims)
		}
		s.classify(g.instances)
		s.dropAbandoned(g)
		s.stopOnClosedNodes(g)
		s.findCanaries(g)
		slices.SortFunc(g.excess, func(a, b departure) int {
			if d := b.alloc.Index() - a.alloc.Index(); d != 0 {
				return d
			}
			return strings.Compare(a.alloc.ID, b.alloc.ID)
		})
		slices.SortFunc(g.behind, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
		slices.SortFunc(g.going, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
		slices.SortFunc(g.stopping, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	}
	return s
}

// classify sees how the instances are.
func (s *survey) classify(instances []instance) {
	for i := range instances {
		in := &instances[i]
		if in.state = s.stateOf(in); in.state == unknown {
			in.away = s.absenceOf(in.alloc)
		}
	}
}

// fill gives the group the instances that should run.
func (s *survey) fill(g *group) {
	switch size := max(g.def.Size(), 0); {
	case !s.wanted() || size == 0:
	case s.job.RunsOnEveryNode():
		s.fillNodes(g)
	default:
		g.instances = s.scratch.instancesFor(size)
		for i := range g.instances {
			g.instances[i] = instance{group: g, index: i}
		}
	}
}

// every yields the group's instances, canaries first.
func (g *group) every(yield func(*instance) bool) {
	for i := range g.canaries {
		if !yield(&g.canaries[i]) {
			return
		}
	}
	for i := range g.instances {
		if !yield(&g.instances[i]) {
			return
		}
	}
}

// rolls reports whether instances of the group are moved to a new version step
// by step, under a deployment.
func rolls(job *api.Job, g *api.Group) bool {
	u := g.Update
	return !job.RunsToCompletion() && u != nil && (of(u.MaxParallel) > 0 || u.MaxParallelPercent != nil)
}

// wanted reports whether anything of the job should run.
func (s *survey) wanted() bool {
	return s.job != nil && !s.job.Stop && !s.job.IsPeriodic() && !s.job.IsParameterized()
}

// assign puts the allocation where it belongs in its group.
func (s *survey) assign(g *group, a *api.Allocation) {
	if a.DeploymentID != "" && s.isCurrent(a) && (s.deployment == nil || s.deployment.ID != a.DeploymentID) {
		s.collected = true
	}
	if a.IsCanary() && !g.everywhere {
		g.beside = append(g.beside, a)
		if a.IsServerTerminal() && !a.IsClientTerminal() && s.isLostWithNode(a) {
			g.stopping = append(g.stopping, a)
		}
		return
	}
	index, inside := s.indexOf(g, a)
	if a.IsServerTerminal() {
		if inside && newer(a, g.instances[index].last) {
			g.instances[index].last = a
		}
		switch {
		case a.IsClientTerminal():
			if a.DesiredDescription == becausePurged && s.uninstalls() {
				g.gone = append(g.gone, a)
			}
		case s.isLostWithNode(a):
			g.stopping = append(g.stopping, a)
		case !inside:
			g.going = append(g.going, a)
		}
		return
	}
	if !inside {
		g.addExcess(a, "")
		return
	}
	in := &g.instances[index]
	if in.alloc == nil {
		in.alloc = a
		return
	}
	if g.rivals == nil {
		g.rivals = make(map[int][]*api.Allocation)
	}
	g.rivals[index] = append(g.rivals[index], a)
}

// indexOf finds which of the group's instances the allocation is or was made for.
func (s *survey) indexOf(g *group, a *api.Allocation) (index int, inside bool) {
	if g.everywhere {
		return s.placeOn(g, a)
	}
	index = a.Index()
	return index, index >= 0 && index < len(g.instances)
}

// addExcess notes an allocation that has no place, unless it has ended anyway. Why
// is "" if it follows from where it is.
func (g *group) addExcess(a *api.Allocation, why string) {
	if !a.IsClientTerminal() {
		g.excess = append(g.excess, departure{g, a, why})
	}
}

func newer(a, b *api.Allocation) bool {
	switch {
	case b == nil:
		return true
	case a.CreateIndex != b.CreateIndex:
		return a.CreateIndex > b.CreateIndex
	case a.CreateTime != b.CreateTime:
		return a.CreateTime > b.CreateTime
	}
	return a.ID > b.ID
}

func (s *survey) stateOf(in *instance) state {
	a := in.alloc
	if a == nil {
		return vacant
	}
	switch a.ClientStatus {
	case api.AllocClientFailed:
		return failed
	case api.AllocClientComplete:
		return ended
	case api.AllocClientLost:
		return lost
	}
	open := in.node != "" && !in.closed // then its node is there
	switch {
	case !open && s.isLostWithNode(a):
		return lost
	case a.DesiredTransition.ShouldMigrate():
		return moving
	case a.ClientStatus == api.AllocClientUnknown, !open && s.isUnreachable(a):
		return unknown
	case a.ClientStatus == api.AllocClientRunning:
		return running
	}
	return placed
}

// isCurrent reports whether the allocation has the job's newest version.
func (s *survey) isCurrent(a *api.Allocation) bool {
	return a.Job == s.job || s.job != nil && a.Job != nil &&
		a.Job.Version == s.job.Version && a.Job.CreateIndex == s.job.CreateIndex
}

// A change is from one version of a group to the newest one.
type change struct {
	from  *api.Job
	group string
}

// note puts something into a memory that is made when it is needed.
func note[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// destructive reports whether the allocation must be replaced to have the
// newest version. A change of where it may run counts only if its node is not
// fit any more.
func (s *survey) destructive(g *group, a *api.Allocation) bool {
	return s.differs(g, a) || !s.stillSuits(g, a)
}

// differs reports whether what the allocation runs is not what the newest
// version says.
func (s *survey) differs(g *group, a *api.Allocation) bool {
	if !s.knows(a) && !a.Orphan {
		return true
	}
	if a.Job == g.from { // like the one before it, as most are
		return g.differs
	}
	c := change{a.Job, g.name}
	replace, known := s.changes[c]
	if !known {
		old := a.Job.Group(g.name)
		replace = old == nil || Destructive(a.Job, old, s.job, g.def)
		note(&s.changes, c, replace)
	}
	g.from, g.differs = a.Job, replace
	return replace
}

// serves reports whether the instance may serve users, so that stopping it
// takes something away from them.
func (i *instance) serves() bool {
	return i.state == running && !i.alloc.IsUnhealthy() || i.state == unknown && !i.isReplaced()
}

// isReplaced reports whether the instance is to be started elsewhere while its node is
// silent.
func (i *instance) isReplaced() bool { return i.away != nil && i.away.replaced && !i.closed }

// claim notes that the step is to be done: the instance is dirty, or those of its
// tasks are that the step launches.
func (i *instance) claim(st *step) {
	if st.action == launch {
		i.busy = append(i.busy, st.taskNames()...)
		return
	}
	i.claimed = true
}

// isClaimed reports whether another step works on the instance with which this one
// is in conflict.
func (i *instance) isClaimed(st *step) bool {
	if i.claimed || len(i.busy) == 0 || st.action != launch {
		return i.claimed || len(i.busy) > 0
	}
	return slices.ContainsFunc(st.taskNames(), func(name string) bool { return slices.Contains(i.busy, name) })
}

// What an instance is worth to users, from nothing upwards.
const (
	noWorth   = iota // it does not run, or is not well
	someWorth        // it runs, and its node has not said yet whether it is well
	wellWorth
)

func (i *instance) rank() int {
	switch {
	case !i.serves():
		return noWorth
	case i.alloc.DeploymentID != "" && !i.alloc.IsHealthy():
		return someWorth
	}
	return wellWorth
}
