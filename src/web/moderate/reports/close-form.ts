// The form to close reports: outcome, saved replies and the message to the reporters.
import type { ReplyRow } from '#features/community/moderation/replies/queries.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { checkbox, textArea } from '#web/ui/parts/fields.ts'

/** Renders the outcome, the message with saved replies, and the button. */
export function closeFields(page: PageContext, replies: readonly ReplyRow[], state: FormState): Part {
  const { t } = page.language
  const chosen = state.text('outcome')
  return [
    optionCards({
      legend: t('reports.outcome'),
      name: 'outcome',
      options: (['action', 'no_action'] as const).map((value) => ({
        value,
        label: t(`reports.outcome.${value}`),
        text: t(`reports.outcome.${value}.text`),
        isChosen: chosen === value,
      })),
    }),
    repliesField(page, replies, state),
    textArea(page, {
      name: 'message',
      label: t('reports.close.message'),
      hint: t('reports.close.hint'),
      value: state.text('message'),
      maxLength: 65_536,
      rows: 4,
      isOptional: true,
      errors: state.errors,
    }),
    html`<div class="line"><button class="main" name="do" value="close">${icon(page, 'check')}${t('reports.close')}</button></div>`,
  ]
}

function repliesField(page: PageContext, replies: readonly ReplyRow[], state: FormState): Part {
  const { t } = page.language
  if (replies.length === 0) return null
  const chosen = state.list('replies')
  const boxes = replies.map(({ id, title }) =>
    checkbox({ name: 'replies', value: id, isChecked: chosen.includes(id), label: html`<bdi>${title}</bdi>` }),
  )
  return html`<fieldset class="stack close"><legend>${t('reports.texts.title')}</legend><div class="prepared">
${boxes}</div><div class="line"><button class="tight" name="do" value="insert" formnovalidate>${icon(page, 'plus')}${t('reports.texts.insert')}</button></div></fieldset>`
}

/** Returns the message with the selected replies at its end. Placeholders with a known value are replaced. */
export function withReplies(
  replies: readonly ReplyRow[],
  state: FormState,
  values: Readonly<Record<string, string | undefined>>,
): string {
  const chosen = state.list('replies')
  const texts = replies
    .filter(({ id }) => chosen.includes(id))
    .map(({ body }) => body.replace(/\{(project|version|file)\}/g, (text, name: string) => values[name] ?? text))
  return [state.text('message'), ...texts].filter((text) => text !== '').join('\n\n')
}
