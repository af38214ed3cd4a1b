// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
)

// pushed serves an image with the test's program by a registry of this machine, and returns its
// reference for jobs.
func pushed(t *testing.T, change func(*v1.Config)) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	at := strings.TrimPrefix(server.URL, "http://") + "/tool:1"
	ref, err := name.ParseReference(at)
	if err != nil {
		t.Fatal(err)
	}
	i, err := containertest.Image(change, runtime.GOARCH)
	if err == nil {
		err = remote.Write(ref, i)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// everythingJob serves port 80 of a container with a network, a volume, a template, an
// artifact and a secret. The program is a user of the image.
func everythingJob(image, artifact string, count int) *api.Job {
	job := containerJob("shop", image, count, "serve 80")
	g, task := job.Groups[0], job.Groups[0].Tasks[0]
	task.User = "app"
	g.Networks = []*api.Network{{Mode: api.NetworkBridge, Hostname: "shop-${NOMAD_ALLOC_INDEX}", DynamicPorts: []api.Port{{Label: "http", To: 80}}}}
	g.Services = []*api.Service{{Name: "shop", PortLabel: "http", Provider: "nomad"}}
	g.Volumes = map[string]*api.VolumeRequest{"data": {Name: "data", Type: api.VolumeTypeHost, Source: "data"}}
	task.VolumeMounts = []*api.VolumeMount{{Volume: "data", Destination: "/data"}}
	task.Secrets = []*api.Secret{{Name: "db", Provider: "nomad", Path: "nomad/jobs/shop"}}
	task.Env = map[string]string{"DB": "${secret.db.password}"}
	task.Artifacts = []*api.Artifact{{Source: artifact, Destination: "local/fetched"}}
	task.Templates = []*api.Template{
		{DestPath: "local/shop.conf", ChangeMode: "noop", EmbeddedTmpl: `password={{with nomadVar "nomad/jobs/shop"}}{{.password}}{{end}} at {{env "NOMAD_ALLOC_ADDR_http"}}`},
		{DestPath: "local/private/key", Perms: "0400", EmbeddedTmpl: "private"},
		{DestPath: "secrets/key", ChangeMode: "noop", EmbeddedTmpl: `{{with nomadVar "nomad/jobs/shop"}}{{.password}}{{end}}`, Perms: "0400"},
	}
	return job
}

// TestContainerOnABridge runs a program with a fixed port three times on a node, in containers
// with everything that a task may have, and reads from inside what each part promises.
func TestContainerOnABridge(t *testing.T) {
	if !alone(t) {
		return
	}
	image := pushed(t, nil)
	m := unstarted(t)
	files := filepath.Join(t.TempDir(), "files")
	data := openDir(t)
	if err := os.Mkdir(files, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "catalog"), []byte("apples\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.Args = []string{"-dev", "-config", m.configured(fmt.Sprintf("client {\n  host_volume \"data\" { path = %q }\n}\n", data))}
	m.start()
	m.waitReady()
	server := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer server.Close()
	m.reeve("var", "put", "nomad/jobs/shop", "password=canary-5b1")
	m.register(everythingJob(image, server.URL+"/catalog", 3))
	ids, ports := m.isUp("shop", 3)
	for _, id := range ids {
		m.eventually("the node reaches the instance", func(ctx context.Context) error {
			text, err := greeting(ctx, "", "127.0.0.1:"+strconv.Itoa(ports[id]))
			if err == nil && text != "served\n" {
				err = fmt.Errorf("it says %q", text)
			}
			return err
		})
	}
	a, _, err := m.Client.Allocations().Get(t.Context(), ids[0], nil)
	if err != nil || a.NetworkStatus == nil {
		t.Fatalf("network %+v, %v", a.NetworkStatus, err)
	}
	index := a.Name[strings.LastIndex(a.Name, "[")+1 : len(a.Name)-1]
	m.inside(ids[0], map[string]string{
		"id":                               "uid 1000 gid 1001 groups [10]\n",
		"hostname":                         "shop-" + index + "\n",
		"env DB":                           "DB=canary-5b1\n",
		"env NOMAD_PORT_http":              "NOMAD_PORT_http=80\n",
		"cat /local/shop.conf":             "password=canary-5b1 at " + a.NetworkStatus.Address + ":80",
		"cat /local/fetched/catalog":       "apples\n",
		"cat /local/private/key":           "private",
		"cat /secrets/key":                 "canary-5b1",
		"stat /secrets/key":                "/secrets/key 1000:1001 400\n",
		"stat /local/shop.conf":            "/local/shop.conf 1000:1001 644\n",
		"stat /local/fetched/catalog":      "/local/fetched/catalog 0:0 644\n",
		"write /local/own mine":            "",
		"write /data/order bread":          "",
		"dial tcp 127.0.0.1:80":            "",
		"lookup shop-" + index:             a.NetworkStatus.Address + "\n",
		"grep nameserver /etc/resolv.conf": "nameserver 172.26.64.1\n",
		"ls /sys/class/net":                "eth0\nlo\n",
	})
	m.holds(filepath.Join(data, "order"), "bread")
	m.eventually("the service's name resolves", func(ctx context.Context) error {
		out, err := m.tool(ctx, ids[0], "lookup shop.default.svc.reeve")
		if err == nil && out != "127.0.0.1\n" {
			err = fmt.Errorf("to %q", out)
		}
		return err
	})
	m.Kill()
	m.start()
	m.waitReady()
	again, _ := m.isUp("shop", 3)
	if len(again) != 3 || again[0] != ids[0] {
		t.Errorf("after a restart of the agent run %v, not %v", again, ids)
	}
	m.eventually("a command runs in the adopted container", func(ctx context.Context) error {
		_, err := m.tool(ctx, ids[0], "dial tcp 127.0.0.1:80")
		return err
	})
	m.reeve("var", "put", "nomad/jobs/shop", "password=canary-6c2")
	m.eventually("the user reads the new secret", func(ctx context.Context) error {
		out, err := m.tool(ctx, ids[0], "cat /secrets/key")
		if err == nil && out != "canary-6c2" {
			err = fmt.Errorf("it reads %q", out)
		}
		return err
	})
	m.leavesNothing("shop")
	m.eventually("nothing is left", func(context.Context) error {
		if left := m.remains(ids[0]); len(left) > 0 {
			return fmt.Errorf("left: %s", strings.Join(left, ", "))
		}
		return nil
	})
}

// tool runs commands of the image's program in a task, and returns its output.
func (m *machine) tool(ctx context.Context, alloc, commands string) (string, error) {
	var out, complaint bytes.Buffer
	code, err := m.Client.Allocations().Exec(ctx, alloc, client.Exec{
		Task: "task", Command: append([]string{containertest.ToolPath}, strings.Fields(commands)...), Stdout: &out, Stderr: &complaint,
	})
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d: %s", code, complaint.String())
	}
	return out.String(), err
}

// inside compares the outputs of commands in a task.
func (m *machine) inside(alloc string, want map[string]string) {
	m.t.Helper()
	for commands, output := range want {
		if got, err := m.tool(m.t.Context(), alloc, commands); err != nil || got != output {
			m.t.Errorf("%s: %q, %v; want %q", commands, got, err, output)
		}
	}
}
