import { findAffiliateCode } from '#features/people/affiliates/queries.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import { type Caller, originOf } from './origin.ts'
import { parsePageAddress } from './visited-page.ts'

/**
 * Records a click on an affiliate link. Ignores unknown codes.
 * @throws ApiError `validation_error` for an invalid URL or code.
 */
export async function recordAffiliateClick(
  deps: Deps,
  { url, affiliate_code_id, caller }: { url: string; affiliate_code_id: string; caller: Caller },
): Promise<void> {
  const { domain } = parsePageAddress(url, 'url', deps.taxonomy)
  if (!isIdForm(affiliate_code_id)) throw validationError('affiliate_code_id', 'is not an affiliate code ID')
  const code = await findAffiliateCode(deps.db, affiliate_code_id)
  if (code === undefined) return
  deps.events.add('affiliate_click', { ...originOf(deps, caller), affiliate_code_id: code.id, domain })
}
