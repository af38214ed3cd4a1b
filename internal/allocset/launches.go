// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import "github.com/reeve-run/reeve/api"

func (e *Encoder) launches(l *api.Launches) *Launches {
	w := &Launches{Id: e.name(l.ID)}
	for _, task := range sortedKeys(l.Tasks) {
		t := l.Tasks[task]
		if t == nil {
			continue
		}
		launch := &Launch{
			Task: e.name(task), Token: e.name(t.Token), Await: t.Await, Hold: t.Hold, Done: t.Done, Alone: t.Alone, Why: e.name(t.Why), Index: t.Index,
		}
		for _, key := range sortedKeys(t.Env) {
			launch.Env = append(launch.Env, &Detail{Key: e.name(key), Value: e.name(t.Env[key])})
		}
		w.Tasks = append(w.Tasks, launch)
	}
	return w
}

func (d *decoder) launches(w *Launches) *api.Launches {
	l := &api.Launches{ID: d.name(w.Id)}
	if len(w.Tasks) > 0 {
		l.Tasks = make(map[string]*api.Launch, len(w.Tasks))
	}
	for _, t := range w.Tasks {
		launch := &api.Launch{
			Token: d.name(t.GetToken()), Await: t.GetAwait(), Hold: t.GetHold(), Done: t.GetDone(), Alone: t.GetAlone(), Why: d.name(t.GetWhy()), Index: t.GetIndex(),
		}
		if len(t.GetEnv()) > 0 {
			launch.Env = make(map[string]string, len(t.Env))
		}
		for _, v := range t.GetEnv() {
			launch.Env[d.name(v.GetKey())] = d.name(v.GetValue())
		}
		l.Tasks[d.name(t.GetTask())] = launch
	}
	return l
}
