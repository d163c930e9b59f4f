// Package store keeps links in a journal, a file that only grows. AGENTS.md has its format.
package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound = errors.New("no such link")
	ErrTaken    = errors.New("the code is taken")
	ErrBadCode  = errors.New("a code is 3 to 32 letters, digits or hyphens")
	ErrClosed   = errors.New("the store is closed")
)

var validCode = regexp.MustCompile(`^[A-Za-z0-9-]{3,32}$`)

// Link leads from a code to a target.
type Link struct {
	Code   string    `json:"code"`
	Target string    `json:"target"`
	Made   time.Time `json:"made"`
}

// record is one line of the journal.
type record struct {
	Op   string `json:"op"`
	Link Link   `json:"link"`
}

const (
	opAdded   = "added"
	opDeleted = "deleted"
)

// Store has the place of each link in memory, and the links in the journal.
// It is safe for concurrent use.
type Store struct {
	mu      sync.RWMutex
	places  map[string]int64
	journal *os.File
	end     int64
	now     func() time.Time
}

// Open replays the journal at path, which is made if it isn't there.
//
// A last line without its end is what a crash left of a write: it is cut off.
// Any other line that can't be read is an error, and nothing is changed.
func Open(path string) (*Store, error) {
	journal, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	s := &Store{places: map[string]int64{}, journal: journal, now: time.Now}
	if err = s.replay(); err == nil {
		err = journal.Truncate(s.end)
	}
	if err != nil {
		journal.Close()
		return nil, fmt.Errorf("replay %s: %w", path, err)
	}
	return s, nil
}

// replay reads whole lines, and leaves end behind the last of them.
func (s *Store) replay() error {
	lines := bufio.NewReader(s.journal)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		switch r.Op {
		case opAdded:
			s.places[r.Link.Code] = s.end
		case opDeleted:
			delete(s.places, r.Link.Code)
		default:
			return fmt.Errorf("line %d: unknown op %q", number, r.Op)
		}
		s.end += int64(len(line))
	}
}

// Get returns the link of a code, or ErrNotFound.
func (s *Store) Get(ctx context.Context, code string) (Link, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.read(ctx, code)
}

// Put adds a link. It returns ErrTaken if another target has the code;
// the same link again is no error.
func (s *Store) Put(ctx context.Context, link Link) error {
	if !validCode.MatchString(link.Code) {
		return fmt.Errorf("%q: %w", link.Code, ErrBadCode)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.read(ctx, link.Code)
	switch {
	case err == nil && old.Target == link.Target:
		return nil
	case err == nil:
		return fmt.Errorf("%q: %w", link.Code, ErrTaken)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	place := s.end
	link.Made = s.now().UTC()
	if err := s.append(record{Op: opAdded, Link: link}); err != nil {
		return err
	}
	s.places[link.Code] = place
	return nil
}

// Delete takes a link away, or returns ErrNotFound.
func (s *Store) Delete(ctx context.Context, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	link, err := s.read(ctx, code)
	if err != nil {
		return err
	}
	if err := s.append(record{Op: opDeleted, Link: link}); err != nil {
		return err
	}
	delete(s.places, code)
	return nil
}

// Close ends the store; what is asked of it later fails with ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	err := s.journal.Close()
	s.journal = nil
	return err
}

// read returns the link of a code. The caller holds the lock.
func (s *Store) read(ctx context.Context, code string) (Link, error) {
	if s.journal == nil {
		return Link{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return Link{}, err
	}
	place, ok := s.places[code]
	if !ok {
		return Link{}, fmt.Errorf("%q: %w", code, ErrNotFound)
	}
	var r record
	section := io.NewSectionReader(s.journal, place, s.end-place)
	if err := json.NewDecoder(section).Decode(&r); err != nil {
		return Link{}, fmt.Errorf("read %q: %w", code, err)
	}
	return r.Link, nil
}

// append writes one line and syncs it; what fails leaves the journal as it was.
// The caller holds the lock.
func (s *Store) append(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode %q: %w", r.Link.Code, err)
	}
	line = append(line, '\n')
	if _, err = s.journal.WriteAt(line, s.end); err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		if cut := s.journal.Truncate(s.end); cut != nil {
			return fmt.Errorf("write journal: %w (and cut it off: %v)", err, cut)
		}
		return fmt.Errorf("write journal: %w", err)
	}
	s.end += int64(len(line))
	return nil
}
