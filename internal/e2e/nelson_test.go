// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// nelson is a client of Nelson's API.
type nelson struct {
	*machine
	session string
}

// send sends a request and returns the status and the text of the answer.
func (n *nelson) send(method, path, body string) (int, string) {
	n.t.Helper()
	q, err := http.NewRequestWithContext(n.t.Context(), method, "http://"+n.Addr+"/nelson"+path, strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	q.Header.Set("User-Agent", "NelsonCLI/1.0")
	q.Header.Set("Content-Type", "application/json")
	if n.session != "" {
		q.AddCookie(&http.Cookie{Name: "nelson.session", Value: n.session})
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// ok sends a request that must succeed, and decodes the answer.
func (n *nelson) ok(method, path, body string, into any) {
	n.t.Helper()
	status, text := n.send(method, path, body)
	if status != http.StatusOK {
		n.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			n.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
}

// A nelsonStack is a deployment in a list.
type nelsonStack struct {
	GUID      string `json:"guid"`
	Namespace string `json:"namespace"`
	StackName string `json:"stack_name"`
	Status    string `json:"status"`
	Workflow  string `json:"workflow"`
	Weight    int    `json:"weight"`
	Statuses  []struct {
		Status string `json:"status"`
	} `json:"statuses"`
}

func (n *nelson) stacks(query string) (list []nelsonStack) {
	n.t.Helper()
	n.ok(http.MethodGet, "/v1/deployments?"+query, "", &list)
	return list
}

// untilStatus waits until a deployment has a status.
func (n *nelson) untilStatus(guid, status string) (s nelsonStack) {
	n.t.Helper()
	n.eventually(guid+" is "+status, func(context.Context) error {
		n.ok(http.MethodGet, "/v1/deployments/"+guid, "", &s)
		if s.Status != status {
			return fmt.Errorf("it is %s", s.Status)
		}
		return nil
	})
	return s
}

// TestNelsonsAPIManagesStacks commits, deprecates, expires, redeploys, reverses and registers stacks as Nelson's
// command line does.
func TestNelsonsAPIManagesStacks(t *testing.T) {
	n := &nelson{machine: newMachine(t)}
	if status, text := n.send(http.MethodGet, "/v1/deployments?ns=default", ""); status != http.StatusUnauthorized || text != "Supplied authentication token is invalid." {
		t.Errorf("without a session: %d %s", status, text)
	}
	var login struct {
		SessionToken string `json:"session_token"`
		ExpiresAt    int64  `json:"expires_at"`
	}
	n.ok(http.MethodPost, "/auth/github", `{"access_token": "abc"}`, &login)
	if n.session = login.SessionToken; time.UnixMilli(login.ExpiresAt).Before(time.Now().AddDate(9, 0, 0)) {
		t.Errorf("the session ends at %d", login.ExpiresAt)
	}
	n.ok(http.MethodPost, "/v1/datacenters/dc1/namespaces", `{"namespace": "dev/sandbox"}`, nil)

	// A release is deployed into the default namespace, and committed to another one.
	job := stackJob(n.Reeve, "1.0.0", time.Hour)
	job.Stack.Expose, job.Stack.Grace = nil, ptr(time.Hour)
	n.deployStack(job)
	n.ok(http.MethodPost, "/v1/units/commit", `{"unit": "web", "version": "1.0.0", "target": "dev"}`, nil)
	list := n.stacks("ns=dev")
	if len(list) != 1 || list[0].Namespace != "dev" || list[0].Workflow != "reeve" {
		t.Fatalf("deployments in dev: %+v", list)
	}
	first := list[0]
	n.untilStatus(first.GUID, api.StackReady)
	var units []struct {
		ServiceType string `json:"service_type"`
		Namespace   string `json:"namespace"`
	}
	n.ok(http.MethodGet, "/v1/units?ns=dev,default", "", &units)
	if len(units) != 2 || units[0].ServiceType != "web" {
		t.Errorf("units: %+v", units)
	}
	var runtime struct {
		Scheduler struct{ Running int }
		Health    []struct{ Status string } `json:"consul_health"`
	}
	n.ok(http.MethodGet, "/v1/deployments/"+first.GUID+"/runtime", "", &runtime)
	if runtime.Scheduler.Running != 2 || len(runtime.Health) != 2 || runtime.Health[0].Status != "passing" {
		t.Errorf("runtime: %+v", runtime)
	}

	// The redeployed stack receives traffic by a shift, which is reversed once.
	n.ok(http.MethodPost, "/v1/deployments/"+first.GUID+"/redeploy", "", nil)
	list = slices.DeleteFunc(n.stacks("ns=dev"), func(s nelsonStack) bool { return s.GUID == first.GUID })
	if len(list) != 1 {
		t.Fatalf("after the redeployment: %+v", list)
	}
	second := list[0]
	n.untilStatus(second.GUID, api.StackReady)
	if status, text := n.send(http.MethodPost, "/v1/deployments/"+first.GUID+"/trafficshift/reverse", ""); status != http.StatusBadRequest || !strings.Contains(text, "is not the target for latest traffic shift") {
		t.Errorf("reverse of the source: %d %s", status, text)
	}
	n.ok(http.MethodPost, "/v1/deployments/"+second.GUID+"/trafficshift/reverse", "", nil)
	if status, text := n.send(http.MethodPost, "/v1/deployments/"+second.GUID+"/trafficshift/reverse", ""); status != http.StatusBadRequest || !strings.Contains(text, "already been reversed") {
		t.Errorf("reverse again: %d %s", status, text)
	}

	// A stack outside of Reeve.
	manual := `{"datacenter": "dc1", "namespace": "dev", "service_type": "db", "version": "14.2.0", "hash": "x", "description": "10.0.0.7 the database", "port": 5432}`
	n.ok(http.MethodPost, "/v1/deployments", manual, nil)
	n.ok(http.MethodPost, "/v1/deployments", manual, nil)
	n.eventually("the database is ready", func(context.Context) error {
		if list := n.stacks("ns=dev&status=manual"); len(list) != 1 {
			return fmt.Errorf("%+v", list)
		}
		return nil
	})

	// Deprecation concerns all namespaces. An expired stack that nothing uses is garbage after a sweep.
	version := `{"service_type": "web", "version": {"major": 1, "minor": 0}}`
	n.ok(http.MethodPost, "/v1/units/deprecate", version, nil)
	if list := n.stacks("ns=dev,default&status=deprecated&unit=web"); len(list) != 3 {
		t.Errorf("deprecated: %+v", list)
	}
	n.eventually("the shift has ended", func(context.Context) error {
		shifts, _, err := n.Client.WithNamespace("dev").Shifts().List(t.Context(), nil)
		if err != nil || len(shifts) != 1 || shifts[0].IsActive() {
			return fmt.Errorf("%+v, %v", shifts, err)
		}
		return nil
	})
	n.ok(http.MethodPost, "/v1/units/expire", version, nil)
	n.reeve("stack", "sweep")
	s := n.untilStatus(first.GUID, api.StackGarbage)
	var states []string
	for _, state := range s.Statuses {
		states = append(states, state.Status)
	}
	if diff := cmp.Diff([]string{"garbage", "ready", "warming", "deploying", "pending"}, states); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	var log struct{ Content []string }
	n.ok(http.MethodGet, "/v1/deployments/"+first.GUID+"/log?offset=1", "", &log)
	if len(log.Content) < 4 {
		t.Errorf("log: %q", log.Content)
	}
	n.hearsTheLifeOf(first.StackName, "pending", "deploying", "warming", "ready", "garbage")
	n.refusesGarbage()
}

// hearsTheLifeOf compares the events of a stack with its statuses.
func (n *nelson) hearsTheLifeOf(stack string, want ...string) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patience)
	defer cancel()
	var got []string
	for b, err := range n.Client.Events().Stream(ctx, client.EventOptions{Index: 1, Namespace: "*", Topics: map[string][]string{api.TopicStack: {stack}}}) {
		if err != nil {
			n.t.Fatalf("events: %v; so far: %v", err, got)
		}
		for _, e := range b.Events {
			text, err := json.Marshal(e.Payload)
			if err != nil {
				n.t.Fatal(err)
			}
			var body struct{ Stack struct{ Status string } }
			if err := json.Unmarshal(text, &body); err != nil {
				n.t.Fatal(err)
			}
			if status := body.Stack.Status; len(got) == 0 || got[len(got)-1] != status {
				got = append(got, status)
			}
		}
		if len(got) > 0 && got[len(got)-1] == want[len(want)-1] {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		n.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// refusesGarbage sends bodies that no route expects: no answer is a failure, and no stack changes.
func (n *nelson) refusesGarbage() {
	n.t.Helper()
	before := n.reeve("stack", "list", "-json", "-namespace", "*")
	for _, path := range []string{
		"/auth/github", "/v1/datacenters/dc1/namespaces", "/v1/deployments", "/v1/deployments/%00/redeploy", "/v1/deployments/../redeploy",
		"/v1/units/deprecate", "/v1/units/expire", "/v1/units/commit", "/v1/loadbalancers", "/v1/lint", "/v1/validate-template", "/v1/blueprints/proof",
	} {
		for _, body := range []string{"", "null", "[]", "{", `{"namespace": "../x"}`, `{"service_type": "web", "version": {"major": -1, "minor": 0}}`, `{"unit": "web", "version": "9.9.9", "target": "dev"}`} {
			if status, text := n.send(http.MethodPost, path, body); status >= 500 && status != http.StatusNotImplemented || status < 300 && path != "/auth/github" {
				n.t.Errorf("POST %s with %s: %d %s", path, body, status, text)
			}
		}
	}
	if diff := cmp.Diff(before, n.reeve("stack", "list", "-json", "-namespace", "*")); diff != "" {
		n.t.Errorf("garbage changed stacks:\n%s", diff)
	}
}
