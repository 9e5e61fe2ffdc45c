// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const url = 'https://images.example.org/blocked.png'

async function blocked(w: World): Promise<{ url: string }> {
  const moderator = w.t.as(await w.person('moderator'))
  await moderator.post('/_internal/moderation/blocked_images', { url })
  return { url }
}

export const SAMPLES: Record<string, Sample> = { blockImage: { body: { url } }, unblockImage: { query: blocked } }
