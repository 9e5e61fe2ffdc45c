// Notices above the form of a new organization or collection, if the user cannot create it.
import { mustAwaitApproval } from '#features/basics/access/email-policy.ts'
import { getQuota, type QuotaKind } from '#features/basics/limits/quota.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Part } from '#web/ui/html.ts'
import { note } from '#web/ui/parts/lists.ts'

type Limited = {
  kind: QuotaKind
  /** Text for users whose email address is not verified; false for all others. */
  unverified: string | false
  /** Text for users who have reached their limit. */
  full: (max: number) => string
}

export async function limitNotes({ deps, page, viewer }: OwnRequest, of: Limited): Promise<Part> {
  const { current, max } = await getQuota(deps.db, deps.config, viewer, of.kind)
  const texts = [
    mustAwaitApproval(viewer) && page.language.t('settings.awaits-approval'),
    of.unverified,
    max !== null && current >= max && of.full(max),
  ].filter((text) => text !== false)
  return texts.length > 0 ? texts.map((text) => note(page, 'warn', html`<p>${text}</p>`)) : undefined
}
