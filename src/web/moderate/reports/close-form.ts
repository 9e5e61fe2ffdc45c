// The form that closes reports about an item: outcome, saved replies, message to the reporters, and the keys.
import type { FormState } from '#web/kit/forms/form-page.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { form, textArea } from '#web/ui/parts/fields.ts'
import { shortcuts } from '#web/ui/parts/keys.ts'
import { moderatedReport } from '../frame.ts'
import { repliesField } from '../replies.ts'
import type { ReportData } from './load-report.ts'

/** ID of the form, to which the checkboxes of the reports belong. */
export const CLOSE_FORM = 'close'

const HOTKEYS = { action: 'A', no_action: 'O' } as const

const KEYS: readonly (readonly [keys: readonly string[], text: MessageKey])[] = [
  [['J', 'K'], 'moderate.key.sections'],
  [['A', 'O'], 'reports.key.outcome'],
  [['1', '9', 'I'], 'moderate.key.replies'],
  [['M'], 'moderate.key.message'],
  [['C'], 'reports.key.close'],
  [['N'], 'reports.key.next'],
  [['T', 'U'], 'reports.key.claim'],
  [['Ctrl', 'Enter'], 'reports.key.close-next'],
]

export function closeForm(page: PageContext, { report, replies, open }: ReportData, state: FormState): Part {
  const { t } = page.language
  const chosen = state.text('outcome')
  const keys = shortcuts(
    page,
    KEYS.map(([names, label]) => ({ keys: names, label: t(label) })),
  )
  if (open.length === 0) {
    const text = state.text('message')
    return html`<p>${t('reports.all-closed')}</p>${text !== '' && html`<p>${t('reports.unsent')}</p><p class="prose plain" dir="auto">${text}</p>`}${keys}`
  }
  const content = [
    optionCards({
      legend: t('reports.outcome'),
      name: 'outcome',
      options: (['action', 'no_action'] as const).map((value) => ({
        value,
        label: t(`reports.outcome.${value}`),
        text: t(`reports.outcome.${value}.text`),
        isChosen: chosen === value,
        hotkey: HOTKEYS[value],
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
      hotkey: 'm',
      errors: state.errors,
    }),
    html`<div class="line"><button class="main grow" name="do" value="next">${t('reports.close-next')}</button><button name="do" value="close" data-key="c">${t('reports.close')}</button></div>`,
    keys,
  ]
  return form(page, {
    id: CLOSE_FORM,
    action: pathTo(page, moderatedReport(report.id)),
    className: 'stick scrolls decide',
    content,
  })
}
