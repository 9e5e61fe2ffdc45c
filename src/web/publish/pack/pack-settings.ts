// The settings of a pack: name, address and visibility, and its deletion. The page that composes packs changes the projects.
import type { FastifyReply } from 'fastify'
import { isModerator } from '#features/basics/access/viewer.ts'
import { findPackBySlug, type PackReadRow } from '#features/community/packs/queries.ts'
import { PackPatch } from '#features/community/packs/requests.ts'
import { deletePack, updatePack } from '#features/community/packs/update-pack.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, savedPackPath } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { statusLabel } from '../collection/editor-view.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'

type PackStatus = PackReadRow['status']
type ManagedPack = {
  pack: PackReadRow
  username: string
  /** Path of the public page. */
  path: string
  /** Whether the viewer can edit everything. Moderators can only change the status. */
  isOwner: boolean
  /** Statuses that the viewer can choose now. */
  statuses: readonly PackStatus[]
}

/** Statuses that an owner can choose. A status that a moderator has set stays. */
const OWN_STATUSES: readonly PackStatus[] = ['listed', 'unlisted']

const PACK_FIELDS = fields(PackPatch, {
  name: { label: 'manage.name' },
  slug: { label: 'manage.slug', said: 'The URL', hint: 'collections.packs.slug-hint', isName: true },
})

/** Returns the pack of the path. @throws ApiError 404 unless the viewer is its owner or a moderator */
async function loadPack({ deps, viewer, param }: OwnRequest): Promise<ManagedPack> {
  const owner = await getCachedUser(deps, param('user'))
  const pack = await findPackBySlug(deps.db, viewer, { accountId: viewOf(owner).id, slug: param('slug') })
  const isOwner = pack?.account_id === viewer.id
  if (pack === undefined || !(isOwner || isModerator(viewer))) throw notFound('pack')
  const statuses: readonly PackStatus[] = isModerator(viewer)
    ? [...OWN_STATUSES, 'private', 'rejected']
    : OWN_STATUSES.includes(pack.status)
      ? OWN_STATUSES
      : []
  return { pack, username: owner.username, path: savedPackPath(owner.username, pack.slug), isOwner, statuses }
}

export function packSettingsPage(pages: Pages): void {
  formPage<ManagedPack>(pages, {
    path: '/pack/:user/:slug/edit',
    name: 'managePack',
    shows: 'Name, address and visibility of a saved pack',
    api: 'createPack updatePack',
    load: loadPack,
    show: showSettings,
    commands: { save },
    labels: { ...PACK_FIELDS.said, status: 'The visibility' },
  })
}

function storedOf({ pack, isOwner, statuses }: ManagedPack): Record<string, string> {
  return { ...(isOwner ? PACK_FIELDS.stored(pack) : {}), ...(statuses.length > 0 ? { status: pack.status } : {}) }
}

async function save({ deps, viewer }: OwnRequest, data: ManagedPack, state: FormState): Promise<Outcome> {
  const patch = checkValues(PackPatch, state.edited(storedOf(data)))
  const { id, revision, slug } = data.pack
  if (Object.keys(patch).length > 0) await updatePack(deps, viewer, { id, patch, revision })
  return { done: 'saved', path: `${savedPackPath(data.username, (patch.slug ?? slug).toLowerCase())}/edit` }
}

function showSettings(request: OwnRequest, data: ManagedPack, state: FormState): FastifyReply {
  const { page, t } = request
  const { pack, path, isOwner, statuses } = data
  const stored = storedOf(data)
  const labels: Record<string, string> = { ...PACK_FIELDS.labels(page), status: t('people.visibility') }
  const visibility: Markup | false =
    statuses.length > 0 &&
    optionCards({
      legend: t('people.visibility'),
      name: 'status',
      options: statuses.map((value) => ({
        value,
        label: statusLabel(page, value),
        text: t(`collections.packs.status.${value}`),
        isChosen: state.text('status', pack.status) === value,
      })),
    })
  const tools = html`<a class="button" href="${pathTo(page, path)}">${icon(page, 'eye')}${t('collections.packs.view')}</a>${isOwner && html`<a class="button" href="${pathTo(page, `${path}/delete`)}">${icon(page, 'trash')}${t('collections.packs.delete')}</a>`}`
  return showWork(request, {
    title: t('collections.packs.edit.title', { name: pack.name }),
    subject: {
      name: pack.name,
      facts: [statusLabel(page, pack.status), t('site.saved-pack.number', { number: pack.number })],
      tools,
      crumbs: [{ path: PATHS.dashboardPacks, label: t('collections.packs.title') }],
    },
    sections: dashboardSections(page, PATHS.dashboardPacks),
    form: state,
    body: html`${sheetHead({ title: t('collections.packs.edit'), text: t('collections.packs.edit.text') })}
${saveForm(page, {
  path: `${path}/edit`,
  id: 'pack',
  content: html`${editBase(state, stored)}${conflictNote(page, state, labels)}
${isOwner && PACK_FIELDS.controls(page, state, pack)}
${visibility}`,
})}`,
  })
}

export function packDeletionPage(pages: Pages): void {
  formPage<ManagedPack>(pages, {
    path: '/pack/:user/:slug/delete',
    name: 'managePackDeletion',
    api: 'deletePack',
    load: async (request) => {
      const data = await loadPack(request)
      if (!data.isOwner) throw notFound('pack')
      return data
    },
    show: showDeletion,
    commands: { confirm: remove },
    labels: { name: 'The name' },
  })
}

async function remove({ deps, viewer }: OwnRequest, { pack }: ManagedPack, state: FormState): Promise<Outcome> {
  if (typed(state.text('name')) !== typed(pack.name)) throw validationError('name', `must be ${pack.name}`)
  await deletePack(deps, viewer, pack.id)
  return { done: 'pack-deleted', path: PATHS.dashboardPacks }
}

/** Returns a name as a page shows it, with one space between words. */
const typed = (name: string): string => name.normalize().replaceAll(/\s+/g, ' ').trim()

async function showDeletion(request: OwnRequest, { pack, path, statuses }: ManagedPack, state: FormState) {
  const { page, t } = request
  const edit = `${path}/edit`
  const href = `${pathTo(page, edit)}#status`
  const question = {
    title: t('collections.packs.delete.title', { name: pack.name }),
    consequences: [t('collections.packs.delete.saves', { count: pack.number }), t('collections.packs.delete.links')],
    ...(pack.status === 'listed' && statuses.includes('unlisted')
      ? { instead: { text: t('collections.packs.unlist.text'), href, label: t('collections.unlist') } }
      : {}),
    path: `${path}/delete`,
    button: t('people.delete.button', { name: pack.name }),
    cancel: edit,
    typed: pack.name,
  }
  return showConfirmation(request, question, state)
}
