// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

var rewrite = flag.Bool("rewrite", false, "write the answers into the scripts")

// TestScripts sends the requests of the scripts in testdata, and compares the answers. A
// command begins with "@", and lines of its body with "|":
//
//	@ GET|POST|PUT|DELETE PATH   status, body, and the verbs that it called
//	@ refuse CODE WORDS          the core refuses the next verb
//	@ shift STATUS               the shift has this status
//	@ logout                     later requests have no session
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

// runScript returns the script with the answers that its commands received.
func runScript(t *testing.T, text string) string {
	t.Helper()
	s := newSession(t)
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
		var body strings.Builder
		for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			out.WriteString(lines[i] + "\n")
			body.WriteString(strings.TrimPrefix(strings.TrimPrefix(lines[i], "|"), " ") + "\n")
		}
		if answer := s.run(strings.Fields(command), body.String()); answer != "" {
			out.WriteString(strings.TrimRight(answer, "\n") + "\n")
		}
		out.WriteString("\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// session is a client of a handler.
type session struct {
	t       *testing.T
	w       *world
	handler *Handler
	cookie  string
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, w: newWorld(t), cookie: "TOKEN"}
	s.handler = New(s.w, "0.1.0", nil)
	s.handler.now = func() time.Time { return began }
	return s
}

func (s *session) run(words []string, body string) string {
	switch words[0] {
	case "refuse":
		s.w.refusal = api.Errorf(api.ErrorCode(words[1]), "%s", strings.Join(words[2:], " "))
	case "logout":
		s.cookie = ""
	case "shift":
		for shift := range s.w.store.Snapshot().Shifts() {
			n := shift.Copy()
			n.Status = words[1]
			s.w.put(s.t, n)
		}
	default:
		answer := s.ask(words[0], words[1], body)
		text := fmt.Sprintf("%d %s\n%s", answer.Code, strings.TrimSuffix(answer.Header().Get("Content-Type"), "; charset=utf-8"), answer.Body)
		for _, v := range s.w.verbs {
			text = strings.TrimRight(text, "\n") + "\ncalled: " + v
		}
		s.w.verbs = nil
		return text
	}
	return ""
}

func (s *session) ask(method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, prefix+path, strings.NewReader(body))
	if s.cookie != "" {
		r.AddCookie(&http.Cookie{Name: SessionCookie, Value: s.cookie})
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}
