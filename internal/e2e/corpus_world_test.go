// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// A corpusWorld is what the job files of the corpus take for granted: the programs, images and
// files that they name, under the names by which they call them. It exists only in the namespaces of
// the test's process, so that the job files run without a change.
type corpusWorld struct {
	t   *testing.T
	dir string
}

// worldHosts are the names of the registries and file servers, all of which the test serves. Their address
// is not the node's, whose ports belong to the jobs.
const worldHosts = "registry.example.com index.docker.io ghcr.io quay.io files.example.com files.internal s3.eu-central-1.amazonaws.com shop-releases.s3.eu-central-1.amazonaws.com"

const worldAddress = "127.0.0.9"

// newCorpusWorld needs a mount namespace and a network namespace of its own.
func newCorpusWorld(t *testing.T, files []*corpusFile) *corpusWorld {
	t.Helper()
	w := &corpusWorld{t, t.TempDir()}
	for at := w.dir; at != "/tmp" && at != "/"; at = filepath.Dir(at) {
		w.must(os.Chmod(at, 0o755))
	}
	w.must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for _, dir := range []string{"/opt", "/srv", "/var/tmp"} {
		w.mount("none", dir, "tmpfs", 0, "mode=755")
	}
	for i, dir := range []string{"/usr/local", "/usr/bin", "/usr/sbin"} {
		layer := filepath.Join(w.dir, "layer", fmt.Sprint(i))
		w.must(os.MkdirAll(layer, 0o755))
		w.mount("none", layer, "tmpfs", 0, "mode=755")
		w.must(os.MkdirAll(filepath.Join(layer, "upper"), 0o755))
		w.must(os.MkdirAll(filepath.Join(layer, "work"), 0o755))
		w.mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%[2]s/work", dir, layer))
	}
	w.directories()
	w.programs(files)
	w.serve(files)
	return w
}

// mount lasts until the end of the test, whose directory is removed then.
func (w *corpusWorld) mount(source, target, kind string, flags uintptr, data string) {
	w.t.Helper()
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		w.t.Fatalf("mount %s: %v", target, err)
	}
	w.t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

func (w *corpusWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *corpusWorld) file(path, text string, mode os.FileMode) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	w.must(os.WriteFile(path, []byte(text), mode))
}

// covered replaces a file of the machine in this namespace.
func (w *corpusWorld) covered(path, text string) {
	w.t.Helper()
	own := filepath.Join(w.dir, "etc", filepath.Base(path))
	w.file(own, text, 0o644)
	w.mount(own, path, "", unix.MS_BIND, "")
}

// directories makes what job files mount, and the work directory of raw_exec_work_dir.
func (w *corpusWorld) directories() {
	for _, dir := range []string{"/srv/uploads", "/srv/site", "/srv/certs", "/srv/prometheus"} {
		w.must(os.MkdirAll(dir, 0o755))
	}
	w.file("/srv/site/Makefile", "serve:\n\t@exec sleep 86400\n", 0o644)
}

// The shells and make run what their arguments say. All other programs have a stand-in.
var genuine = []string{"/bin/sh", "/usr/bin/make"}

// programs installs a stand-in for every program of the node that a job file names.
func (w *corpusWorld) programs(files []*corpusFile) {
	w.t.Helper()
	program, err := containertest.Program()
	w.must(err)
	w.file("/usr/local/bin/tool", string(program), 0o755)
	roles := map[string]string{"/usr/local/bin/serve": "stand-in", "/usr/local/bin/mail": "finish"} // called by scripts
	for _, f := range files {
		for _, p := range f.programs() {
			if slices.Contains(genuine, p.name) || !strings.HasPrefix(p.name, "/") {
				continue
			}
			if had := roles[p.name]; had != "" && had != p.role {
				w.t.Fatalf("%s: %s must %s here, and %s in another file: give it another name", f.name, p.name, p.role, had)
			}
			roles[p.name] = p.role
		}
	}
	for path, role := range roles {
		w.file(path, script("/usr/local/bin/tool", role), 0o755)
	}
	w.file("/usr/local/bin/java", java, 0o755)
	w.file("/usr/local/bin/qemu-system-x86_64", qemu, 0o755)
}

// java answers to the fingerprint, and runs any program.
const java = `#!/bin/sh
if [ "$1" = -version ]; then
	printf 'openjdk version "17.0.1" 2021-10-19\nOpenJDK Runtime Environment (build 17.0.1+12)\nOpenJDK 64-Bit Server VM (build 17.0.1+12, mixed mode)\n' >&2
	exit
fi
exec /usr/local/bin/tool stand-in
`

// qemu does the same for machines.
const qemu = `#!/bin/sh
if [ "$1" = --version ]; then
	echo 'QEMU emulator version 7.2.22'
	exit
fi
exec /usr/local/bin/tool stand-in
`

func script(tool, role string) string { return "#!" + tool + " " + role + "\n" }

// serve answers for the registries and file servers.
func (w *corpusWorld) serve(files []*corpusFile) {
	w.t.Helper()
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	at := httptest.NewServer(content)
	w.t.Cleanup(at.Close)
	w.images(strings.TrimPrefix(at.URL, "http://"), files)
	artifacts := w.artifacts()
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v2/") {
			content.ServeHTTP(rw, r)
			return
		}
		body, found := artifacts[strings.TrimPrefix(r.URL.Path, "/shop-releases")]
		if !found {
			http.NotFound(rw, r)
			return
		}
		http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(body))
	})
	authority := testcert.New(w.t)
	pair := authority.Issue(time.Now().Add(24*time.Hour), strings.Fields(worldHosts)...)
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	w.must(err)
	for port, config := range map[string]*tls.Config{"8088": nil, "443": {Certificates: []tls.Certificate{cert}}} {
		l, err := net.Listen("tcp", worldAddress+":"+port)
		w.must(err)
		if config != nil {
			l = tls.NewListener(l, config)
		}
		s := &http.Server{Handler: handler}
		go s.Serve(l)
		w.t.Cleanup(func() { s.Close() })
	}
	w.covered("/etc/hosts", "127.0.0.1 localhost\n"+worldAddress+" "+worldHosts+"\n")
	w.covered("/etc/ssl/certs/ca-certificates.crt", string(authority.PEM()))
}

// artifacts returns the files of the file servers.
func (w *corpusWorld) artifacts() map[string][]byte {
	w.t.Helper()
	program := []byte(script("/usr/local/bin/tool", "stand-in"))
	var packed, zipped bytes.Buffer
	gz, err := gzip.NewWriterLevel(&packed, gzip.NoCompression) // the same bytes by every version of Go: a job file has their checksum
	w.must(err)
	tw := tar.NewWriter(gz)
	w.must(tw.WriteHeader(&tar.Header{Name: "api", Mode: 0o755, Size: int64(len(program)), Format: tar.FormatUSTAR}))
	_, err = tw.Write(program)
	w.must(err)
	w.must(tw.Close())
	w.must(gz.Close())
	zw := zip.NewWriter(&zipped)
	header := &zip.FileHeader{Name: "api"}
	header.SetMode(0o755)
	entry, err := zw.CreateHeader(header)
	w.must(err)
	_, err = entry.Write(program)
	w.must(err)
	w.must(zw.Close())
	return map[string][]byte{
		"/api-1.2.3.tar.gz": packed.Bytes(), "/api.tgz": packed.Bytes(), "/models/tiny.tar.gz": packed.Bytes(), "/private/api.zip": zipped.Bytes(),
		"/api/1.2.3/api": program, "/orders.jar": []byte("classes"),
		"/images/web.tar": w.saved("web:local"), "/vm.img": []byte("disk"), "/app.conf.tpl": []byte("zone = {{ env \"node.datacenter\" }}\n"),
	}
}

// saved returns the archive that "docker save" makes of a stand-in.
func (w *corpusWorld) saved(image string) []byte {
	w.t.Helper()
	layer, err := containertest.Layer()
	w.must(err)
	i, err := containertest.Image(func(c *v1.Config) { c.Entrypoint = []string{containertest.ToolPath, "stand-in"} }, runtime.GOARCH, layer)
	w.must(err)
	ref, err := name.NewTag(image)
	w.must(err)
	var b bytes.Buffer
	w.must(tarball.Write(ref, i, &b))
	return b.Bytes()
}

// images pushes every image that a job file names.
func (w *corpusWorld) images(host string, files []*corpusFile) {
	w.t.Helper()
	roles, commands := map[string]string{"busybox:1.36": "finish"}, map[string][]string{"busybox:1.36": {"/bin/sh"}}
	for _, f := range files {
		for _, p := range f.programs() {
			if p.image == "" || strings.ContainsAny(p.image, "@$") {
				continue
			}
			if had := roles[p.image]; had != "" && had != p.role {
				w.t.Fatalf("%s: image %s must %s here, and %s in another file: give it another name", f.name, p.image, p.role, had)
			}
			roles[p.image] = p.role
			if p.name != "" && !slices.Contains(commands[p.image], p.name) {
				commands[p.image] = append(commands[p.image], p.name)
			}
		}
	}
	for image, role := range roles {
		more := []containertest.File{{Name: "usr/", Mode: 0o755}, {Name: "usr/bin/", Mode: 0o755}, {Name: "srv/", Mode: 0o755}, {Name: "srv/app/", Mode: 0o755}, {Name: "var/", Mode: 0o755}, {Name: "var/run/", Mode: 0o755}, {Name: "run/", Mode: 0o755}}
		for _, path := range commands[image] {
			if !strings.HasPrefix(path, "/") {
				path = "/usr/bin/" + path
			}
			more = append(more, containertest.File{Name: path[1:], Mode: 0o755, Body: script(containertest.ToolPath, role)})
		}
		layer, err := containertest.Layer(more...)
		w.must(err)
		i, err := containertest.Image(func(c *v1.Config) {
			c.Entrypoint = []string{containertest.ToolPath, role}
			c.Env = append(c.Env, "PATH=/usr/bin:/bin")
		}, runtime.GOARCH, layer)
		w.must(err)
		there, err := name.ParseReference(image)
		w.must(err)
		here, err := name.ParseReference(host+"/"+there.Context().RepositoryStr()+":"+there.Identifier(), name.Insecure)
		w.must(err)
		w.must(remote.Write(here, i))
	}
}

// A namedProgram is a program of the node, or of an image, that a job file names.
type namedProgram struct {
	name  string // "" for the image's own
	image string // "" for a program of the node
	role  string // stand-in or finish
}

// programs lists the programs of a job file, and what each must do for the job's end.
func (f *corpusFile) programs() (list []namedProgram) {
	for _, g := range f.job.Groups {
		for _, task := range g.Tasks {
			role := "stand-in"
			if batch := f.job.Type == api.JobTypeBatch || f.job.Type == api.JobTypeSysBatch; batch || task.Lifecycle != nil && !task.Lifecycle.Sidecar {
				role = "finish"
			}
			image, _ := task.Config["image"].(string)
			command, _ := task.Config["command"].(string)
			if entrypoint, _ := task.Config["entrypoint"].([]any); len(entrypoint) > 0 {
				command, _ = entrypoint[0].(string)
			}
			list = append(list, namedProgram{command, image, role})
			for _, a := range task.Actions {
				list = append(list, namedProgram{a.Command, image, "finish"})
			}
			for _, tmpl := range task.Templates {
				if tmpl.ChangeScript != nil {
					list = append(list, namedProgram{tmpl.ChangeScript.Command, "", "finish"})
				}
			}
			list = append(list, checksOf(task.Services, image)...)
		}
		list = append(list, checksOf(g.Services, "")...)
	}
	return slices.DeleteFunc(list, func(p namedProgram) bool { return p.name == "" && p.image == "" })
}

func checksOf(services []*api.Service, image string) (list []namedProgram) {
	for _, s := range services {
		for _, c := range s.Checks {
			if c.Command != "" {
				list = append(list, namedProgram{c.Command, image, "finish"})
			}
		}
	}
	return list
}
