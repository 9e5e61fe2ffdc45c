// Bulk functions for stores that are reached over the network.
import { buffer } from 'node:stream/consumers'
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import type { BulkFiles, Files } from './files.ts'

/** Implements the bulk functions by concurrent calls of `put`, which is durable, and `open`. */
export function concurrentBulk({ put, open }: Pick<Files, 'put' | 'open'>): Omit<BulkFiles, 'list'> {
  return {
    putAll: (items) => forEachConcurrently(items, ({ key, bytes, contentType }) => put(key, bytes, { contentType })),
    flush: async () => {},
    async readAll(keys, { maxBytes }) {
      const contents = new Map<string, Buffer | 'larger'>()
      await forEachConcurrently(keys, async (key) => {
        const opened = await open(key)
        if (opened === undefined) return
        if (opened.sizeBytes > maxBytes) opened.stream.destroy()
        contents.set(key, opened.sizeBytes > maxBytes ? 'larger' : await buffer(opened.stream))
      })
      return keys.map((key) => contents.get(key))
    },
  }
}
