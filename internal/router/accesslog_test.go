// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheAccessLogHasALineForEachRequest(t *testing.T) {
	onEachEngine(t, testTheAccessLogHasALineForEachRequest)
}

func testTheAccessLogHasALineForEachRequest(t *testing.T, on engine) {
	file := filepath.Join(t.TempDir(), "access.log")
	r := on.start(t, Config{AccessLog: file})
	r.add("one", says(t, "hello"), route(path("/a")))
	ask := func() {
		l := r.dial()
		l.send("POST /a/b?c HTTP/1.1\r\nHost: web.org\r\nX-Request-Id: name\r\nUser-Agent: test \"1\"\r\nContent-Length: 3\r\n\r\nabc")
		l.read("POST")
		l.send("GET /nowhere HTTP/1.1\r\nHost: web.org\r\nX-Request-Id: other\r\nConnection: close\r\n\r\n")
		l.read("GET")
		l.ends() // which comes after the line, as the answer may not
	}
	ask()
	if err := os.Rename(file, file+".1"); err != nil { // as a rotation does
		t.Fatal(err)
	}
	r.access.flush()
	ask()
	r.access.flush()
	for _, name := range []string{file + ".1", file} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		var got []map[string]any
		for _, l := range lines {
			m := map[string]any{}
			if err := json.Unmarshal([]byte(l), &m); err != nil {
				t.Fatalf("%s: %q: %v", name, l, err)
			}
			for _, changing := range []string{"time", "duration_us", "instance"} {
				delete(m, changing)
			}
			got = append(got, m)
		}
		want := []map[string]any{
			{"request_id": "name", "client": "127.0.0.1", "protocol": "HTTP/1.1", "method": "POST", "host": "web.org", "path": "/a/b?c", "status": 200.0,
				"bytes_in": 3.0, "bytes_out": 5.0, "job": "default/web", "alloc": "one", "attempts": 1.0, "user_agent": "test \"1\""},
			{"request_id": "other", "client": "127.0.0.1", "protocol": "HTTP/1.1", "method": "GET", "host": "web.org", "path": "/nowhere", "status": 404.0,
				"bytes_in": 0.0, "bytes_out": got[len(got)-1]["bytes_out"], "error": "no route leads from host \"web.org\" and path \"/nowhere\" to a job"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filepath.Base(name), diff)
		}
	}
}

func TestTheAccessLogInCombinedFormat(t *testing.T) {
	onEachEngine(t, testTheAccessLogInCombinedFormat)
}

func testTheAccessLogInCombinedFormat(t *testing.T, on engine) {
	file := filepath.Join(t.TempDir(), "access.log")
	r := on.start(t, Config{AccessLog: file, AccessFormat: AccessCombined})
	r.add("one", says(t, "hello"), route())
	l := r.dial()
	l.send("GET /x HTTP/1.1\r\nHost: web.org\r\nX-Request-Id: name\r\nReferer: http://a/\r\nUser-Agent: te\"st\r\nConnection: close\r\n\r\n")
	l.read("GET")
	l.ends()
	r.access.flush()
	text, _ := os.ReadFile(file)
	want := regexp.MustCompile("^127\\.0\\.0\\.1 - - \\[\\d\\d/\\w{3}/\\d{4}:[\\d:]{8} [-+]\\d{4}\\] \"GET /x HTTP/1\\.1\" 200 5 \"http://a/\" \"te\\\\\"st\" name\n$")
	if !want.Match(text) {
		t.Errorf("%q", text)
	}
}
