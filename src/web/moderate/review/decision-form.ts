// The form of a decision: choice, saved replies, message, private note, and the keys.

import type { FormState } from '#web/kit/forms/form-page.ts'
import { reviewPath } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { form, hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { shortcuts } from '#web/ui/parts/keys.ts'
import { repliesField, withReplies } from '../replies.ts'
import type { Review } from './load-review.ts'

/** Names of the decisions, with their keys. */
export const DECISIONS = ['approve', 'ask', 'withhold', 'reject'] as const
export type DecisionName = (typeof DECISIONS)[number]

const KEPT_BY: Readonly<Partial<Record<DecisionName, string>>> = { withhold: 'withheld', reject: 'rejected' }

/** Whether the choice rejects the appeal of the project: the status stays. */
export const keepsDecision = ({ entry, view }: Pick<Review, 'entry' | 'view'>, decision: DecisionName): boolean =>
  entry?.appeal != null && view.status === KEPT_BY[decision]

const HOTKEYS: Readonly<Record<DecisionName, string>> = { approve: 'A', ask: 'S', withhold: 'W', reject: 'R' }
const KINDS = { approve: undefined, ask: 'hold', withhold: 'hold', reject: 'no' } as const

const KEYS: readonly (readonly [keys: readonly string[], text: MessageKey])[] = [
  [['J', 'K'], 'moderate.key.sections'],
  [['A', 'S', 'W', 'R'], 'moderate.key.decisions'],
  [['D'], 'moderate.key.finding'],
  [['1', '9', 'I'], 'moderate.key.replies'],
  [['M'], 'moderate.key.message'],
  [['P'], 'moderate.key.note'],
  [['N'], 'moderate.key.next'],
  [['U'], 'moderate.key.release'],
  [['Ctrl', 'Enter'], 'moderate.key.send'],
]

/** Fields that the form shows instead of the submitted ones. */
export type DecisionFields = { seen: string; parts: string; message: string }

export function decisionForm(
  page: PageContext,
  review: Review,
  { state, fields, isOutdated }: { state: FormState; fields: DecisionFields; isOutdated: boolean },
): Markup {
  const { t } = page.language
  const { errors } = state
  const { project } = review
  // Only another moderator can confirm a decision that is appealed.
  const offered = review.mayJudge ? DECISIONS : (['approve', 'ask'] as const)
  const chosen = state.text('decision')
  const cards = optionCards({
    legend: t('moderate.decision'),
    name: 'decision',
    error:
      errors.some(({ field }) => field === 'decision') && html`<p class="error">${t('moderate.decision.missing')}</p>`,
    options: offered.map((value) => ({
      value,
      label: t(`moderate.decision.${value}`),
      text: t(effectOf(review, value)),
      isChosen: chosen === value,
      hotkey: HOTKEYS[value],
      ...(KINDS[value] === undefined ? {} : { kind: KINDS[value] }),
    })),
  })
  const send = t(isOutdated ? 'moderate.decide-anyway' : 'moderate.send')
  const content = html`${hiddenField('seen', fields.seen)}${hiddenField('parts', fields.parts)}
${cards}
${repliesField(page, review.replies, state)}
${textArea(page, { name: 'message', label: t('moderate.message'), hint: t('moderate.message.hint'), value: fields.message, maxLength: 65_536, rows: 7, isOptional: true, hotkey: 'm', errors })}
<details class="more"><summary data-key="p">${t('moderate.note.add')}</summary>
${textArea(page, { name: 'note', label: t('moderate.note'), value: state.text('note'), maxLength: 65_536, rows: 2, isOptional: true, errors })}
</details>
<div class="line"><button class="main grow" name="do" value="next">${t(isOutdated ? 'moderate.decide-anyway-next' : 'moderate.send-next')}</button><button name="do" value="stay">${send}</button></div>
${shortcuts(
  page,
  KEYS.map(([keys, label]) => ({ keys, label: t(label) })),
)}`
  return form(page, { action: pathTo(page, reviewPath(project.id)), className: 'stick scrolls decide', content })
}

/** Returns the message that states what a choice does. */
function effectOf(review: Review, value: DecisionName): MessageKey {
  if (keepsDecision(review, value)) return 'moderate.appeal.keeps'
  return value === 'approve' && review.entry?.appeal ? 'moderate.appeal.accepts' : `moderate.decision.${value}.text`
}

/** Renders the texts of a decision on a draft. Sent again after the submission, they are in the form of the decision. */
export function unsentForm(page: PageContext, { project }: Review, state: FormState): Part {
  const { t } = page.language
  const texts = (['message', 'note'] as const).filter((name) => state.text(name) !== '')
  if (texts.length === 0) return null
  const areas = texts.map((name) =>
    textArea(page, { name, label: t(`moderate.${name}`), value: state.text(name), rows: 5, isReadOnly: true }),
  )
  const content = html`<p>${t('moderate.draft.unsent')}</p>
${hiddenField('decision', state.text('decision'))}${areas}
<button name="do" value="insert">${t('moderate.draft.check')}</button>`
  return form(page, { action: pathTo(page, reviewPath(project.id)), className: 'stack', content })
}

/** Returns the message with the selected replies. */
export function messageWithReplies(page: PageContext, { replies, view, changes }: Review, state: FormState): string {
  const version = changes.versions.added[0] ?? changes.versions.changed[0]?.after
  const subject = { project: view, version: version?.number ?? '', file: version?.files[0]?.filename ?? '' }
  return withReplies(page, replies, { state, subject })
}
