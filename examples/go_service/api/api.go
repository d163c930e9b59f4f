// Package api is the HTTP interface of the service. AGENTS.md has its endpoints.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"net/url"
	"strings"

	"example.com/links/store"
)

const maxBody = 4 << 10

// reserved are the codes that would hide an endpoint.
var reserved = map[string]bool{"links": true, "healthz": true}

// Links is what the handlers need of a store.
type Links interface {
	Get(ctx context.Context, code string) (store.Link, error)
	Put(ctx context.Context, link store.Link) error
	Delete(ctx context.Context, code string) error
}

// API answers the requests of one service.
type API struct {
	links Links
	mux   *http.ServeMux
}

// New returns a handler over links.
func New(links Links) *API {
	api := &API{links: links, mux: http.NewServeMux()}
	api.mux.HandleFunc("/links", api.create)
	api.mux.HandleFunc("/links/", api.link)
	api.mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	api.mux.HandleFunc("/", api.follow)
	return api
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

func (a *API) create(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		fail(w, http.StatusMethodNotAllowed, "use POST")
		return
	}
	var link store.Link
	body := http.MaxBytesReader(w, r.Body, maxBody)
	if err := json.NewDecoder(body).Decode(&link); err != nil {
		fail(w, http.StatusBadRequest, "the body must be JSON with code and target")
		return
	}
	target, err := url.Parse(link.Target)
	if err != nil || (target.Scheme != "http" && target.Scheme != "https") || target.Host == "" {
		fail(w, http.StatusUnprocessableEntity, "target must be an absolute http or https URL")
		return
	}
	if reserved[link.Code] {
		failWith(w, store.ErrTaken)
		return
	}
	if err := a.links.Put(r.Context(), link); err != nil {
		failWith(w, err)
		return
	}
	w.Header().Set("Location", "/"+link.Code)
	w.WriteHeader(http.StatusCreated)
}

func (a *API) link(w http.ResponseWriter, r *http.Request) {
	code := strings.TrimPrefix(r.URL.Path, "/links/")
	switch r.Method {
	case http.MethodGet:
		link, err := a.links.Get(r.Context(), code)
		if err != nil {
			failWith(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(link); err != nil {
			log.Printf("write %s: %v", code, err)
		}
	case http.MethodDelete:
		if err := a.links.Delete(r.Context(), code); err != nil {
			failWith(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		fail(w, http.StatusMethodNotAllowed, "use GET or DELETE")
	}
}

func (a *API) follow(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		fail(w, http.StatusMethodNotAllowed, "use GET")
		return
	}
	link, err := a.links.Get(r.Context(), strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		failWith(w, err)
		return
	}
	http.Redirect(w, r, link.Target, http.StatusFound)
}

// failWith answers with the status of a store's error.
func failWith(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, store.ErrNotFound):
		fail(w, http.StatusNotFound, "no such link")
	case errors.Is(err, store.ErrTaken):
		fail(w, http.StatusConflict, "the code is taken")
	case errors.Is(err, store.ErrBadCode):
		fail(w, http.StatusUnprocessableEntity, err.Error())
	default:
		log.Printf("store: %v", err)
		fail(w, http.StatusInternalServerError, "try again later")
	}
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}
