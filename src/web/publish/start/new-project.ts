// The form for a new project. It creates a draft, which the settings pages complete.

import type { FastifyReply } from 'fastify'
import { mustAwaitApproval, mustVerifyEmail } from '#features/basics/access/email-policy.ts'
import { listSimilarProjects } from '#features/catalogue/projects/similar/queries.ts'
import { suggestSlug } from '#features/catalogue/projects/similar/suggest-slug.ts'
import { type SimilarProjectView, toSimilarProjectView } from '#features/catalogue/projects/similar/views.ts'
import { createProject } from '#features/catalogue/publishing/create-project.ts'
import { listOrganizationsWith } from '#features/community/organizations/queries.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { offeredTypes, PATHS, projectPath } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { typeName } from '#web/site/names.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { hiddenField, selectField } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { PROJECT_FIELDS } from '../project/general.ts'
import { fileForm, ownerField } from './file-form.ts'

const LABELS = {
  ...PROJECT_FIELDS.said,
  organization_id: 'The owner',
  license_id: 'The licence',
  project_type: 'The project type',
  requested_status: 'The visibility',
}
/** Value of the choice to decide about the licence later. Until then, all rights are reserved. */
const LATER = 'later'
/** Licences that most projects use. The settings offer all licences. */
const LICENSES = [
  'MIT',
  'Apache-2.0',
  'BSD-3-Clause',
  'MPL-2.0',
  'LGPL-3.0-only',
  'GPL-3.0-only',
  'AGPL-3.0-only',
  'CC0-1.0',
]
const VISIBILITIES = ['approved', 'unlisted', 'private'] as const

export type Start = { organizations: { id: string; name: string }[] }

export function newProjectPages(pages: Pages): void {
  formPage<Start>(pages, {
    path: PATHS.newProject,
    name: 'publishNewProject',
    api: 'createProject checkProject listSimilarProjects listLicenses getProjectLimit',
    load: loadStart,
    show: showNewProject,
    commands: {
      create: createDraft,
      // Shows the page again: with similar names, and with a URL if there is none.
      check: async (request, data, state) => showNewProject(request, data, state),
    },
    labels: LABELS,
  })
}

export async function loadStart({ deps, viewer }: OwnRequest): Promise<Start> {
  return { organizations: await listOrganizationsWith(deps.db, viewer.id, 'ADD_PROJECT') }
}

/** Returns the URL that the user chose. A URL that the page suggested follows the name until the user edits it. */
function chosenSlug(state: FormState): string {
  const slug = state.text('slug').trim()
  return slug === state.text('suggested') ? '' : slug
}

async function createDraft({ deps, viewer }: OwnRequest, _data: Start, state: FormState): Promise<Outcome> {
  const name = state.text('name')
  const chosen = { slug: chosenSlug(state), license: state.text('license_id') || LATER }
  const data = {
    name,
    slug: chosen.slug === '' ? await suggestSlug(deps.db, name) : chosen.slug,
    summary: state.text('summary'),
    description: '',
    categories: [],
    is_draft: true,
    license_id: chosen.license === LATER ? 'arr' : chosen.license,
    license_decided: chosen.license !== LATER,
    project_type: state.text('project_type') || null,
    requested_status: state.text('requested_status') || 'approved',
    organization_id: state.text('organization_id') || null,
  }
  const project = await createProject(deps, viewer, async (describe) => ({
    description: await describe(data),
    parts: [],
  }))
  return { done: 'created', path: `${projectPath(viewOf(project))}/settings/description` }
}

export async function showNewProject(request: OwnRequest, data: Start, state: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const name = state.text('name').trim()
  const isNamed = state.isSubmitted && name !== ''
  const suggestion = isNamed ? await suggestSlug(deps.db, name) : ''
  const rows = isNamed ? await listSimilarProjects(deps.db, viewer, { name: name.slice(0, 64) }) : []
  const similar = rows.map((row) => toSimilarProjectView(row, deps))
  const isWaiting = mustAwaitApproval(viewer)
  return showWork(request, {
    title: t('publish.new.title'),
    subject: { name: t('publish.new.title'), crumbs: [{ path: PATHS.dashboard, label: t('publish.dashboard') }] },
    form: state,
    notes: [
      isWaiting && note(page, 'warn', html`<p>${t('settings.awaits-approval')}</p>`),
      mustVerifyEmail(deps, viewer) && note(page, 'warn', html`<p>${t('publish.new.unverified')}</p>`),
    ],
    body: html`${sheetHead({ title: t('publish.new.heading'), text: t('publish.new.text') })}
${(!isWaiting || state.isSubmitted) && [fileForm(request, data, state), draftForm(request, data, { state, suggestion, similar })]}`,
  })
}

type Shown = { state: FormState; suggestion: string; similar: readonly SimilarProjectView[] }

function draftForm(request: OwnRequest, { organizations }: Start, { state, suggestion, similar }: Shown): Markup {
  const { page, deps, t } = request
  const { errors } = state
  const isTaken = errors.some(({ field }) => field === 'slug')
  const slugHint =
    isTaken && suggestion !== '' ? t('publish.new.slug-free', { slug: suggestion }) : t('publish.new.slug-hint')
  const types = offeredTypes(deps.taxonomy)
  const select = (of: {
    name: string
    label: string
    hint?: Part
    choices: readonly (readonly [string, string])[]
    first: string
  }) =>
    selectField(page, {
      ...of,
      errors,
      choices: of.choices.map(([value, label]) => ({
        value,
        label,
        isChosen: state.text(of.name, of.first) === value,
      })),
    })
  const text: FormState['text'] = (name, current) => (name === 'slug' ? chosenSlug(state) : state.text(name, current))
  const content = html`${PROJECT_FIELDS.controls(
    page,
    { ...state, text },
    {},
    {
      name: {
        after: html`<div class="line"><button class="tight" name="do" value="check" formnovalidate>${t('publish.new.check')}</button></div>
${similarList(page, state, similar)}
${hiddenField('suggested', suggestion)}`,
      },
      slug: {
        hint: slugHint,
        suggestion,
        isOptional: true,
        after: select({
          name: 'project_type',
          label: t('publish.new.type'),
          hint: t('publish.new.type-hint'),
          first: types[0] ?? '',
          choices: types.map((type) => [type, typeName(page.language, type)]),
        }),
      },
    },
  )}
${ownerField(request, organizations, { name: 'organization_id', state })}
${select({ name: 'license_id', label: t('publish.new.license'), hint: t('publish.new.license-hint'), first: LATER, choices: [[LATER, t('publish.new.license-later')], ['arr', t('publish.new.license-arr')], ...LICENSES.map((id) => [id, id] as const)] })}
${select({ name: 'requested_status', label: t('publish.new.visibility'), first: 'approved', choices: VISIBILITIES.map((status) => [status, t(`work.project.${status}`)]) })}
<div class="line"><button class="main" name="do" value="create">${t('publish.new.create')}</button></div>`
  return formPart(page, { id: 'draft', path: PATHS.newProject, title: t('publish.file.form'), content })
}

/** Renders the projects with similar names. They never block the form. */
function similarList(page: PageContext, { isSubmitted }: FormState, similar: readonly SimilarProjectView[]): Part {
  const { t, rich } = page.language
  if (!isSubmitted) return null
  if (similar.length === 0) return html`<p class="small soft" id="similar">${t('publish.similar.none')}</p>`
  const items = similar.map((project) => {
    const link = html`<a href="${pathTo(page, projectPath(project))}"><bdi>${project.name}</bdi></a>`
    const reasons = project.reasons.map((reason) => t(`publish.similar.${reason}`)).join(', ')
    const values = { project: link, count: wholeNumber(page.language, project.downloads) }
    const text =
      project.ownership === null
        ? rich('publish.similar.item', values)
        : rich('publish.similar.item-by', { ...values, owner: html`<bdi>${project.ownership.name}</bdi>` })
    return html`<li class="todo">${icon(page, 'copy')}<span>${text}</span><small>${reasons}</small></li>`
  })
  return html`<div id="similar"><p class="strong">${t('publish.similar.title')}</p><ul class="checks">${items}</ul></div>`
}
