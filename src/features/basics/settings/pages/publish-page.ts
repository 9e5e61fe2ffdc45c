import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { checkStorable, isBlank } from '#lib/text/text-rules.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { SETTINGS_ID } from '../settings-cache.ts'
import { upsertSettings } from '../upsert-settings.ts'
import { insertPageVersion } from './queries.ts'
import type { PageKind } from './requests.ts'

/**
 * Publishes a new version of a page, which every page then links to. A blank text removes the page; its versions remain.
 * The newest text again adds no version.
 */
export async function publishPage(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { kind, text: typed }: { kind: PageKind; text: string },
): Promise<void> {
  checkStorable(typed, 'text')
  const text = isBlank(typed) ? '' : typed
  await transaction(deps, async (tx, changed) => {
    await upsertSettings(tx, kind === 'rules' ? { rules: text || null } : {}, deps.now())
    const version = await insertPageVersion(tx, { kind, text, actor, now: deps.now() })
    if (version === undefined) return
    await recordAudit(tx, { action: 'page.published', actor, details: { kind, version, length: text.length } })
    changed.add('settings', SETTINGS_ID)
  })
}
