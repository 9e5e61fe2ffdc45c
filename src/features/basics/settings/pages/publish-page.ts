import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { checkStorable, isBlank } from '#lib/text/text-rules.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { SETTINGS_ID } from '../settings-cache.ts'
import { upsertSettings } from '../upsert-settings.ts'
import { insertPageVersion } from './queries.ts'
import type { NewPageVersion, PageKind } from './requests.ts'

/**
 * Publishes a new version of a page, which every page then links to. A blank text removes the page; its versions remain.
 * The newest text again adds no version, unless it now asks users to agree again.
 * @throws ApiError `validation_error` naming `asks_again` unless the page is the Terms and has a text
 */
export async function publishPage(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { kind, text: typed, asks_again: asksAgain = false }: { kind: PageKind } & NewPageVersion,
): Promise<void> {
  checkStorable(typed, 'text')
  const text = isBlank(typed) ? '' : typed
  if (asksAgain && (kind !== 'terms' || text === ''))
    throw validationError('asks_again', 'must be false: only Terms with a text can ask users to agree')
  await transaction(deps, async (tx, changed) => {
    await upsertSettings(tx, kind === 'rules' ? { rules: text || null } : {}, deps.now())
    const version = await insertPageVersion(tx, { kind, text, asksAgain, actor, now: deps.now() })
    if (version === undefined) return
    const details = { kind, version, length: text.length, ...(asksAgain ? { asks_again: true } : {}) }
    await recordAudit(tx, { action: 'page.published', actor, details })
    changed.add('settings', SETTINGS_ID)
  })
}
