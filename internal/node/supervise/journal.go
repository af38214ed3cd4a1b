// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A journal records tasks for the supervisor that follows a killed one.
//
// While the supervisor lives, its memory is the truth. After kill -9, the next one needs two
// answers: which processes may still run (they must not leak), and which observed exits the
// agent has not acknowledged (they must not be lost). So the supervisor writes one short
// line, with a single append, before a task's process is created, when it exists (with pid
// and start time), when it has ended, and when it is forgotten.
//
// The journal needs no fsync. A killed process loses none of its writes; only a crash of the
// machine does, and then the boot id differs and no process of that boot exists. Lines have
// a checksum, and torn or damaged ones are skipped: their tasks are still found by their
// cgroups.
//
// The file is rewritten atomically when a supervisor starts, and when most of its lines
// concern forgotten tasks.
type journal struct {
	path string
	boot string

	mu    sync.Mutex
	f     *os.File
	lines int
	live  map[string]record
}

// A record is the newest entry of a task.
type record struct {
	Status
	Boot string
	Gone bool `json:",omitempty"` // forgotten
}

const journalSlack = 4096 // lines beyond the live ones before a rewrite

// openJournal reads the journal, and rewrites it.
func openJournal(dir string) (*journal, error) {
	j := &journal{path: filepath.Join(dir, journalName), boot: bootID() + placeOf(dir), live: map[string]record{}}
	b, err := os.ReadFile(j.path)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read the journal of tasks: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxFrame)
	for lines.Scan() {
		if r, ok := decodeRecord(lines.Bytes()); ok {
			j.apply(r)
		}
	}
	if err := j.rewrite(); err != nil {
		return nil, err
	}
	return j, nil
}

func decodeRecord(line []byte) (record, bool) {
	var r record
	sum, body, ok := bytes.Cut(line, []byte(" "))
	if !ok || string(sum) != checksum(body) || json.Unmarshal(body, &r) != nil {
		return r, false
	}
	return r, r.ID != ""
}

func encodeRecord(r record) []byte {
	body := encodeBody(r)
	return append(append([]byte(checksum(body)+" "), body...), '\n')
}

func checksum(b []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)) }

func (j *journal) apply(r record) {
	if r.Gone {
		delete(j.live, r.ID)
		return
	}
	j.live[r.ID] = r
}

// put records a task's newest status.
func (j *journal) put(s Status) error { return j.append(record{Status: s, Boot: j.boot}) }

// forget records that a task is forgotten.
func (j *journal) forget(id string) error {
	return j.append(record{Status: Status{ID: id}, Gone: true})
}

func (j *journal) append(r record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.apply(r)
	j.lines++
	if _, err := j.f.Write(encodeRecord(r)); err != nil {
		return fmt.Errorf("write the journal of tasks: %w", err)
	}
	if j.lines > 2*len(j.live)+journalSlack {
		return j.rewrite()
	}
	return nil
}

// rewrite replaces the file with one that contains the live records only. The caller holds
// mu, or is the only user.
func (j *journal) rewrite() error {
	var b bytes.Buffer
	for _, r := range j.live {
		b.Write(encodeRecord(r))
	}
	tmp := j.path + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.Write(b.Bytes())
	}
	if err == nil {
		err = os.Rename(tmp, j.path)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return fmt.Errorf("rewrite the journal of tasks: %w", err)
	}
	if j.f != nil {
		j.f.Close()
	}
	j.f, j.lines = f, len(j.live)
	return nil
}

// placeOf returns a mark that distinguishes the directory from its copies: processes that the
// original recorded do not belong to the copy.
func placeOf(dir string) string {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return ""
	}
	return "@" + strconv.FormatUint(st.Ino, 16)
}

// started reports whether the record's process was started in this boot of the machine and
// from this directory. Earlier versions did not record the directory.
func (j *journal) started(r record) bool {
	boot, place, _ := strings.Cut(j.boot, "@")
	return r.Boot == j.boot || place != "" && r.Boot == boot
}
