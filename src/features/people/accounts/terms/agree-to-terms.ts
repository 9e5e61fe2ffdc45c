import type { SettingsReader } from '#features/basics/settings/settings-cache.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { checkTermsVersion } from './check-terms-version.ts'
import { insertConsent } from './queries.ts'

/**
 * Records that an account agrees to a version of the Terms.
 * @throws ApiError 404 if the instance has no Terms; `validation_error` naming `version` if it is not current
 */
export async function agreeToTerms(
  deps: SettingsReader & { now: () => number },
  accountId: string,
  agreed: number,
): Promise<void> {
  const version = await checkTermsVersion(deps, agreed, 'version')
  if (version === undefined) throw notFound('page')
  await transaction(deps, async (tx, changed) => {
    await insertConsent(tx, { accountId, version, now: deps.now() })
    changed.add('terms-consent', accountId)
  })
}
