// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt trusts its file: it maps the file into memory and follows its pointers. A missing
// page ends the process with a fault, and a damaged one with a panic in one of the library's
// goroutines, which cannot be recovered. So this file verifies the pages before bbolt opens
// them: every reachable page must exist, contain its own number, be reached once, and have
// ordered keys.
// there, say its own number, be reached once, and have its keys in order.

// The layout of a bbolt file, version 2.
const (
	pageHead     = 16 // number u64, kind u16, count u16, overflow u32
	metaLength   = 64 // without the page's head
	metaChecksum = 56 // offset of the checksum
	entryHead    = 16 // of a branch: pos u32, key u32, page u64; of a leaf: flags u32, pos u32, key u32, value u32
	bucketHead   = 16 // root u64, sequence u64

	kindBranch = 0x01
	kindLeaf   = 0x02

	entryBucket = 0x01

	metaMagic   = 0xED0CDAED
	metaVersion = 2
)

var order = binary.NativeEndian

// meta is the newest intact header of a file.
type meta struct {
	pageSize int64
	root     uint64 // page of the bucket of buckets
	end      uint64 // the first unused page
	commit   uint64
}

// A verifier verifies the pages of a file.
type verifier struct {
	meta
	file io.ReaderAt
	size int64
	seen map[uint64]bool
}

// verify returns the damage of a file of that size; nil if bbolt can open it.
func verify(file io.ReaderAt, size int64) error {
	m, err := newestMeta(file)
	if err != nil {
		return err
	}
	v := &verifier{meta: m, file: file, size: size, seen: map[uint64]bool{0: true, 1: true}}
	return v.page(m.root, nil, nil)
}

// newestMeta reads the two headers, which bbolt writes alternately.
func newestMeta(file io.ReaderAt) (meta, error) {
	if m, ok := readMeta(file, 0); ok {
		if other, ok := readMeta(file, m.pageSize); ok && other.commit > m.commit {
			return other, nil
		}
		return m, nil
	}
	for size := int64(1024); size <= 64<<10; size *= 2 {
		if m, ok := readMeta(file, size); ok && m.pageSize == size {
			return m, nil
		}
	}
	return meta{}, errors.New("neither of its two heads is whole")
}

func readMeta(file io.ReaderAt, at int64) (meta, bool) {
	b := make([]byte, metaLength)
	if _, err := file.ReadAt(b, at+pageHead); err != nil {
		return meta{}, false
	}
	sum := fnv.New64a()
	sum.Write(b[:metaChecksum])
	m := meta{pageSize: int64(order.Uint32(b[8:])), root: order.Uint64(b[16:]), end: order.Uint64(b[40:]), commit: order.Uint64(b[48:])}
	whole := order.Uint32(b) == metaMagic && order.Uint32(b[4:]) == metaVersion && order.Uint64(b[metaChecksum:]) == sum.Sum64()
	return m, whole && m.pageSize >= 1024 && m.pageSize <= 64<<10
}

// page verifies a page and its descendants, whose keys must be at least from and less than
// to; nil means no bound.
func (v *verifier) page(id uint64, from, to []byte) error {
	b, err := v.read(id)
	if err != nil {
		return err
	}
	if err := v.entries(b, from, to); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// read reads a page with its overflow pages.
func (v *verifier) read(id uint64) ([]byte, error) {
	if id >= v.end || int64(id+1)*v.pageSize > v.size {
		return nil, fmt.Errorf("page %d is beyond its end", id)
	}
	head := make([]byte, pageHead)
	if _, err := v.file.ReadAt(head, int64(id)*v.pageSize); err != nil {
		return nil, err
	}
	if order.Uint64(head) != id {
		return nil, fmt.Errorf("page %d is not what it should be", id)
	}
	last := id + uint64(order.Uint32(head[12:]))
	if last >= v.end || int64(last+1)*v.pageSize > v.size {
		return nil, fmt.Errorf("page %d reaches beyond its end", id)
	}
	for n := id; n <= last; n++ {
		if v.seen[n] {
			return nil, fmt.Errorf("page %d is in two places", n)
		}
		v.seen[n] = true
	}
	b := make([]byte, int64(last-id+1)*v.pageSize)
	_, err := v.file.ReadAt(b, int64(id)*v.pageSize)
	return b, err
}

var (
	errOrder = errors.New("its keys are not in order")
	errEntry = errors.New("an entry is not inside of it")
)

// entries verifies the entries of a page.
func (v *verifier) entries(page, from, to []byte) error {
	kind, count := order.Uint16(page[8:]), int(order.Uint16(page[10:]))
	if kind != kindBranch && kind != kindLeaf {
		return errors.New("it is of no kind that should be there")
	}
	if pageHead+count*entryHead > len(page) || kind == kindBranch && count == 0 {
		return errEntry
	}
	var last []byte
	for i := range count {
		at := pageHead + i*entryHead
		e := page[at : at+entryHead]
		var pos, keyLength, valueLength uint64
		if kind == kindBranch {
			pos, keyLength = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
		} else {
			pos, keyLength, valueLength = uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		}
		start := uint64(at) + pos
		if start+keyLength+valueLength > uint64(len(page)) {
			return errEntry
		}
		key := page[start : start+keyLength]
		if i == 0 && bytes.Compare(key, from) < 0 || i > 0 && bytes.Compare(key, last) <= 0 || to != nil && bytes.Compare(key, to) >= 0 {
			return errOrder
		}
		last = key
		switch {
		case kind == kindBranch:
			next := to
			if i+1 < count {
				var err error
				if next, err = branchKey(page, i+1); err != nil {
					return err
				}
			}
			if err := v.page(order.Uint64(e[8:]), key, next); err != nil {
				return err
			}
		case order.Uint32(e)&entryBucket != 0:
			if err := v.bucket(page[start+keyLength : start+keyLength+valueLength]); err != nil {
				return err
			}
		}
	}
	return nil
}

// branchKey returns the key of a branch's entry, which is the lower bound of the keys below
// it.
func branchKey(page []byte, i int) ([]byte, error) {
	at := pageHead + i*entryHead
	start := uint64(at) + uint64(order.Uint32(page[at:]))
	end := start + uint64(order.Uint32(page[at+4:]))
	if end > uint64(len(page)) {
		return nil, errEntry
	}
	return page[start:end], nil
}

// bucket verifies a bucket, which has its own pages or is stored inline in a value.
func (v *verifier) bucket(value []byte) error {
	if len(value) < bucketHead {
		return errEntry
	}
	if root := order.Uint64(value); root != 0 {
		return v.page(root, nil, nil)
	}
	if len(value) < bucketHead+pageHead {
		return errEntry
	}
	return v.entries(value[bucketHead:], nil, nil)
}
