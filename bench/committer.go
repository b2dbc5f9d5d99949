package main

import "sync"

// committer commits what waits as one: who arrives during a commit shares the
// next, and no timer delays anybody. It is what a plain durable server would do,
// and so the measure of ours.
type committer[T any] struct {
	commit func([]T) error
	queue  chan waiting[T]
	done   sync.WaitGroup
}

type waiting[T any] struct {
	item T
	err  chan error
}

// groupLimit bounds how many items share a commit.
const groupLimit = 256

func newCommitter[T any](commit func([]T) error) *committer[T] {
	c := &committer[T]{commit: commit, queue: make(chan waiting[T], 4*groupLimit)}
	c.done.Go(c.run)
	return c
}

// add returns when the item is durable.
func (c *committer[T]) add(item T) error {
	w := waiting[T]{item, make(chan error, 1)}
	c.queue <- w
	return <-w.err
}

// close waits for what was added; nothing may be added afterwards.
func (c *committer[T]) close() {
	close(c.queue)
	c.done.Wait()
}

func (c *committer[T]) run() {
	for first := range c.queue {
		group := c.gather(first)
		items := make([]T, len(group))
		for i, w := range group {
			items[i] = w.item
		}
		err := c.commit(items)
		for _, w := range group {
			w.err <- err
		}
	}
}

func (c *committer[T]) gather(first waiting[T]) []waiting[T] {
	group := []waiting[T]{first}
	for len(group) < groupLimit {
		select {
		case w, open := <-c.queue:
			if !open {
				return group
			}
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}
