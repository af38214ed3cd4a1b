// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var rewrite = flag.Bool("rewrite", false, "write the answers into the scripts")

// TestScripts asks what the scripts of testdata ask, and compares the answers
// with theirs. A command begins with "@", and lines of its input with "|":
//
//	@ plan                           the plan whose tree follows is as it is drawn
//	@ pause POD TASK...              the tasks are held by an operator
//	@ task POD TASK STATE [failed]   a task is in this state
//	@ alloc POD STATUS               an allocation's client status
//	@ stop POD                       the servers want it to stop
//	@ works POD PLAN                 a plan has the instance under work
//	@ purge                          the job is being purged
//	@ removed                        nothing of it is left
//	@ stack                          the service is a stack
//	@ register                       the job is registered again
//	@ refuse CODE WORDS              so answers the core to the next verb
//	@ GET|POST|PUT|DELETE PATH       status, body, and what was decided
//	@ tree PLAN                      GET, as the command line draws it
//	@ pods                           GET, as the command line draws it
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, string(text))
			if *rewrite {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("%s (-is +answered):\n%s", path, diff)
			}
		})
	}
}

// runScript returns the script with the answers that its commands got.
func runScript(t *testing.T, text string) string {
	t.Helper()
	s := &session{t: t, w: newWorld(t)}
	s.handler = New(s.w, nil)
	var out strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		if strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
			continue
		}
		command, ok := strings.CutPrefix(line, "@ ")
		if !ok {
			continue // an answer, or nothing
		}
		out.WriteString(line + "\n")
		var input strings.Builder
		for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			out.WriteString(lines[i] + "\n")
			input.WriteString(strings.TrimPrefix(strings.TrimPrefix(lines[i], "|"), " ") + "\n")
		}
		answer, err := s.run(strings.Fields(command), input.String())
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if answer != "" {
			out.WriteString(strings.TrimRight(answer, "\n") + "\n")
		}
		out.WriteString("\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

type session struct {
	t       *testing.T
	w       *world
	handler *Handler
}

const base = "/v1/service/hello-world/"

func (s *session) run(words []string, input string) (string, error) {
	switch words[0] {
	case "plan":
		p, err := parsePlan(input)
		if err != nil {
			return "", err
		}
		s.w.set(p)
		return "", nil
	case "tree":
		return drawPlan(words[1], s.ask(http.MethodGet, base+"plans/"+words[1], "").Body.String())
	case "pods":
		return drawPods(s.ask(http.MethodGet, base+"pod/status", "").Body.String())
	case "refuse":
		s.w.refusal = api.Errorf(api.ErrorCode(words[1]), "%s", strings.Join(words[2:], " "))
		return "", nil
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete:
		path := words[1]
		if !strings.HasPrefix(path, "/") {
			path = base + path
		}
		answer := s.ask(words[0], path, input)
		text := fmt.Sprintf("%d %s\n%s", answer.Code, strings.TrimSuffix(answer.Header().Get("Content-Type"), "; charset=utf-8"), answer.Body)
		for _, d := range s.w.decisions {
			text = strings.TrimRight(text, "\n") + "\ndecided: " + d
		}
		s.w.decisions = nil
		return text, nil
	}
	return "", s.set(words)
}

// set changes what the world's pods are.
func (s *session) set(words []string) error {
	switch words[0] {
	case "purge":
		s.w.apply(s.t, &state.DeregisterJob{Namespace: "default", ID: "hello-world", Purge: true, Time: began})
		return nil
	case "removed":
		job := s.w.store.Snapshot().Job("default", "hello-world")
		s.w.apply(s.t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Deregister: true, Time: began}})
		return nil
	case "stack":
		s.w.apply(s.t, state.PutStack(&api.Stack{ID: "s", Namespace: "default", Name: "hello-world", Unit: "hello-world", Status: api.StackReady, Shape: api.ShapeService}))
		return nil
	case "register":
		s.w.plans = nil
		s.w.apply(s.t, &state.RegisterJob{Job: helloWorld(3)})
		return nil
	}
	id, ok := map[string]string{"hello-0": allocationID(0), "hello-1": allocationID(1), "world-0": allocationID(2)}[words[1]]
	if !ok {
		return fmt.Errorf("there is no pod %s", words[1])
	}
	switch words[0] {
	case "works":
		s.w.works[words[1]] = words[2]
	case "alloc":
		s.w.change(s.t, id, func(a *api.Allocation) { a.ClientStatus = words[2] })
	case "stop":
		s.w.change(s.t, id, func(a *api.Allocation) { a.DesiredStatus = api.AllocDesiredStop })
	case "pause":
		s.w.paused[words[1]] = true
		s.w.change(s.t, id, func(a *api.Allocation) {
			a.Launches = &api.Launches{ID: "l", Tasks: map[string]*api.Launch{}}
			for _, task := range words[2:] {
				a.Launches.Tasks[task] = &api.Launch{Token: "t", Hold: true}
			}
		})
	case "task":
		s.w.change(s.t, id, func(a *api.Allocation) {
			states := map[string]*api.TaskState{}
			for name, state := range a.TaskStates {
				states[name] = state
			}
			states[words[2]] = &api.TaskState{State: words[3], Failed: len(words) > 4, Launch: "t"}
			a.TaskStates = states
		})
	default:
		return errors.New("there is no such command")
	}
	return nil
}

func (s *session) ask(method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if strings.HasPrefix(strings.TrimSpace(body), "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	if !Claims(r.URL) {
		fmt.Fprintf(w, "not the dialect's")
		w.Code = http.StatusTeapot
		return w
	}
	s.handler.ServeHTTP(w, r)
	return w
}
