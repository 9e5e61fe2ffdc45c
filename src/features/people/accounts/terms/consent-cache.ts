// The newest version of the Terms that an account has agreed to. Each page of a signed-in user needs it.
import type { SettingsReader } from '#features/basics/settings/settings-cache.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import { findCurrentTerms } from './check-terms-version.ts'
import { listConsents } from './queries.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    'terms-consent': true
  }
}

type Agreed = { accountId: string; version: number }

const CONSENTS = defineCache({
  name: 'terms-consent',
  contains: 'Newest version of the Terms that an account has agreed to',
  idOf: ({ accountId }: Agreed) => accountId,
  sizeOf: () => 60,
})

/** Returns whether the site asks an account to agree to the Terms. Needs no query if no version asks. */
export async function owesConsent(reader: SettingsReader, accountId: string): Promise<boolean> {
  const asked = (await findCurrentTerms(reader))?.asked ?? null
  if (asked === null || !reader.config.site.isServed) return false
  const agreed = await reader.cache.kind(CONSENTS).get(accountId, async ([id = '']) => {
    const [newest] = await listConsents(reader.db, id)
    return [{ accountId: id, version: newest?.version ?? 0 }]
  })
  return (agreed?.version ?? 0) < asked
}
