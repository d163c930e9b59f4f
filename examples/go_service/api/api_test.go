package api

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"example.com/links/store"
)

func TestStatuses(t *testing.T) {
	links, err := store.Open(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer links.Close()
	api := New(store.NewCache(links, 1))
	const docs = `{"code": "docs", "target": "https://example.com"}`
	for _, row := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/healthz", "", http.StatusOK},
		{"GET", "/docs", "", http.StatusNotFound},
		{"POST", "/links", docs, http.StatusCreated},
		{"POST", "/links", strings.Replace(docs, ".com", ".org", 1), http.StatusConflict},
		{"POST", "/links", strings.Replace(docs, "docs", "links", 1), http.StatusConflict},
		{"POST", "/links", strings.Replace(docs, "docs", "a b", 1), http.StatusUnprocessableEntity},
		{"POST", "/links", strings.Replace(docs, "https", "file", 1), http.StatusUnprocessableEntity},
		{"POST", "/links", "{", http.StatusBadRequest},
		{"GET", "/docs", "", http.StatusFound},
		{"POST", "/docs", "", http.StatusMethodNotAllowed},
		{"GET", "/links/docs", "", http.StatusOK},
		{"PUT", "/links/docs", "", http.StatusMethodNotAllowed},
		{"DELETE", "/links/docs", "", http.StatusNoContent},
		{"GET", "/docs", "", http.StatusNotFound},
	} {
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, httptest.NewRequest(row.method, row.path, strings.NewReader(row.body)))
		if answer.Code != row.status {
			t.Errorf("%s %s: %d, not %d", row.method, row.path, answer.Code, row.status)
		}
	}
}
