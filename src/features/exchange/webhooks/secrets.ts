// The secrets with which Depot signs deliveries. Signing needs the plain secret, so it is stored encrypted, not hashed.
import { randomBytes } from 'node:crypto'
import { openSecret, sealSecret } from '#features/basics/instance-key/seal-secret.ts'
import type { Deps } from '#ports/deps.ts'
import type { WebhookRow } from './queries.ts'

export const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

type SealDeps = Pick<Deps, 'db'>

const contextOf = (webhookId: string): string => `webhook:${webhookId}`

/** Returns a new secret: as the owner sees it, and as it is stored. */
export async function makeSecret(deps: SealDeps, webhookId: string): Promise<{ secret: string; sealed: Buffer }> {
  const bytes = randomBytes(SECRET_BYTES)
  const sealed = await sealSecret(deps, bytes, contextOf(webhookId))
  return { secret: `${SECRET_PREFIX}${bytes.toString('base64')}`, sealed }
}

/** Returns the keys that sign at this time, newest first. @throws SecretLostError */
export async function openSecrets(deps: SealDeps & Pick<Deps, 'now'>, webhook: WebhookRow): Promise<Buffer[]> {
  const { id, secret, previous_secret, previous_until } = webhook
  const overlaps = previous_secret !== null && previous_until !== null && previous_until.getTime() > deps.now()
  const sealed = overlaps ? [secret, previous_secret] : [secret]
  return Promise.all(sealed.map((each) => openSecret(deps, each, contextOf(id))))
}
