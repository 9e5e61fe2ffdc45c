// The review of a project, for its members: checklist, submission, position in the queue, conversation with moderators.

import type { FastifyReply } from 'fastify'
import { isMember } from '#features/basics/access/project-policy.ts'
import type { ChecklistItem } from '#features/catalogue/projects/checklist/checklist.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { findAppealable } from '#features/catalogue/reviews/appeals.ts'
import { decisionText } from '#features/catalogue/reviews/decisions.ts'
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { MessageInput, parseMessage } from '#features/catalogue/threads/requests.ts'
import { getQueuePlace } from '#features/community/moderation/queries.ts'
import { readProjectChanges } from '#features/community/moderation/read-changes.ts'
import { medianWait } from '#features/community/moderation/statistics/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { changedFields, changedSets } from '#web/kit/forms/changes.ts'
import { type FormState, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectSegments } from '#web/kit/paths.ts'
import { loadThread, threadList } from '#web/kit/thread.ts'
import { dayText, timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { type FormErrors, form, textArea } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'
import { projectForm, showProjectSettings } from '../project/settings-frame.ts'
import { appeal, appealPart } from './appeal.ts'
import { canSubmit, checklist, itemLabel, loadChecklist, missingOf } from './checklist-view.ts'

const BELOW = '/settings/review'
const LABELS = { body: 'The message' }

export function reviewPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: BELOW,
    name: 'publishReview',
    shows: 'Checklist, submission, place in the queue, thread with the moderators',
    api: 'getChecklist getQueuePlace getAppeal appealDecision',
    show: showReview,
    commands: { submit, withdraw, reply, appeal },
    labels: LABELS,
  })
  for (const segment of projectSegments(taxonomy)) {
    pages.own(
      'GET',
      `/${segment}/:slug/moderation`,
      'publishMovedReview',
      async (request) => {
        const { settings } = await loadManagedProject(request)
        return request.redirectPermanently(`${settings}/review`)
      },
      { shows: false },
    )
  }
}

async function submit(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const { project, membership } = data
  const text = state.text('body')
  const message = isBlank(text) ? undefined : parseText(text)
  await updateProject(deps, viewer, { project, membership, patch: { status: 'processing' } })
  if (message !== undefined) await postMessage(deps, viewer, { threadId: threadOf(data), message })
  return { done: 'submitted' }
}

async function withdraw({ deps, viewer }: OwnRequest, { project, membership }: ManagedProject): Promise<Outcome> {
  await updateProject(deps, viewer, { project, membership, patch: { status: 'draft' } })
  return { done: 'withdrawn' }
}

async function reply({ deps, viewer }: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  await postMessage(deps, viewer, { threadId: threadOf(data), message: parseText(state.text('body')) })
  return { done: 'replied' }
}

/** @throws ApiError `validation_error` naming `body` */
function parseText(text: string) {
  return parseMessage(checkValues(MessageInput, { body: { type: 'text', body: text } }))
}

/** @throws ApiError 404 for a project without a thread */
function threadOf({ view }: ManagedProject): string {
  if (view.thread_id === null) throw new ApiError('not_found', 'This project has no thread')
  return view.thread_id
}

async function showReview(request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> {
  const { page, deps, t } = request
  const { project, view } = data
  const [items, place, median, changes, decision] = await Promise.all([
    loadChecklist(deps.db, project.id),
    getQueuePlace(deps.db, project.id),
    medianWait(deps.db, page.now),
    isReturned(data) ? readProjectChanges(deps, project.id) : undefined,
    findAppealable(deps.db, project.id),
  ])
  const thread = view.thread_id === null ? null : await threadList(request, await loadThread(request, view.thread_id))
  return showProjectSettings(request, data, {
    section: '/review',
    heading: t('publish.review'),
    text: t('publish.review.text'),
    needs: 'EDIT_DETAILS',
    form: { ...state, errors: errorsOf(page, data, { state, items }) },
    body: [
      await decisionPart(request, data),
      changes !== undefined && changesPart(page, changes),
      canSubmit(data) &&
        sheetPart({ id: 'checklist', title: t('publish.checklist'), content: checklist(page, data, items) }),
      statePart(page, data, { state: stateOf(state, ['submit', 'withdraw']), place, median }),
      appealPart(page, data, { decision, state: stateOf(state, ['appeal']), place }),
      threadPart(page, data, { state: stateOf(state, ['reply']), thread }),
    ],
  })
}

/** A refused submission of an incomplete project names every missing item, with a link. */
function errorsOf(
  page: PageContext,
  data: ManagedProject,
  { state, items }: { state: FormState; items: readonly ChecklistItem[] },
): FormErrors {
  const missing =
    canSubmit(data) && state.refusal?.status === 400 && state.text('do') === 'submit' ? missingOf(items) : []
  if (missing.length === 0) return state.errors
  return missing.map((item) => ({
    field: `check-${item.id}`,
    message: page.language.t('publish.review.needs', { item: itemLabel(page, item) }),
  }))
}

/** Whether moderators have rejected or withheld the project. */
const isReturned = ({ view: { status } }: ManagedProject): boolean => ['rejected', 'withheld'].includes(status)

/** The message of the moderators about a rejected or withheld project. */
async function decisionPart({ page, texts }: OwnRequest, data: ManagedProject): Promise<Part> {
  const { moderator_message: message, status } = data.view
  if (message === null || !isReturned(data)) return false
  const key = status === 'rejected' ? 'publish.review.rejected' : 'publish.review.withheld'
  const text = await texts.render(decisionText(message.message, message.body) ?? '', page)
  return html`<div class="part">${note(page, 'bad', html`<p class="strong">${page.language.t(key)}</p><div class="said">${text}</div>`)}</div>`
}

/** The changes that moderators see when the project is submitted again. */
function changesPart(page: PageContext, changes: Awaited<ReturnType<typeof readProjectChanges>>): Part {
  const { t } = page.language
  const { since } = changes
  if (since === null) return false
  const before = t(since.reason === 'approval' ? 'work.diff.approved' : 'work.diff.before')
  // Moderators see all of a first review as new; members see what they have changed.
  const own = changes.recent ?? changes
  const [fields, sets] = [changedFields(page, own, before), changedSets(page, own)]
  return sheetPart({
    id: 'changes',
    title: t(`publish.review.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) }),
    text: t('publish.review.changes'),
    content:
      fields === null && sets === null
        ? html`<p>${t('publish.review.unchanged')}</p>`
        : html`<div class="stack">${fields}${sets}</div>`,
  })
}

type Queue = { state: FormState; place: { position: number | null; total: number }; median: number | null }

/** The next step: submit, wait or withdraw. */
function statePart(page: PageContext, data: ManagedProject, { state, place, median }: Queue): Part {
  const { language } = page
  const { t, rich } = language
  const { view, settings } = data
  const action = pathTo(page, `${settings}/review`)
  const isAllowed = may(data, 'EDIT_DETAILS') || state.isSubmitted
  const wait = median === null ? null : html`<p>${t('publish.review.median', { wait: duration(language, median) })}</p>`
  if (place.position !== null && view.status === 'processing') {
    const since =
      view.queued === null
        ? null
        : html`<p>${rich('publish.review.since', { at: timeAgo(language, new Date(view.queued), page.now) })}</p>`
    const button =
      isAllowed &&
      form(page, {
        action,
        content: html`<div class="line"><button name="do" value="withdraw">${t('publish.review.withdraw')}</button></div>`,
      })
    const content = html`<p class="strong">${t('publish.review.position', { ...place, position: place.position })}</p>${since}${wait}<p class="soft">${t('publish.review.editable')}</p>${button}`
    return sheetPart({ id: 'queue', title: t('publish.review.waiting'), content })
  }
  if (!canSubmit(data) || !isAllowed) return false
  const rules = page.site.footer?.some(({ path }) => path === '/rules') === true
  const isAgain = view.status !== 'draft'
  const content = html`<p>${t('publish.review.checks')}${rules && html` <a href="${pathTo(page, '/rules')}">${t('publish.review.rules')}</a>`}</p>
<p>${t('publish.review.total', { total: place.total })}</p>${wait}
${textArea(page, { name: 'body', id: 'note', label: t('publish.review.note'), hint: t('publish.review.note-hint'), value: state.text('body'), maxLength: 4000, isOptional: true, rows: 3, errors: state.errors })}
<div class="line"><button class="main" name="do" value="submit">${t(isAgain ? 'publish.review.resubmit' : 'publish.review.submit')}</button></div>`
  const title = t(isAgain ? 'publish.review.resubmit' : 'publish.review.submit')
  return formPart(page, { id: 'submit', title, path: `${settings}/review`, content })
}

function threadPart(page: PageContext, data: ManagedProject, { state, thread }: { state: FormState; thread: Part }) {
  const { t } = page.language
  const { view, settings, membership } = data
  if (view.thread_id === null) return false
  // Before the first submission, the note of the submission begins the conversation.
  const replies = isMember(membership) && (view.status !== 'draft' || thread !== null)
  const write =
    replies &&
    form(page, {
      action: pathTo(page, `${settings}/review`),
      className: 'stack',
      content: html`${textArea(page, { name: 'body', label: t('publish.thread.reply'), value: state.text('body'), maxLength: 65_536, rows: 4, errors: state.errors })}<div class="line"><button name="do" value="reply">${t('publish.thread.send')}</button></div>`,
    })
  return sheetPart({
    id: 'thread',
    title: t('publish.thread'),
    text: t('publish.thread.text'),
    content: html`${thread}
${write}`,
  })
}

/** Returns a duration in the largest unit that fits: "2 days". */
function duration(language: Language, minutes: number): string {
  const ms = minutes * MINUTE_MS
  const [unit, size] =
    ms >= 2 * DAY_MS
      ? (['day', DAY_MS] as const)
      : ms >= 2 * HOUR_MS
        ? (['hour', HOUR_MS] as const)
        : (['minute', MINUTE_MS] as const)
  const value = Math.max(1, Math.round(ms / size))
  return new Intl.NumberFormat(language.tag, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
}
