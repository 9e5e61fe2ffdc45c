// The commands of the review page: decisions, notes, claims, scans and undo.
import type { ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { findDecision } from '#features/catalogue/reviews/decisions.ts'
import { overrideScan, repeatScan } from '#features/catalogue/scans/override-scan.ts'
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { rejectAppeal } from '#features/community/moderation/appeals/reject-appeal.ts'
import { claimNext, claimProject, releaseClaim } from '#features/community/moderation/claim-project.ts'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { restoreLater } from '#web/kit/forms/lost-input.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS, reviewPath } from '#web/kit/paths.ts'
import type { Done } from '#web/kit/request.ts'
import { DECISIONS, type DecisionName, keepsDecision } from './decision-form.ts'
import type { Review } from './load-review.ts'

/** Maximum length of the message that the API shows next to the status. A longer message is in the details too. */
const MESSAGE_LENGTH_MAX = 2000
const DONE: Readonly<Record<DecisionName, Done>> = {
  approve: 'approved',
  ask: 'asked',
  withhold: 'withheld',
  reject: 'rejected',
}

const ALL = { text: '', loaders: undefined } as const

/** Applies the decision, and opens the oldest unassigned project. */
export async function decideAndNext(request: OwnRequest, review: Review, form: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const done = await decide(request, review, form)
  const id = await claimNext(deps, viewer, ALL, 'oldest')
  const was = { was: review.project.id }
  return { done, path: id === undefined ? PATHS.moderationQueue : reviewPath(id), with: was }
}

/** Applies the decision, and stays on the page of the project. */
export async function decideAndStay(request: OwnRequest, review: Review, form: FormState): Promise<Outcome> {
  return { done: await decide(request, review, form), path: reviewPath(review.project.id) }
}

async function decide(request: OwnRequest, review: Review, form: FormState): Promise<Done> {
  const { deps, viewer } = request
  const decision = DECISIONS.find((name) => name === form.text('decision'))
  if (decision === undefined) throw validationError('decision', 'must be chosen')
  if (review.view.status === 'draft') throw new ApiError('conflict', 'The project is a draft and cannot be decided')
  const message = form.text('message')
  if (decision !== 'approve' && isBlank(message)) throw validationError('message', 'must not be blank')
  const { project, membership } = review
  if (decision === 'ask') {
    await say(request, review, { text: message, isPrivate: false })
  } else {
    const patch: ProjectPatch = {
      status: statusOf(review, decision),
      seen: form.text('seen'),
      ...messageFields(message),
    }
    if (keepsDecision(review, decision))
      await rejectAppeal(deps, viewer, { projectId: project.id, message, seen: patch.seen })
    else await updateProject(deps, viewer, { project, membership, patch })
  }
  // Last, because a note is an event that outdates `seen`.
  const note = form.text('note')
  if (!isBlank(note)) await say(request, review, { text: note, isPrivate: true })
  return keepsDecision(review, decision) ? 'appeal-rejected' : DONE[decision]
}

function statusOf({ view }: Review, decision: Exclude<DecisionName, 'ask'>): NonNullable<ProjectPatch['status']> {
  if (decision === 'approve') return view.requested_status ?? 'approved'
  return decision === 'withhold' ? 'withheld' : 'rejected'
}

function messageFields(text: string): Pick<ProjectPatch, 'moderation_message' | 'moderation_message_body'> {
  if (isBlank(text)) return {}
  if (text.length <= MESSAGE_LENGTH_MAX) return { moderation_message: text, moderation_message_body: null }
  return { moderation_message: `${text.slice(0, MESSAGE_LENGTH_MAX - 1)}…`, moderation_message_body: text }
}

async function say(
  { deps, viewer }: OwnRequest,
  { view }: Review,
  { text, isPrivate }: { text: string; isPrivate: boolean },
): Promise<void> {
  if (view.thread_id === null) throw new ApiError('conflict', 'This project has no thread')
  const message = { text, isPrivate, replyingTo: null, imageIds: [] }
  await postMessage(deps, viewer, { threadId: view.thread_id, message })
}

export async function claimThis({ deps, viewer }: OwnRequest, { project }: Review): Promise<Outcome> {
  await claimProject(deps, viewer, project.id)
  return { done: 'claimed-one', path: reviewPath(project.id) }
}

export async function releaseThis({ deps, viewer }: OwnRequest, { project }: Review): Promise<Outcome> {
  await releaseClaim(deps, viewer, project.id)
  return { done: 'released-one', path: reviewPath(project.id) }
}

const DECISION_OF: Readonly<Partial<Record<string, DecisionName>>> = { withheld: 'withhold', rejected: 'reject' }

/** Undoes the decision, claims the project again, and fills the form with the choice and the message. @throws ApiError `conflict` if it is final or something happened since */
export async function undoDecision(request: OwnRequest, review: Review, form: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const { project, membership, changes, view } = review
  const { decision } = changes
  if (decision === null || Date.parse(decision.undo_until) <= deps.now())
    throw new ApiError('conflict', 'This decision can no longer be undone')
  const hasMessage = ((await findDecision(deps.db, project.id))?.message ?? null) !== null
  const patch = { status: decision.from as NonNullable<ProjectPatch['status']>, seen: form.text('seen') }
  await updateProject(deps, viewer, { project, membership, patch })
  if (decision.from === 'processing') await claimProject(deps, viewer, project.id)
  const path = reviewPath(project.id)
  if (!hasMessage) return { done: 'undone', path }
  const message = view.moderator_message?.body ?? view.moderator_message?.message ?? ''
  const fields = { decision: DECISION_OF[decision.to] ?? 'approve', message }
  return { done: 'undone', path, with: await restoreLater(request, path, fields) }
}

function heldVersion({ scans }: Review, form: FormState): string {
  const version = scans.find(({ version_id: id }) => id === form.text('version'))
  if (version === undefined) throw invalidInput('This version has passed the scan or was deleted', 'version')
  return version.version_id
}

export async function releaseVersion({ deps, viewer }: OwnRequest, review: Review, form: FormState): Promise<Outcome> {
  await overrideScan(deps, viewer, heldVersion(review, form))
  return { done: 'scan-released', path: reviewPath(review.project.id) }
}

export async function scanAgain({ deps }: OwnRequest, review: Review, form: FormState): Promise<Outcome> {
  await repeatScan(deps, heldVersion(review, form))
  return { done: 'scan-repeated', path: reviewPath(review.project.id) }
}
