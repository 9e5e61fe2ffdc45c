/** Work under way at once: enough to keep a disk or a service busy, and little memory. */
const CONCURRENCY = 16

/** Calls `act` for each item, a few at once. Rejects with the first error, once what had begun has ended. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values()
  let failed: { error: unknown } | undefined
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (failed !== undefined) return
      try {
        await act(item)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  if (failed !== undefined) throw failed.error
}
