package store

import (
	"container/list"
	"context"
	"sync"
)

// Cache keeps the links that were asked for last in front of a store.
// It is safe for concurrent use: its lock is held while the store is asked,
// so that no link is kept that is deleted meanwhile.
type Cache struct {
	source *Store
	size   int

	mu     sync.Mutex
	order  *list.List // of Link, the newest first
	byCode map[string]*list.Element
}

// NewCache returns a cache of at most size links; 0 keeps none.
func NewCache(source *Store, size int) *Cache {
	return &Cache{source: source, size: size, order: list.New(), byCode: map[string]*list.Element{}}
}

// Get returns the link of a code from the cache, or else from the store.
func (c *Cache) Get(ctx context.Context, code string) (Link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.byCode[code]; ok {
		c.order.MoveToFront(element)
		return element.Value.(Link), nil
	}
	link, err := c.source.Get(ctx, code)
	if err == nil {
		c.keep(link)
	}
	return link, err
}

// Put adds a link to the store; the cache has it when it is asked for.
func (c *Cache) Put(ctx context.Context, link Link) error {
	return c.source.Put(ctx, link)
}

// Delete takes a link away from both.
func (c *Cache) Delete(ctx context.Context, code string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.source.Delete(ctx, code)
	if element, ok := c.byCode[code]; ok && err == nil {
		c.order.Remove(element)
		delete(c.byCode, code)
	}
	return err
}

// keep adds a link, and drops the one that wasn't asked for longest.
func (c *Cache) keep(link Link) {
	c.byCode[link.Code] = c.order.PushFront(link)
	if c.order.Len() > c.size {
		oldest := c.order.Remove(c.order.Back()).(Link)
		delete(c.byCode, oldest.Code)
	}
}
