// Chooses versions that fit together, and names the addresses of a stored answer.
import type { Transport } from './client.ts'
import type { Args, Call, Data } from './operations.ts'

type Body = Args<'/v3/resolve', 'post'>[0]['body']

/** Items, target and preferences. An item can be the ID or the slug of a project. */
export type ResolveRequest = Omit<Body, 'items'> & { items: readonly (string | Body['items'][number])[] }

/** The chosen versions. With `store`, `pack` has the addresses from which launchers install. */
export type Resolution = Data<'/v3/resolve', 'post'> & { pack?: { json: string; mrpack: string; packwiz: string } }

export async function resolveItems(
  { post, transport }: { post: Call<'post'>; transport: Pick<Transport, 'baseUrl'> },
  { items, ...request }: ResolveRequest,
  { store = false }: { store?: boolean } = {},
): Promise<Resolution> {
  const named = items.map((item) => (typeof item === 'string' ? { project: item } : item))
  const answer = await post('/v3/resolve', { params: { query: { store } }, body: { ...request, items: named } })
  if (!store) return answer
  const json = `${transport.baseUrl}/v3/lock/${answer.lock}`
  return { ...answer, pack: { json, mrpack: `${json}.mrpack`, packwiz: `${json}/pack.toml` } }
}
