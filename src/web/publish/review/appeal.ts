// The appeal against the decision on a project, on the page of its review.
import type { AppealableDecision } from '#features/catalogue/reviews/appeals.ts'
import { appealDecision } from '#features/community/moderation/appeals/appeal-decision.ts'
import { AppealInput, parseAppeal } from '#features/community/moderation/appeals/requests.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, textArea } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { type ManagedProject, may } from '../project/managed-project.ts'

export async function appeal(
  { deps, viewer }: OwnRequest,
  { project, membership }: ManagedProject,
  state: FormState,
): Promise<Outcome> {
  const text = parseAppeal(checkValues(AppealInput, { body: state.text('body') }))
  await appealDecision(deps, viewer, { projectId: project.id, membership, text })
  return { done: 'appealed', fragment: 'appeal' }
}

/** Renders the form of the appeal, its place in the queue, or its rejection. Nothing if there is no decision to appeal. */
export function appealPart(
  page: PageContext,
  data: ManagedProject,
  of: { decision: AppealableDecision | undefined; state: FormState; place: { position: number | null; total: number } },
): Part {
  const { t } = page.language
  if (of.decision === undefined) return false
  const { appeal: made } = of.decision
  if (made !== null)
    return sheetPart({ id: 'appeal', title: t('publish.appeal'), content: madeAppeal(page, made, of.place) })
  if (!may(data, 'EDIT_DETAILS')) return false
  const area = textArea(page, {
    name: 'body',
    id: 'appeal-body',
    label: t('publish.appeal.label'),
    hint: t('publish.appeal.hint'),
    value: of.state.text('body'),
    ...limitsOf(AppealInput.properties.body),
    rows: 5,
    errors: of.state.errors,
  })
  const button = html`<div class="line"><button name="do" value="appeal">${t('publish.appeal.send')}</button></div>`
  const content = form(page, {
    action: pathTo(page, `${data.settings}/review`),
    className: 'stack',
    content: [area, button],
  })
  return sheetPart({ id: 'appeal', title: t('publish.appeal'), text: t('publish.appeal.text'), content })
}

function madeAppeal(
  { language, now }: PageContext,
  { created, outcome, closed_at }: NonNullable<AppealableDecision['appeal']>,
  { position, total }: { position: number | null; total: number },
): Part {
  const { t, rich } = language
  if (outcome !== null)
    return html`<p>${rich('publish.appeal.rejected', { at: timeAgo(language, new Date(closed_at ?? created), now) })}</p>`
  return html`<p>${rich('publish.appeal.waits', { at: timeAgo(language, new Date(created), now) })}</p>
${position !== null && html`<p class="strong">${t('publish.appeal.position', { position, total })}</p>`}
<p class="soft">${t('publish.appeal.resubmit')}</p>`
}
