// The collections of the user: the list, a new collection, and the deletion of one.
import type { FastifyReply } from 'fastify'
import { mustVerifyEmail } from '#features/basics/access/email-policy.ts'
import { getQuota } from '#features/basics/limits/quota.ts'
import { createCollection } from '#features/community/collections/create-collection.ts'
import { listCollectionsOf } from '#features/community/collections/queries.ts'
import { deleteCollection } from '#features/community/collections/update-collection.ts'
import { type CollectionView, toCollectionView } from '#features/community/collections/views.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { collectionPath, listPage, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, face, pager } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'
import { limitNotes } from '../limits.ts'
import { statusLabel } from './editor-view.ts'
import { COLLECTION_FIELDS, loadManagedCollection, type ManagedCollection } from './managed-collection.ts'

const PAGE_SIZE = 50

export function ownCollectionsPage(pages: Pages): void {
  pages.own('GET', PATHS.dashboardCollections, 'ownCollections', showCollections)
}

async function showCollections(request: OwnRequest): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const all = await listCollectionsOf(deps.db, viewer, viewer.id)
  const { max } = await getQuota(deps.db, deps.config, viewer, 'collections')
  const { shown, pages } = listPage(request, all, { path: PATHS.dashboardCollections, size: PAGE_SIZE })
  const create = html`<a class="button main" href="${pathTo(page, PATHS.newCollection)}">${icon(page, 'plus')}${t('collections.new')}</a>`
  const none = emptyState(page, {
    icon: 'bookmark',
    title: t('collections.none'),
    text: t('collections.none-text'),
    action: create,
  })
  return showDashboardPage(request, {
    path: PATHS.dashboardCollections,
    title: t('collections.title'),
    facts: [
      max === null ? t('collections.count', { count: all.length }) : t('collections.limit', { count: all.length, max }),
    ],
    ...(all.length === 0 ? {} : { tools: create }),
    body: html`${sheetHead({ title: t('collections.title'), text: t('collections.text') })}
${all.length === 0 ? none : collectionTable(page, shown.map(toCollectionView(deps.config)))}
${pager(page, pages)}`,
  })
}

function collectionTable(page: PageContext, collections: readonly CollectionView[]): Markup {
  const { language, now } = page
  const { t } = language
  return listTable(page, {
    caption: t('collections.title'),
    columns: [
      { label: t('publish.column.name') },
      { label: t('people.visibility'), room: 'mid' },
      { label: t('publish.projects'), isNumber: true, room: 'mid' },
      { label: t('publish.column.updated'), room: 'far' },
      { label: t('collections.view'), isAction: true },
    ],
    rows: collections.map(({ id, name, icon_url, status, projects, updated }) => {
      const path = collectionPath(id)
      const [state, changed] = [statusLabel(page, status), timeAgo(language, new Date(updated), now)]
      return {
        cells: [
          nameCell({
            tile: face({ name, url: icon_url, isSquare: true }),
            href: pathTo(page, `${path}/edit`),
            name,
            least: [state, t('publish.projects.count', { count: projects.length })],
            near: changed,
          }),
          state,
          wholeNumber(language, projects.length),
          changed,
          html`<a class="button tight" href="${pathTo(page, path)}">${icon(page, 'eye')}<span class="vh">${t('collections.view')}: ${name}</span></a>`,
        ],
      }
    }),
  })
}

export function newCollectionPage(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.newCollection,
    name: 'publishNewCollection',
    api: 'getCollectionLimit',
    load: async () => null,
    show: showNewCollection,
    commands: { create },
    labels: COLLECTION_FIELDS.said,
  })
}

async function create({ deps, viewer }: OwnRequest, _data: null, state: FormState): Promise<Outcome> {
  const id = await createCollection(deps, viewer, COLLECTION_FIELDS.read(state))
  return { done: 'collection-created', path: `${collectionPath(id)}/edit` }
}

async function showNewCollection(request: OwnRequest, _data: null, state: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const content = html`${COLLECTION_FIELDS.controls(page, state, {}, { name: { hasFocus: !state.isSubmitted } })}
<div class="line"><a class="button" href="${pathTo(page, PATHS.dashboardCollections)}">${t('work.cancel')}</a><button class="main" name="do" value="create">${t('collections.create')}</button></div>`
  return showWork(request, {
    title: t('collections.new'),
    subject: {
      name: t('collections.new'),
      crumbs: [{ path: PATHS.dashboardCollections, label: t('collections.title') }],
    },
    form: state,
    notes: await limitNotes(request, {
      kind: 'collections',
      unverified: mustVerifyEmail(deps, viewer) && t('collections.new.unverified'),
      full: (max) => t('collections.new.full', { max }),
    }),
    body: html`${sheetHead({ title: t('collections.new.heading'), text: t('collections.new.text') })}
${formPart(page, { id: 'collection', path: PATHS.newCollection, content })}`,
  })
}

export function collectionDeletionPage(pages: Pages): void {
  formPage<ManagedCollection>(pages, {
    path: '/collection/:id/delete',
    name: 'manageCollectionDeletion',
    api: 'deleteCollection',
    load: async (request) => {
      const data = await loadManagedCollection(request)
      if (!data.isCreator) throw notFound('collection')
      return data
    },
    show: showDeletion,
    commands: { confirm: remove },
    labels: { name: 'The name' },
  })
}

async function remove({ deps, viewer }: OwnRequest, { view }: ManagedCollection, state: FormState): Promise<Outcome> {
  if (typed(state.text('name')) !== typed(view.name)) throw validationError('name', `must be ${view.name}`)
  await deleteCollection(deps, viewer, view.id)
  return { done: 'collection-deleted', path: PATHS.dashboardCollections }
}

/** Returns a name as a page shows it, with one space between words. */
const typed = (name: string): string => name.normalize().replaceAll(/\s+/g, ' ').trim()
async function showDeletion(request: OwnRequest, { view, path, statuses }: ManagedCollection, state: FormState) {
  const { page, t } = request
  const edit = `${path}/edit`
  const href = `${pathTo(page, edit)}#status`
  const question = {
    title: t('collections.delete.title', { name: view.name }),
    consequences: [t('collections.delete.list', { count: view.projects.length }), t('collections.delete.links')],
    ...(view.status === 'listed' && statuses.includes('unlisted')
      ? { instead: { text: t('collections.unlist.text'), href, label: t('collections.unlist') } }
      : {}),
    path: `${path}/delete`,
    button: t('people.delete.button', { name: view.name }),
    cancel: edit,
    typed: view.name,
  }
  return showConfirmation(request, question, state)
}
