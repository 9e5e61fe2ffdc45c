/** Number of concurrent calls: enough to keep a disk or a service busy without using much memory. */
const CONCURRENCY = 16

/** Calls `act` for each item, `concurrency` at a time. After an error, finishes the started calls and then rejects. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  act: (item: Item) => Promise<unknown>,
  concurrency = CONCURRENCY,
): Promise<void> {
  const rest = iterate(items)
  let failed: { error: unknown } | undefined
  const work = async (): Promise<void> => {
    try {
      for await (const item of rest) await act(item)
    } catch (error) {
      failed ??= { error }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  if (failed !== undefined) throw failed.error
}

/** One iterator for all workers. An error in one worker closes it, so that the others stop as well. */
async function* iterate<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  yield* items
}
