// Command links serves short links over HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/links/api"
	"example.com/links/store"
)

const shutdownTimeout = 10 * time.Second

func main() {
	listen := flag.String("listen", ":8080", "address to serve on")
	journal := flag.String("journal", "links.journal", "file that keeps the links")
	cached := flag.Int("cache", 4096, "links kept in memory; 0 keeps none")
	flag.Parse()
	if err := run(*listen, *journal, *cached); err != nil {
		log.Fatal(err)
	}
}

// run serves until the process is asked to stop, and closes the journal last.
func run(listen, journal string, cached int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	links, err := store.Open(journal)
	if err != nil {
		return err
	}
	defer links.Close()

	handler := api.New(store.NewCache(links, cached))
	server := &http.Server{Addr: listen, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		stop() // A second signal ends the process.
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
