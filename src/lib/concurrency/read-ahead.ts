// Reads a source before its items are needed.

export type ReadAhead<Item> = { items: AsyncIterable<Item>; stop(): Promise<void> }

/**
 * Begins to read the items now, while the caller does something else, and pauses while the items in memory have the size `max`
 * or more. `items` throws the error of the source. The caller must call `stop` at the end.
 */
export function readAhead<Item>(
  source: AsyncIterable<Item>,
  { max, sizeOf = () => 1 }: { max: number; sizeOf?: (item: Item) => number },
): ReadAhead<Item> {
  const ready: Item[] = []
  let size = 0
  let wake = Promise.withResolvers<void>()
  let isOver = false
  const changed = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const reading = (async () => {
    for await (const item of source) {
      ready.push(item)
      size += sizeOf(item)
      changed()
      while (size >= max && !isOver) await wake.promise
      if (isOver) return
    }
  })().finally(() => {
    isOver = true
    changed()
  })
  reading.catch(() => undefined)
  async function* items(): AsyncGenerator<Item> {
    for (;;) {
      const item = ready.shift()
      if (item !== undefined) {
        size -= sizeOf(item)
        changed()
        yield item
      } else if (isOver) return await reading
      else await wake.promise
    }
  }
  return {
    items: items(),
    async stop() {
      isOver = true
      changed()
      await reading.catch(() => undefined)
    },
  }
}
