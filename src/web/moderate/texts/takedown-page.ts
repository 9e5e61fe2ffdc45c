// Takedown: the target with the reason and the message, then a confirmation with the numbers.

import { isAdmin } from '#features/basics/access/viewer.ts'
import { findProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { DELETABLE_KINDS } from '#features/community/moderation/takedown/delete-content.ts'
import { type Concerned, listTakedowns, type TakedownRow } from '#features/community/moderation/takedown/queries.ts'
import {
  parseTakedown,
  TAKEDOWN_KINDS,
  type Takedown,
  TakedownInput,
  type TakedownKind,
} from '#features/community/moderation/takedown/requests.ts'
import { previewTakedown, takeDown } from '#features/community/moderation/takedown/take-down.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { listAccountsByNames } from '#features/people/users/queries.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { reasonName } from '#web/site/report.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, selectField } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showSection, takedownPath, takedownResult } from '../frame.ts'
import { timeOf } from '../parts.ts'
import { contentDeletionPath } from './deletion-page.ts'
import { takedownFields } from './takedown-fields.ts'
import { BLOCKED_FILES } from './takedown-result.ts'

/** Number of takedowns below the form. */
const RECENT = 20

const TARGET = fields(TakedownInput, {
  id: { label: 'reports.takedown.id', said: 'The ID', hint: 'reports.takedown.id.hint', isCode: true },
})
const REASON = fields(TakedownInput, {
  reference: { label: 'reports.takedown.reference', hint: 'reports.takedown.reference.hint', isOptional: true },
  message: { label: 'reports.takedown.message', hint: 'reports.takedown.message.hint', rows: 5, isOptional: true },
})

export function takedownPage(pages: Pages): void {
  formPage<undefined>(pages, {
    path: PATHS.moderationTakedown,
    name: 'moderateTakedown',
    api: 'takeDown listProjectsOfFiles',
    load: async () => undefined,
    show: showTakedown,
    commands: { choose, preview, confirm },
    labels: { ...TARGET.said, ...REASON.said, kind: 'The kind', reason: 'The reason', visibility: 'The visibility' },
    options: { role: 'moderator' },
  })
}

/** Returns the ID of the content whose ID, slug, name or URL was entered. */
async function idOf({ deps, t }: OwnRequest, kind: string, entered: string): Promise<string> {
  const url = URL.parse(entered)
  if (url !== null && url.host !== new URL(deps.config.http.baseUrl).host)
    throw refusedField('id', t('reports.takedown.elsewhere', { host: url.host }))
  const name = url?.pathname.split('/').findLast((segment) => segment !== '') ?? entered
  if (kind === 'project') return (await findProject(deps, name))?.id ?? name
  if (kind !== 'user') return name
  return (await listAccountsByNames(deps.db, [name]))[0]?.id ?? name
}

/** Returns the takedown of the submitted form. @throws ApiError `validation_error` naming the field */
async function takedownOf(request: OwnRequest, state: FormState): Promise<Takedown> {
  const message = state.text('message')
  const projects = state.list('projects')
  const input = {
    kind: state.text('kind'),
    id: await idOf(request, state.text('kind'), state.text('id').trim()),
    reason: state.text('reason'),
    reference: state.text('reference'),
    visibility: state.text('visibility'),
    block_files: state.text('block_files') === 'true',
    ...(message === '' ? {} : { message }),
    ...(projects.length === 0 ? {} : { projects: [...projects] }),
  }
  return parseTakedown(checkValues(TakedownInput, input), request.deps.taxonomy)
}

/** Shows the form again for the chosen kind, whose visibilities differ. */
const choose = async (request: OwnRequest, _data: undefined, state: FormState) =>
  showTakedown(request, undefined, state)

async function preview(request: OwnRequest, _data: undefined, state: FormState): Promise<Outcome> {
  const { deps, page, texts, t } = request
  const takedown = await takedownOf(request, state)
  const { concerned, blocked } = await previewTakedown(deps, takedown)
  const message = takedown.message === undefined ? undefined : await texts.preview(takedown.message, page)
  return showConfirmation(request, {
    title: t('reports.takedown.confirm'),
    consequences: consequences(page, takedown, { ...concerned, blocked }),
    button: t('reports.takedown.do'),
    cancel: takedownPath(takedown.kind, takedown.id, { report: state.text('report'), reason: takedown.reason }),
    fields: [
      concerned.projects.length > 0 && projectList(page, takedown, concerned),
      message !== undefined &&
        html`<div class="note" role="note" aria-label="${t('reports.takedown.message')}"><div><p class="strong">${t('reports.takedown.message')}</p>${message}</div></div>`,
      hiddenTakedown(takedown, concerned, state),
    ],
  })
}

/** The projects that the moderator has seen, so that a takedown never concerns other projects. */
function hiddenTakedown(takedown: Takedown, { projects }: Concerned, state: FormState): Part {
  const { kind, id, reason, reference, visibility, message = '' } = takedown
  const block_files = String(takedown.block_files)
  const values = { kind, id, reason, reference, visibility, block_files, message, report: state.text('report') }
  return [
    Object.entries(values).map(([name, value]) => hiddenField(name, value)),
    projects.map((project) => hiddenField('projects', project.id)),
  ]
}

async function confirm(request: OwnRequest, _data: undefined, state: FormState): Promise<Outcome> {
  const { deps, accounts, viewer } = request
  const takedown = await takedownOf(request, state)
  const confirmOwner = createConfirmOwner(accounts)
  const { id } = await takeDown({ ...deps, endLostAccess, confirmOwner }, viewer, takedown)
  const report = state.text('report')
  return { done: 'taken-down', path: takedownResult(id), with: report === '' ? {} : { report } }
}

function consequences(page: PageContext, takedown: Takedown, concerned: Concerned & { blocked: number }): Part[] {
  const { t } = page.language
  const { projects, versions, collection, user, blocked } = concerned
  const sum = (of: 'downloads' | 'members' | 'dependents'): number =>
    projects.reduce((total, project) => total + project[of], 0)
  if (collection !== null) return [t('reports.takedown.collection', { name: collection.name })]
  if (user !== null) return [t('reports.takedown.user', { name: user.username })]
  const isUnlisted = takedown.visibility === 'unlisted'
  return [
    isUnlisted
      ? t('reports.takedown.versions', { count: versions.length })
      : t(`reports.takedown.${takedown.visibility === 'rejected' ? 'rejected' : 'withheld'}`, {
          count: projects.length,
        }),
    blocked > 0 && t('reports.takedown.blocks', { count: blocked }),
    t('reports.takedown.downloads', { count: sum('downloads') }),
    t('reports.takedown.dependents', { count: sum('dependents') }),
    t('reports.takedown.members', { count: sum('members') }),
    t('reports.takedown.nothing-deleted'),
  ].filter((item) => item !== false)
}

function projectList(page: PageContext, { kind }: Takedown, { projects, versions }: Concerned): Markup {
  const { t } = page.language
  const numbers = (id: string): string =>
    versions
      .filter(({ project_id }) => project_id === id)
      .map(({ version_number }) => version_number)
      .join(', ')
  return html`<h2>${t(kind === 'file' ? 'reports.takedown.same-file' : 'reports.user.projects')}</h2><ul>${projects.map((project) => html`<li><bdi>${project.name}</bdi> ${statusOf(page, 'project', project.status)} <small class="soft" dir="auto">${numbers(project.id)}</small></li>`)}</ul>`
}

async function showTakedown(request: OwnRequest, _data: undefined, state: FormState) {
  const { deps, page, query, t } = request
  const isNew = !state.isSubmitted
  const kind = TAKEDOWN_KINDS.find((each) => each === (isNew ? query('kind') : state.text('kind'))) ?? 'project'
  const id = isNew ? query('id') : state.text('id')
  const report = isNew ? query('report') : state.text('report')
  const reference = state.text('reference', report === '' ? '' : t('reports.takedown.of-report', { id: report }))
  return showSection(request, {
    section: PATHS.moderationTakedown,
    title: t('reports.takedown.title'),
    form: state,
    body: [
      sheetHead({
        title: t('reports.takedown.title'),
        text: t('reports.takedown.text'),
        action: html`<a class="button" href="${pathTo(page, BLOCKED_FILES)}">${t('reports.blocked.title')}</a>`,
      }),
      form(page, {
        action: pathTo(page, PATHS.moderationTakedown),
        content: [
          hiddenField('report', report),
          targetPart(page, { kind, id, state, mayDelete: isAdmin(request.viewer) }),
          reasonPart(request, { kind, reference, state }),
          html`<div class="part line"><button class="main" name="do" value="preview">${icon(page, 'eye')}${t('reports.takedown.preview')}</button></div>`,
        ],
      }),
      recentTakedowns(page, await listTakedowns(deps.db, { limit: RECENT })),
    ],
  })
}

/** Renders links to the last takedowns, where they can be undone. */
function recentTakedowns(page: PageContext, rows: readonly TakedownRow[]): Part {
  const { t } = page.language
  if (rows.length === 0) return null
  const content = listTable(page, {
    caption: t('reports.takedown.recent'),
    isInner: true,
    columns: [
      { label: t('reports.takedown.target') },
      { label: t('reports.reason'), room: 'mid' },
      { label: t('reports.moderator'), room: 'mid' },
      { label: t('reports.time'), room: 'far' },
    ],
    rows: rows.map(({ id, kind, target, before, reason, actor_name: by, created, undone }) => {
      const name = before.projects[0]?.name ?? before.collection?.name ?? before.user?.username ?? target.slice(0, 12)
      return {
        cells: [
          nameCell({
            name: html`<a href="${pathTo(page, takedownResult(id))}"><bdi>${name}</bdi></a>`,
            details:
              undone === null ? t(`reports.takedown.kind.${kind as TakedownKind}`) : t('reports.takedown.undone'),
            near: timeOf(page, created),
          }),
          reasonName(page.language, reason),
          by !== null && html`<bdi>${by}</bdi>`,
          timeOf(page, created),
        ],
      }
    }),
  })
  return sheetPart({ id: 'recent', title: t('reports.takedown.recent'), content })
}

type Fields = { kind: TakedownKind; state: FormState }

function targetPart(page: PageContext, { kind, id, state, mayDelete }: Fields & { id: string; mayDelete: boolean }) {
  const { t } = page.language
  const { errors } = state
  const isDeletable = mayDelete && id !== '' && DELETABLE_KINDS.some((each) => each === kind)
  const choices = TAKEDOWN_KINDS.map((value) => ({
    value,
    label: t(`reports.takedown.kind.${value}`),
    isChosen: value === kind,
  }))
  const content = html`<div class="pair">${selectField(page, { name: 'kind', label: t('reports.takedown.kind'), errors, choices })}
${TARGET.controls(page, state, { id })}</div>
<div class="line"><button class="tight" name="do" value="choose" formnovalidate>${t('reports.takedown.choose')}</button>${isDeletable && html`<a class="button tight danger" href="${pathTo(page, contentDeletionPath(kind, id))}">${t('reports.deletion.link')}</a>`}</div>`
  return html`${sheetHead({ title: t('reports.takedown.target') })}${sheetPart({ id: 'target', content })}`
}

function reasonPart({ page, deps, query }: OwnRequest, { kind, reference, state }: Fields & { reference: string }) {
  const { t } = page.language
  const { errors } = state
  const reason = state.isSubmitted ? state.text('reason') : query('reason')
  const reasons = deps.taxonomy.reportTypes.map((value) => ({
    value,
    label: reasonName(page.language, value),
    isChosen: value === reason,
  }))
  const content = [
    takedownFields(page, kind, state),
    selectField(page, {
      name: 'reason',
      label: t('reports.reason'),
      hint: t('reports.takedown.reason.hint'),
      errors,
      choices: [
        {
          value: '',
          label: t('reports.takedown.choose-reason'),
          isChosen: !deps.taxonomy.reportTypes.includes(reason),
          isDisabled: true,
        },
        ...reasons,
      ],
    }),
    REASON.controls(page, state, { reference }),
  ]
  return sheetPart({
    id: 'why',
    title: t('reports.takedown.reason'),
    content: html`<div class="stack">${content}</div>`,
  })
}
