// The button that leads from the pages of an account, its projects and reports about them to the preview of its cleanup.
import { canMarkAsSpam } from '#features/community/moderation/cleanup/clean-up.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'

/** Renders the button, or nothing if the viewer cannot mark the account as spam. An organization has no button. */
export async function spamButton(
  { page, deps, viewer, t }: OwnRequest,
  owner: { kind: 'user' | 'organization'; id: string; name: string } | null | undefined,
): Promise<Part> {
  if (owner?.kind !== 'user' || !(await canMarkAsSpam(deps, viewer, owner.id))) return null
  return buttonForm(page, {
    action: pathTo(page, PATHS.moderationUsers),
    text: t('moderate.cleanup.spam'),
    isTight: true,
    label: t('moderate.cleanup.spam.name', { name: owner.name }),
    fields: { do: 'spam', ids: owner.id },
  })
}
