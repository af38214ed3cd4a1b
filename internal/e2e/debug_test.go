// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/testbed/network"
)

// debug runs "reeve operator debug" on a host, and returns the files of the archive by name.
func debug(t *testing.T, host *network.Host, args ...string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "debug.tar.gz")
	cmd := host.Command(reeve, append([]string{"operator", "debug", "-output", path}, args...)...)
	cmd.Env = append(os.Environ(), "REEVE_TOKEN=canary-of-the-environment", "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("reeve operator debug: %v: %s", err, out)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the archive: %v, mode %v", err, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(header.Name, "/")
		files[name] = string(text)
	}
}

// inArchive returns the file below a folder whose name begins with a member's name.
func inArchive(files map[string]string, folder, member, file string) string {
	for name, text := range files {
		if strings.HasPrefix(name, folder+"/"+member+"-") && strings.HasSuffix(name, "/"+file) {
			return text
		}
	}
	return ""
}

// TestSupportArchivesHoldNoSecrets plants secrets where a cluster has them, and looks for them in
// the archive. A member that does not answer is an error in the manifest.
func TestSupportArchivesHoldNoSecrets(t *testing.T) {
	m := newMembers(t, 2)
	m.form()
	node := m.on(m.spare, "host-3", "-client", "-join", m.net.Hosts()[0].Addr, "-join-token-file", m.token("node"))
	node.start()
	node.eventually("the node is ready", readyNodes(m.all[0], 3))
	job := sleeper("web", 1)
	job.Groups[0].Tasks[0].Env = map[string]string{"DB_PASSWORD": "canary-of-the-job"}
	job.Meta = map[string]string{"note": "canary-of-the-meta"}
	m.all[0].register(job)
	m.all[0].allocations("web", "runs", running(1))

	files := debug(t, m.net.Hosts()[1], "-node", "host-3", "-profile", "100ms")
	for _, name := range []string{"manifest.json", "cluster/status.json", "cluster/scheduler.json", "cluster/events.json", "cluster/evaluations.json", "cluster/certificates.json"} {
		if files[name] == "" {
			t.Errorf("the archive has no %s", name)
		}
	}
	if !strings.Contains(files["manifest.json"], `"Errors": []`) {
		t.Errorf("the manifest: %s", files["manifest.json"])
	}
	for _, member := range []struct{ folder, name, said string }{
		{"servers", "host-1", "agent started"}, {"servers", "host-2", "joined the cluster"}, {"nodes", "host-3", "joined the cluster"},
	} {
		if !strings.Contains(inArchive(files, member.folder, member.name, "log.txt"), member.said) || !strings.Contains(inArchive(files, member.folder, member.name, "goroutines.txt"), "goroutine profile") ||
			!strings.Contains(inArchive(files, member.folder, member.name, "self.json"), `"Name":"`+member.name+`"`) || inArchive(files, member.folder, member.name, "heap.pprof") == "" || inArchive(files, member.folder, member.name, "processor.pprof") == "" {
			t.Errorf("the archive lacks parts of %s", member.name)
		}
	}
	secrets := []string{"canary-of-", "PRIVATE KEY"}
	for _, path := range []string{filepath.Join(m.all[0].Dir, "operator.token"), m.token("node"), m.token("server"), filepath.Join(m.all[1].Dir, "agent.token")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(strings.TrimSpace(string(text)), "-")
		secrets = append(secrets, parts[len(parts)-1]) // the digest before it is public
	}
	for name, text := range files {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains %q", name, secret)
			}
		}
	}

	node.Kill()
	files = debug(t, m.net.Hosts()[0], "-node", "host-3", "-node", "absent")
	if manifest := files["manifest.json"]; !strings.Contains(manifest, "nodes/host-3-") || !strings.Contains(manifest, `nodes/absent: node \"absent\" not found`) {
		t.Errorf("the manifest does not name what is missing: %s", manifest)
	}
}
