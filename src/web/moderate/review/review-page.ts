// The review of a project: the changes on the left, the decision on the right.

import { createHash } from 'node:crypto'
import { lastEventSeen } from '#features/catalogue/reviews/seen.ts'
import { excerptOf } from '#lib/markdown/plain-text.ts'
import { changedFields, changedSets, countChanges, fieldName } from '#web/kit/forms/changes.ts'
import { type FormState, formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, PROJECT_TYPES, projectPath, reviewPath } from '#web/kit/paths.ts'
import { authorName, threadList } from '#web/kit/thread.ts'
import { externalImagesOf } from '#web/kit/user-texts.ts'
import { showWork } from '#web/kit/work-page.ts'
import { dayText, timeAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { statusName, statusOf } from '#web/ui/parts/status.ts'
import { tile } from '../../site/lists/rows.ts'
import { hueClass, typeName } from '../../site/names.ts'
import { claimBar } from '../claim-bar.ts'
import { takedownResult } from '../frame.ts'
import { waitsSince } from '../queue/queue-table.ts'
import { externalImagesPath } from '../texts/external-images-page.ts'
import { appealPart } from './appeal-view.ts'
import {
  claimThis,
  decideAndNext,
  decideAndStay,
  releaseThis,
  releaseVersion,
  scanAgain,
  undoDecision,
} from './decide.ts'
import { decisionForm, messageWithReplies, unsentForm } from './decision-form.ts'
import { versionDetails } from './details-view.ts'
import { imagesPart, linksPart, ownerPart, similarPart } from './facts-view.ts'
import { filesPart } from './files-view.ts'
import { type Changes, loadReview, type Review } from './load-review.ts'
import { section } from './section.ts'
import { undoNote } from './undo-note.ts'

export function reviewPages(pages: Pages): void {
  formPage<Review>(pages, {
    path: reviewPath(':id'),
    name: 'moderationReview',
    shows: 'A review: changes, files, findings, owner, thread, decision',
    api: 'getProjectChanges rejectAppeal',
    options: { role: 'moderator' },
    load: loadReview,
    show: (request, review, form) => showReview(request, review, form),
    commands: {
      stay: decideAndStay,
      next: decideAndNext,
      insert: (request, review, form) =>
        showReview(request, review, form, messageWithReplies(request.page, review, form)),
      claim: claimThis,
      release: releaseThis,
      undo: undoDecision,
      'scan-release': releaseVersion,
      'scan-repeat': scanAgain,
    },
    labels: { message: 'The message', note: 'The note', decision: 'The decision' },
  })
}

async function showReview(request: OwnRequest, review: Review, state: FormState, message = state.text('message')) {
  const { page, t } = request
  const { view, changes } = review
  const path = projectPath(view)
  const isOutdated = state.refusal?.status === 409 && ['stay', 'next'].includes(request.field('do'))
  // Only a refusal that shows the later event accepts it. Other refusals keep what the moderator has seen.
  const isFresh = isOutdated || state.text('seen') === ''
  const seen = isFresh ? changes.seen : state.text('seen')
  const parts = isFresh ? writeParts(page, review) : state.text('parts')
  const isDraft = view.status === 'draft'
  const description = await request.texts.render(view.description, page, view)
  const notes = html`${isOutdated && [laterEvent(page, review, state), changesSince(page, review, state)]}${takedownNote(page, review) ?? undoNote(page, review.undoable, undoneBy(review))}`
  const body = html`<div class="split decision"><div class="body flush">
${jump(page, review)}
${await appealPart(request, review)}
${changesPart(page, review, description)}
${filesPart(page, review, { projectPath: path, details: await versionDetails(request, review) })}
${imagesPart(page, review, path)}
${linksPart(page, review)}
${similarPart(page, review)}
${await ownerPart(request, review)}
${section({ id: 'thread', title: t('moderate.thread'), content: await threadList(request, review.thread) })}
</div>
<aside id="decide" aria-label="${t('moderate.decision')}">${isDraft ? [note(page, 'warn', html`<p>${t('moderate.draft')}</p>`), unsentForm(page, review, state)] : decisionForm(page, review, { state, fields: { seen, parts, message }, isOutdated })}</aside>
</div>
${!isDraft && html`<p class="to-foot"><a class="button main" href="#decide">${t('moderate.to-decision')}</a></p>`}`
  return showWork(request, {
    title: t('moderate.review-of', { name: view.name }),
    subject: {
      name: view.name,
      tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 48),
      crumbs: [
        { path: PATHS.moderation, label: t('moderate.moderation') },
        { path: PATHS.moderationQueue, label: t('moderate.queue') },
      ],
      facts: factsOf(request, review),
      tools: html`<a class="button" href="${pathTo(page, path)}">${icon(page, 'external')}${t('manage.view')}</a>${nextButton(page)}`,
      hue: hueClass(view.color),
    },
    form: state,
    above: claimPart(request, review),
    ...(isOutdated || review.undoable !== undefined || review.takedown !== undefined ? { notes } : {}),
    body,
  })
}

/** Leads from a hidden project to its takedown, which blocks its files and can be undone as a whole. */
function takedownNote(page: PageContext, { takedown, view }: Review): Part {
  if (takedown === undefined || !['rejected', 'withheld'].includes(view.status)) return null
  const link = (text: Part) => html`<a href="${pathTo(page, takedownResult(takedown.id))}">${text}</a>`
  return note(page, 'warn', html`<p>${page.language.rich('reports.takedown.of', { link })}</p>`)
}

const undoneBy = ({ undoable, project, changes }: Review): string | undefined =>
  undoable?.id === project.id ? changes.decision?.by?.username : undefined

/** Renders the button that opens the oldest unassigned project without a decision on this one. */
function nextButton(page: PageContext): Markup {
  const content = html`<button name="do" value="next" data-key="n">${page.language.t('moderate.next')}</button>`
  return form(page, { action: pathTo(page, PATHS.moderationQueue), content })
}

function factsOf({ page }: OwnRequest, { view, entry, changes }: Review): Part[] {
  const { language, now } = page
  const { t } = language
  const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
  return [
    type !== undefined && typeName(language, type),
    entry === undefined ? statusOf(page, 'project', view.status) : t('moderate.position', { position: entry.position }),
    entry !== undefined &&
      html`${icon(page, 'clock')}${t(entry.appeal ? 'moderate.appealed' : 'moderate.submitted')} ${timeAgo(language, waitsSince(entry), now)}`,
    t(changes.review === 'first' ? 'moderate.review.first' : 'moderate.review.repeat'),
    t('moderate.requested', { status: statusName(page, 'project', view.requested_status ?? 'approved') }),
  ]
}

function jump(page: PageContext, { changes, view, thread, entry, similar }: Review): Markup {
  const { t } = page.language
  const { versions, gallery, links } = changes
  const versionCount = versions.added.length + versions.changed.length + versions.removed.length
  const imageCount = gallery.added.length + gallery.removed.length + gallery.changed.length
  const items: [id: string, label: string, count?: number][] = [
    ...(entry?.appeal ? [['appeal', t('moderate.appeal')] as [string, string]] : []),
    ['changes', t('moderate.changes'), countChanges(changes)],
    ['files', t('moderate.files'), versionCount],
  ]
  if (view.gallery.length + gallery.removed.length > 0) items.push(['images', t('moderate.images'), imageCount])
  if (links.length > 0) items.push(['links', t('moderate.links'), links.length])
  if (similar.length > 0) items.push(['similar', t('moderate.similar'), similar.length])
  if (entry?.owner) items.push(['owner', t('moderate.owner')])
  items.push(['thread', t('moderate.thread'), thread.messages.length])
  return html`<nav class="jump" aria-label="${t('moderate.on-this-page')}">${items.map(([id, label, count]) => html`<a href="#${id}">${label}${count !== undefined && html` <span class="n">${count}</span>`}</a>`)}</nav>`
}

function claimPart(request: OwnRequest, { entry, project, hadClaim, mayJudge }: Review): Part {
  if (entry === undefined) return null
  const refusal = mayJudge ? undefined : request.t('moderate.appeal.own')
  return claimBar(request, { path: reviewPath(project.id), claim: entry.claim, kind: 'project', hadClaim, refusal })
}

/** Names the parts that have changed since the form was loaded. */
function changesSince(page: PageContext, review: Review, state: FormState): Part {
  const names = changedParts(page, review, state.text('parts'))
  if (names === undefined || names.length === 0) return null
  const list = names.map((name, index) => html`${index > 0 && ', '}<bdi>${name}</bdi>`)
  return note(page, 'warn', html`<p>${page.language.rich('moderate.outdated.parts', { parts: html`${list}` })}</p>`)
}

/** Renders the last message or status change if it is later than the state that the moderator saw. */
function laterEvent(page: PageContext, { thread: { messages, authors }, view }: Review, state: FormState): Part {
  const { language, now } = page
  const seen = lastEventSeen(state.text('seen'))
  const index = messages.findIndex(({ id }) => id === seen)
  if (seen === undefined || (seen !== '' && index === -1)) return null
  const last = messages.slice(index + 1).findLast(({ body: { type } }) => type === 'text' || type === 'status_change')
  if (last === undefined) return null
  const values = {
    who: html`<bdi>${authorName(page, last.hide_identity, authors.get(last.author_id ?? ''))}</bdi>`,
    time: timeAgo(language, last.created, now),
  }
  const quote = (said: string | null | undefined) => said && html` <q dir="auto">${excerptOf(said, 500)}</q>`
  if (last.body.type === 'text')
    return note(page, 'warn', html`${language.rich('moderate.outdated.message', values)}${quote(last.body.body)}`)
  if (last.body.type !== 'status_change') return null
  const label = statusName(page, 'project', last.body.new_status)
  // A member changes the status without a message: the project still has that of an earlier decision.
  const reason = last.hide_identity && quote(view.moderator_message?.message)
  return note(page, 'warn', html`${language.rich('moderate.outdated.status', { ...values, status: label })}${reason}`)
}

function changesPart(page: PageContext, { changes, view }: Review, description: Markup): Markup {
  const { t } = page.language
  const before = t(changes.since?.reason === 'approval' ? 'work.diff.approved' : 'work.diff.before')
  const content = html`${recentPart(page, changes)}${changedFields(page, changes, before) ?? html`<p>${t('moderate.changes.none')}</p>`}
<details${attributes({ class: 'more', open: changes.review === 'first' })}><summary>${t('moderate.description.full')}</summary>${description}</details>
${externalImagesOf(description).length > 0 && html`<p class="small"><a href="${pathTo(page, externalImagesPath(view.id))}">${t('reports.images.title')}</a></p>`}`
  return section({ id: 'changes', title: changesTitle(page, changes), content })
}

/** Renders what has changed in a first review since the moderators last wrote, or since the submission. */
function recentPart(page: PageContext, { since, recent }: Changes): Part {
  if (since === null || recent === null) return null
  const { t } = page.language
  const changed = [changedFields(page, recent, t('work.diff.before')), changedSets(page, recent)]
  if (changed.every((part) => part === null)) return null
  const title = t(`moderate.changes.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) })
  return html`<div class="note warn" data-finding>${icon(page, 'pencil')}<div><h3>${title}</h3>
${changed}</div></div>
`
}

function changesTitle(page: PageContext, { since, review }: Changes): string {
  const { t } = page.language
  if (since === null || review === 'first')
    return t(review === 'first' ? 'moderate.changes.new' : 'moderate.changes.unknown')
  return t(`moderate.changes.since.${since.reason}`, { day: dayText(page.language, new Date(since.at)) })
}

const HASH_LENGTH = 8

/** Names and hashes of parts by key. */
type Parts = ReadonlyMap<string, { name: string; hash: string }>

const textOf = ({ parts }: Changes['texts'][number]): string =>
  parts.flatMap(({ change, text }) => (change === 'removed' ? [] : text)).join('')

function partsOf(
  page: PageContext,
  { changes, thread, details }: Pick<Review, 'changes' | 'thread' | 'details'>,
): Parts {
  const { gallery, versions } = changes
  const now = <Item>({ added, changed }: { added: Item[]; changed: { after: Item }[] }): Item[] => [
    ...added,
    ...changed.map(({ after }) => after),
  ]
  const named = (field: string, value: unknown) => [field, fieldName(page, field), value] as const
  const parts = [
    ...changes.texts.map((text) => named(text.field, textOf(text))),
    ...changes.lists.map(({ field, same, added }) => named(field, [...same, ...added].sort())),
    named(
      'links',
      changes.links.filter(({ after }) => after !== null).map(({ platform, after }) => [platform, after]),
    ),
    named('icon', changes.icon.after),
    named('gallery', now(gallery)),
    ...now(versions).map((version) => {
      const name = page.language.t('moderate.outdated.version', { number: version.number })
      return [`version.${version.id}`, name, [version, details.get(version.id)]] as const
    }),
    ['message', page.language.t('moderate.thread'), thread.messages.at(-1)?.id] as const,
  ]
  const hashOf = (value: unknown) =>
    createHash('sha256')
      .update(JSON.stringify(value ?? null))
      .digest('base64url')
      .slice(0, HASH_LENGTH)
  return new Map(parts.map(([key, name, value]) => [key, { name, hash: hashOf(value) }]))
}

/** Returns the value of the hidden field. */
function writeParts(page: PageContext, review: Review): string {
  return JSON.stringify([...partsOf(page, review)].map(([key, { name, hash }]) => [key, name, hash]))
}

/** Returns the names of the parts that differ from those of a hidden field; undefined if the field cannot be read. */
function changedParts(page: PageContext, review: Review, text: string): string[] | undefined {
  const before = readParts(text)
  if (before === undefined) return undefined
  const now = partsOf(page, review)
  const changed = [...now].flatMap(([key, { name, hash }]) => (before.get(key)?.hash === hash ? [] : name))
  const removed = [...before].flatMap(([key, { name }]) => (now.has(key) ? [] : name))
  return [...changed, ...removed]
}

function readParts(text: string): Parts | undefined {
  try {
    const rows: unknown = JSON.parse(text)
    if (!Array.isArray(rows)) return undefined
    return new Map(rows.map(([key, name, hash]) => [String(key), { name: String(name), hash: String(hash) }]))
  } catch {
    return undefined
  }
}
