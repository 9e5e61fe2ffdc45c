// Project settings: the advisories of a project, and the form of a new one.
import type { FastifyReply } from 'fastify'
import { isModerator } from '#features/basics/access/viewer.ts'
import { listProjectAdvisories } from '#features/catalogue/versions/advisories/queries.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { EMPTY, type FormState, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { advisoryPath, projectSegments } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'
import { projectForm, showProjectSettings, toCanonical } from '../project/settings-frame.ts'
import { ADVISORY_LABELS, advisoryForm, createFrom, loadVersionChoices } from './advisory-form.ts'
import { advisoryTable } from './advisory-table.ts'

const SECTION = '/advisories'
/** Number of advisories on the page, the most recently changed first. */
const SHOWN_MAX = 100

export function projectAdvisoryPages(pages: Pages, taxonomy: Taxonomy): void {
  for (const segment of projectSegments(taxonomy)) {
    pages.own('GET', `/${segment}/:slug/settings${SECTION}`, 'manageAdvisories', showAdvisories, {
      api: 'listAdvisories',
    })
  }
  projectForm(pages, taxonomy, {
    below: `/settings${SECTION}/new`,
    name: 'manageNewAdvisory',
    api: 'createAdvisory',
    show: showNew,
    commands: { create, preview: showNewAgain },
    labels: ADVISORY_LABELS,
  })
}

async function showAdvisories(request: OwnRequest): Promise<FastifyReply> {
  const { page, deps, t } = request
  const data = await loadManagedProject(request)
  const redirect = toCanonical(request, data)
  if (redirect !== undefined) return redirect
  const rows = await listProjectAdvisories(deps.db, data.project.id, SHOWN_MAX)
  const add = html`<a class="button main" href="${pathTo(page, `${data.settings}${SECTION}/new`)}">${icon(page, 'plus')}${t('advisories.new')}</a>`
  return showProjectSettings(request, data, {
    section: SECTION,
    heading: t('advisories.title'),
    text: t('advisories.text'),
    ...(may(data, 'UPLOAD_VERSION') ? { action: add } : {}),
    needs: 'UPLOAD_VERSION',
    form: EMPTY,
    body:
      rows.length === 0
        ? emptyState(page, { icon: 'warning', title: t('advisories.none'), text: t('advisories.none.text') })
        : advisoryTable(page, rows, advisoryPath),
  })
}

async function create(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  await createFrom(request, state, data.project.id)
  const done = isModerator(request.viewer) ? 'advisory-published' : 'advisory-created'
  return { done, path: `${data.settings}${SECTION}` }
}

const showNewAgain = (request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> =>
  showNew(request, data, state)

async function showNew(request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> {
  const { page, t } = request
  const isEditable = may(data, 'UPLOAD_VERSION') || state.isSubmitted
  const action = pathTo(page, `${data.settings}${SECTION}/new`)
  return showProjectSettings(request, data, {
    section: SECTION,
    heading: t('advisories.new'),
    text: t('advisories.new.text'),
    needs: 'UPLOAD_VERSION',
    form: state,
    body:
      isEditable &&
      (await advisoryForm(request, state, { action, versions: await loadVersionChoices(request, data.project.id) })),
  })
}
