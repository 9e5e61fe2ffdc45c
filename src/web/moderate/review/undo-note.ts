// The notice about a decision that can still be undone.
import type { UndoableDecision } from '#features/community/moderation/read-changes.ts'
import { reviewPath } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { statusName } from '#web/ui/parts/status.ts'

/** @param by username of the moderator, if it is known */
export function undoNote(page: PageContext, of: UndoableDecision | undefined, by?: string): Part {
  if (of === undefined) return null
  const { language } = page
  const status = statusName(page, 'project', of.to)
  const values = { name: html`<bdi>${of.name}</bdi>`, status, time: timeAgo(language, of.finalAt, page.now) }
  const text =
    by === undefined
      ? language.rich('moderate.undo.text', values)
      : language.rich('moderate.undo.by', { ...values, by: html`<bdi>${by}</bdi>` })
  const button = buttonForm(page, {
    action: pathTo(page, reviewPath(of.id)),
    text: language.t('work.undo'),
    kind: 'plain',
    fields: { do: 'undo', seen: of.seen },
  })
  return note(page, 'good', html`${text} ${button}`)
}
