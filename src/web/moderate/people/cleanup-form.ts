// The bulk actions of the list of accounts: the page that previews a cleanup, the cleanup, and its undo.
import type { FastifyReply } from 'fastify'
import { approveAccounts } from '#features/community/moderation/accounts/approve-accounts.ts'
import {
  type CleanupPlan,
  cleanUp,
  planCleanup,
  planNeedsProof,
} from '#features/community/moderation/cleanup/clean-up.ts'
import { mayClean } from '#features/community/moderation/cleanup/policy.ts'
import {
  CLEANUP_ACTIONS,
  type Cleanup,
  type CleanupAction,
  CleanupInput,
  parseCleanup,
  removesContent,
  suspends,
} from '#features/community/moderation/cleanup/requests.ts'
import { undoCleanup } from '#features/community/moderation/cleanup/undo-cleanup.ts'
import { listReplies } from '#features/community/moderation/replies/queries.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { proofOf, proofPart } from '#web/account/settings/settings-views.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, hiddenField, selectField, textArea } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { listTable } from '#web/ui/parts/tables.ts'
import { moderatedReport } from '../frame.ts'
import { textForAccounts } from '../replies.ts'
import { type AccountArea, type AccountsData, accountsPath } from './accounts-request.ts'

type Command = (request: OwnRequest, data: AccountsData, form: FormState) => Promise<Outcome>

/** Returns the commands of the list: each action shows its preview, whose form sends `confirm`. */
export function cleanupCommands(area: AccountArea): Readonly<Record<string, Command>> {
  const ask: Command = (request, data, form) => showCleanupForm(request, area, data, form)
  return {
    ...Object.fromEntries(area.actions.map((action) => [action, ask])),
    approve: async (request, data, form) => {
      const count = await approveAccounts(request.deps, request.viewer, pickedIds(request, data, form))
      return { done: 'accounts-approved', path: accountsPath(area.path, data.choice), with: { count: String(count) } }
    },
    confirm: (request, data, form) => runCleanup(request, area, data, form),
    undo: async ({ deps, viewer }, { choice }, form) => {
      const { users, kept } = await undoCleanup(deps, viewer, parseId(form.text('cleanup'), 'cleanup'))
      const counts = { count: String(users.length), kept: String(kept.length) }
      return { done: 'cleanup-undone', path: accountsPath(area.path, choice), with: counts }
    },
  }
}

/** Returns the selected accounts; all of the page without the script that selects them. */
function pickedIds({ viewer }: OwnRequest, { accounts }: AccountsData, form: FormState): string[] {
  const all = form.list('all').includes('yes')
  const ids = all ? accounts.flatMap(({ id }) => (id === viewer.id ? [] : [id])) : [...new Set(form.list('ids'))]
  if (ids.length === 0) throw invalidInput('Select at least one account', 'ids')
  return ids
}

function actionOf(form: FormState): CleanupAction {
  const sent = form.text('do') === 'confirm' ? form.text('action') : form.text('do')
  const action = CLEANUP_ACTIONS.find((each) => each === sent)
  if (action === undefined) throw invalidInput('The form contains an unknown action')
  return action
}

/** Shows what a cleanup would do, with names and numbers, and asks for the message. */
export async function showCleanupForm(
  request: OwnRequest,
  area: AccountArea,
  data: AccountsData,
  form: FormState,
): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const cleanup: Cleanup = { action: actionOf(form), userIds: pickedIds(request, data, form), message: '' }
  const plan = await planCleanup(deps, viewer, cleanup)
  const { targets } = plan
  if (targets.length === 0) throw invalidInput('None of these accounts can be cleaned up', 'ids')
  const values = { action: cleanup.action, count: targets.length }
  const path = accountsPath(area.path, data.choice)
  const question = {
    title: t('moderate.cleanup.title', values),
    consequences: consequences(page, cleanup.action, plan),
    path,
    cancel: path,
    button: t('moderate.cleanup.button', values),
    proof: planNeedsProof(cleanup, plan) && (await proofPart(request, form)),
    fields: [
      hiddenField('action', cleanup.action),
      targets.map(({ id }) => hiddenField('ids', id)),
      await messageFields(request, form),
    ],
    below: planPart(page, plan),
  }
  return showConfirmation(request, question, form)
}

const openReports = (targets: CleanupPlan['targets']): Set<string> =>
  new Set(targets.flatMap(({ content: { reports = [] } }) => reports.map(({ id }) => id)))

function consequences(page: PageContext, action: CleanupAction, { targets, skipped }: CleanupPlan): Part[] {
  const { t } = page.language
  const sum = (key: 'projects' | 'collections' | 'organizations') =>
    targets.reduce((count, { content }) => count + content[key].length, 0)
  const count = targets.length
  return [
    suspends(action) && t('moderate.cleanup.suspended', { count }),
    removesContent(action) && t('moderate.cleanup.rejected', { count: sum('projects') }),
    removesContent(action) &&
      t('moderate.cleanup.removed', { collections: sum('collections'), organizations: sum('organizations') }),
    action === 'delete' && t('moderate.cleanup.deleted', { count }),
    t('moderate.cleanup.reports', { count: openReports(targets).size }),
    t('moderate.cleanup.undoable'),
    skipped.length > 0 && t('moderate.cleanup.skipped', { count: skipped.length }),
  ].filter((part) => part !== false)
}

/** Returns the saved replies that can be about all accounts of a cleanup, with their texts. */
async function cleanupReplies({ page, deps }: OwnRequest): Promise<{ id: string; title: string; text: string }[]> {
  const { maxLength = 0 } = limitsOf(CleanupInput.properties.message)
  return (await listReplies(deps.db)).flatMap((reply) => {
    const text = textForAccounts(page, reply)
    return text !== undefined && text.length <= maxLength ? [{ id: reply.id, title: reply.title, text }] : []
  })
}

/** Renders a choice of saved replies, and the message, which only a reply can replace. */
async function messageFields(request: OwnRequest, form: FormState): Promise<Part> {
  const { page, t } = request
  const limits = limitsOf(CleanupInput.properties.message)
  const replies = await cleanupReplies(request)
  const none = { value: '', label: t('moderate.cleanup.no-reply') }
  const choices = replies.map(({ id, title }) => ({ value: id, label: title, isChosen: id === form.text('reply') }))
  return html`${
    replies.length > 0 &&
    selectField(page, {
      name: 'reply',
      label: t('moderate.cleanup.reply'),
      choices: [none, ...choices],
      isOptional: true,
    })
  }
${textArea(page, { name: 'message', label: t('moderate.message'), hint: t(replies.length > 0 ? 'moderate.cleanup.message.hint' : 'moderate.cleanup.message.only'), value: form.text('message'), ...limits, rows: 3, isOptional: replies.length > 0, isUnmarked: true, errors: form.errors })}`
}

/** Renders the accounts with their content, and the accounts that are left out with the reason. */
function planPart(page: PageContext, { targets, skipped }: CleanupPlan): Part {
  const { t } = page.language
  const names = (rows: readonly { name: string }[]): string => rows.map(({ name }) => name).join(', ') || '—'
  const table = listTable(page, {
    caption: t('moderate.cleanup.accounts'),
    isInner: true,
    columns: [
      { label: t('moderate.accounts.name') },
      { label: t('moderate.accounts.projects') },
      { label: t('moderate.cleanup.groups'), room: 'mid' },
    ],
    rows: targets.map(({ username, content }) => {
      const groups = names([...content.collections, ...content.organizations])
      return {
        cells: [
          html`<bdi>${username}</bdi><small class="least"><bdi>${groups}</bdi></small>`,
          html`<bdi>${names(content.projects)}</bdi>`,
          html`<bdi>${groups}</bdi>`,
        ],
      }
    }),
  })
  const left = skipped.map(
    ({ id, username, reason }) =>
      html`<li><bdi>${username ?? id}</bdi>: ${t('moderate.cleanup.reason', { reason })}</li>`,
  )
  const reports = [...openReports(targets)].map(
    (id) =>
      html`<li><a href="${pathTo(page, moderatedReport(id))}">${t('reports.takedown.of-report', { id })}</a></li>`,
  )
  return html`<div class="slip sheet">${sheetPart({ id: 'accounts', title: t('moderate.cleanup.accounts'), content: table })}${
    reports.length > 0 &&
    sheetPart({ id: 'reports', title: t('moderate.cleanup.open-reports'), content: html`<ul>${reports}</ul>` })
  }${
    left.length > 0 &&
    sheetPart({ id: 'skipped', title: t('moderate.cleanup.left-out'), content: html`<ul>${left}</ul>` })
  }</div>`
}

async function runCleanup(
  request: OwnRequest,
  area: AccountArea,
  data: AccountsData,
  form: FormState,
): Promise<Outcome> {
  const { deps, viewer, accounts } = request
  const replies = form.text('reply') === '' ? [] : await cleanupReplies(request)
  const reply = replies.find(({ id }) => id === form.text('reply'))?.text
  const typed = form.text('message').trim()
  const message = [typed, reply ?? ''].filter((text) => text !== '').join('\n\n')
  if (message === '') throw validationError('message', 'is required: write a message or choose a saved reply')
  const input = { action: actionOf(form), users: pickedIds(request, data, form), message }
  const cleanup = parseCleanup(checkValues(CleanupInput, input))
  const proof = proofOf((name) => form.text(name))
  const { targets } = await cleanUp({ ...deps, confirmOwner: createConfirmOwner(accounts) }, viewer, {
    ...cleanup,
    proof,
  })
  const counts = { count: String(targets.length) }
  return { done: 'cleaned-up', path: accountsPath(area.path, data.choice), with: counts }
}

/** Renders the cleanups of the last hour with the buttons that undo them. */
export function cleanupsPart(
  { page, viewer, t }: OwnRequest,
  area: AccountArea,
  { choice, cleanups }: AccountsData,
): Part {
  if (cleanups.length === 0) return null
  const rows = cleanups.map(({ id, action, created, moderator, accounts }) => {
    const name = t('moderate.cleanup.done', { action: action as CleanupAction, count: accounts })
    const by = html`<bdi>${moderator ?? t('work.thread.deleted-user')}</bdi>`
    const time = timeAgo(page.language, created, page.now)
    const button =
      mayClean(viewer, action as CleanupAction) &&
      buttonForm(page, {
        action: pathTo(page, accountsPath(area.path, choice)),
        text: t('work.undo'),
        isTight: true,
        label: t('moderate.cleanup.undo', { name }),
        fields: { do: 'undo', cleanup: id },
      })
    return { cells: [html`${name}<small class="least">${by}, ${time}</small>`, by, time, button] }
  })
  const columns = [
    { label: t('moderate.cleanup.action') },
    { label: t('moderate.cleanup.by'), room: 'mid' },
    { label: t('moderate.cleanup.time'), room: 'mid' },
    { label: t('work.undo'), isAction: true },
  ] as const
  const content = listTable(page, { caption: t('moderate.cleanup.recent'), isInner: true, columns, rows })
  return sheetPart({
    id: 'cleanups',
    title: t('moderate.cleanup.recent'),
    text: t('moderate.cleanup.recent.text'),
    content,
  })
}
