// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// An Object identifies something with a modify index that writers compare, so that no
// writer overwrites a state that it has not seen.
type Object struct {
	Table     Table
	Namespace string
	ID        string
}

// AppendWrites appends the objects that a command writes. Commands that write the same
// object must be in different entries, because the index of an entry is the modify index
// of everything that it writes.
func AppendWrites(objects []Object, c Command) []Object {
	switch c := c.(type) {
	case *RegisterJob:
		if c.Job != nil {
			return append(objects, Object{TableJobs, c.Job.Namespace, c.Job.ID})
		}
	case *DeregisterJob:
		return append(objects, Object{TableJobs, c.Namespace, c.ID})
	case *ScaleJob:
		return append(objects, Object{TableJobs, c.Namespace, c.ID})
	case *LaunchJob:
		return append(objects, Object{TableJobs, c.Namespace, c.ID})
	case *UpdateDeployment:
		if c.Job != nil {
			return append(objects, Object{TableJobs, c.Job.Namespace, c.Job.ID})
		}
	case *SetAllocHealth:
		if c.Job != nil {
			return append(objects, Object{TableJobs, c.Job.Namespace, c.Job.ID})
		}
	case *SetSchedulerConfig:
		return append(objects, Object{Table: TableSchedulerConfig})
	case *PutNodePool:
		if c.Pool != nil {
			return append(objects, Object{Table: TableNodePools, ID: c.Pool.Name})
		}
	case *DeleteNodePool:
		return append(objects, Object{Table: TableNodePools, ID: c.Pool})
	case *PutDomain:
		return append(objects, Object{Table: TableDomains, ID: c.Domain})
	case *EndFreshness:
		for _, name := range c.Domains {
			objects = append(objects, Object{Table: TableDomains, ID: name})
		}
	case *PutRestart:
		if c.Restart != nil {
			return append(objects, Object{Table: TableRestarts, ID: c.Restart.ID})
		}
	case *UpdateRestart:
		return append(objects, Object{Table: TableRestarts, ID: c.ID})
	case *DeployStacks:
		for _, s := range c.Stacks {
			if s != nil {
				objects = append(objects, putStack(s).writes()...)
			}
		}
	case *SweepStacks:
		for _, e := range c.Extended {
			for _, key := range e.Stacks {
				objects = append(objects, Object{Table: TableStacks, ID: key})
			}
		}
		for i := range c.Decided {
			objects = append(objects, Object{Table: TableStacks, ID: jobName(c.Decided[i].Namespace, c.Decided[i].Name)})
		}
		for _, o := range c.Observed {
			objects = append(objects, Object{Table: TableStacks, ID: jobName(o.Namespace, o.Name)})
		}
	case *RevokeMember:
		return append(objects, Object{Table: TableServers, ID: c.ID})
	case *Decide:
		return append(objects, c.writes()...)
	case writer:
		return append(objects, c.writes()...)
	}
	return objects
}

// A writer is a command that lists what it writes.
type writer interface{ writes() []Object }

func (c *putObject[T]) writes() []Object {
	if c.object == nil {
		return []Object{{Table: c.noun.table}}
	}
	objects := []Object{{Table: c.noun.table, ID: c.noun.key(c.object)}}
	if c.noun.alsoWrites != nil {
		objects = append(objects, c.noun.alsoWrites(c.object)...)
	}
	return objects
}

func (c *deleteObject[T]) writes() []Object { return []Object{{Table: c.noun.table, ID: c.key}} }
