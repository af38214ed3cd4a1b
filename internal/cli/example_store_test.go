// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheExampleStoreCountsForThoseWhoKnowThePassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "visits")
	for visit := 1; visit < 3; visit++ { // the second time with a new process on the old file
		s := httptest.NewServer((&exampleStore{file: file, password: "open"}).handler())
		address := strings.Replace(s.URL, "http://", "http://web:%s@", 1) + "/visits"
		if status, body := fetch(t, fmt.Sprintf(address, "closed")); status != 401 || body != "wrong password\n" {
			t.Errorf("a wrong password: %d %q", status, body)
		}
		web := exampleServer(t, fmt.Sprintf(address, "open"), map[string]string{"NOMAD_JOB_NAME": "bookshop"})
		want := fmt.Sprintf("Hello from bookshop, instance 0, version 1\nvisit %d\n", visit)
		if status, body := fetch(t, web); status != 200 || body != want {
			t.Errorf("%d %q, want %q", status, body, want)
		}
		s.Close()
		if status, body := fetch(t, web); status != 502 || strings.Contains(body, "open@") || !strings.Contains(body, "web:xxxxx@") {
			t.Errorf("without the store: %d %q", status, body)
		}
	}
	if err := os.WriteFile(file, []byte("many"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer((&exampleStore{file: file, password: "open"}).handler())
	defer s.Close()
	if status, body := fetch(t, strings.Replace(s.URL, "http://", "http://web:open@", 1)+"/visits"); status != 500 || !strings.Contains(body, "does not hold a number") {
		t.Errorf("a damaged file: %d %q", status, body)
	}
}
