package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLinksOutliveTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	ctx := context.Background()
	first := open(t, path)
	for _, code := range []string{"docs", "news"} {
		if err := first.Put(ctx, Link{Code: code, Target: "https://example.com/" + code}); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Delete(ctx, "news"); err != nil {
		t.Fatal(err)
	}
	first.Close()

	second := open(t, path)
	if link, err := second.Get(ctx, "docs"); err != nil || link.Target != "https://example.com/docs" {
		t.Errorf("docs: %v, %v", link, err)
	}
	if _, err := second.Get(ctx, "news"); !errors.Is(err, ErrNotFound) {
		t.Errorf("news: %v", err)
	}
}

func TestATornLineIsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	open(t, path).Close()
	if err := os.WriteFile(path, []byte(`{"op":"added","li`), 0o600); err != nil {
		t.Fatal(err)
	}
	store := open(t, path)
	if err := store.Put(context.Background(), Link{Code: "docs", Target: "https://example.com"}); err != nil {
		t.Fatal(err)
	}
	store.Close()
	open(t, path)
}

func TestACodeIsTakenOnce(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "journal"))
	ctx := context.Background()
	link := Link{Code: "docs", Target: "https://example.com/a"}
	for _, target := range []string{link.Target, link.Target, "https://example.com/b"} {
		err := store.Put(ctx, Link{Code: "docs", Target: target})
		if taken := errors.Is(err, ErrTaken); taken != (target != link.Target) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func open(t *testing.T, path string) *Store {
	t.Helper()
	store, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}
