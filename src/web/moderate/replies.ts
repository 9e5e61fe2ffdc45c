// Saved replies in the forms of moderators: the choices, and their insertion into the message.
import type { ReplyRow } from '#features/community/moderation/replies/queries.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { checkbox } from '#web/ui/parts/fields.ts'

/** Values of the placeholders. Unknown placeholders stay as they are. */
export type ReplyValues = Readonly<Record<'project' | 'version' | 'file', string | undefined>>

export function repliesField(page: PageContext, replies: readonly ReplyRow[], state: FormState): Part {
  const { t } = page.language
  if (replies.length === 0) return null
  const chosen = state.list('replies')
  return html`<fieldset class="stack close"><legend>${t('moderate.replies')}</legend><div class="prepared">
${replies.map(({ id, title }) => checkbox({ name: 'replies', value: id, isChecked: chosen.includes(id), label: html`<bdi>${title}</bdi>` }))}
</div><button class="tight" name="do" value="insert" formnovalidate>${t('moderate.replies.insert')}</button></fieldset>`
}

/** Returns the message with the selected replies at its end. Placeholders are replaced. */
export function withReplies(replies: readonly ReplyRow[], state: FormState, values: ReplyValues): string {
  const chosen = state.list('replies')
  const texts = replies
    .filter(({ id }) => chosen.includes(id))
    .map(({ body }) =>
      body.replace(/\{(project|version|file)\}/g, (text, name: keyof ReplyValues) => values[name] ?? text),
    )
  return [state.text('message').trimEnd(), ...texts].filter((text) => text !== '').join('\n\n')
}
