// Adds a project to collections of the user, or follows it.
import type { FastifyReply } from 'fastify'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { followProject, unfollowProject } from '#features/catalogue/follows/follow-project.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { createCollection } from '#features/community/collections/create-collection.ts'
import { listSavedIn } from '#features/community/collections/queries.ts'
import { CollectionInput } from '#features/community/collections/requests.ts'
import { saveProject } from '#features/community/collections/update-collection.ts'
import { ApiError } from '#lib/errors.ts'
import { attempt, checkValues, errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { checkbox, errorSummary, fieldset, form, hiddenField, textField } from '#web/ui/parts/fields.ts'
import { slip } from '#web/ui/parts/lists.ts'
import { rowOfProject } from '../lists/rows.ts'
import { loadProject, type ProjectData } from './project-data.ts'

type Typed = { name: string; chosen: ReadonlySet<string> | undefined }

export async function showSave(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { viewer, toSignIn } = request
  const data = await loadProject(request, project)
  if (viewer === null) return toSignIn()
  return showForm(request, viewer, data, { name: '', chosen: undefined })
}

/** Adds the project to the chosen collections, removes it from the others in the form, and creates a new collection if named. */
export async function saveFromPage(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, viewer, page, field, fields, redirect, toSignIn } = request
  const data = await loadProject(request, project)
  if (viewer === null) return toSignIn(`${data.path}/save`)
  const chosen = new Set(fields('collection'))
  const shown = new Set(fields('shown'))
  const name = field('name').trim()
  const projectId = data.project.id
  const { refusal } = await attempt(
    async () => {
      // Creates the collection first, so that an invalid name leaves everything unchanged.
      if (name !== '')
        await createCollection(deps, viewer, checkValues(CollectionInput, { name, projects: [projectId] }))
      for (const { id, is_saved } of await listSavedIn(deps.db, viewer.id, projectId)) {
        const isSaved = chosen.has(id)
        if (shown.has(id) && isSaved !== is_saved)
          await saveProject(deps, viewer, { collectionId: id, projectId, isSaved })
      }
    },
    { name: page.language.t('site.save.name') },
  )
  if (refusal !== undefined) return showForm(request, viewer, data, { name, chosen }, refusal)
  return redirect(data.path, 'collected')
}

async function showForm(request: PageRequest, viewer: Viewer, data: ProjectData, typed: Typed, refusal?: FormRefusal) {
  const { deps, page, show, language } = request
  const { view, path } = data
  const errors = errorsOf({ refusal })
  const collections = await listSavedIn(deps.db, viewer.id, view.id)
  const boxes = collections.map(({ id, name, status, is_saved }) => {
    const isChecked = typed.chosen === undefined ? is_saved : typed.chosen.has(id)
    const state = status === 'listed' ? {} : { hint: language.t(`site.collection.${status}`) }
    return html`${hiddenField('shown', id)}${checkbox({ name: 'collection', value: id, isChecked, label: html`<bdi>${name}</bdi>`, ...state })}
`
  })
  const list: Markup | null =
    boxes.length === 0
      ? null
      : fieldset(page, { legend: language.t('site.save.in'), name: 'collections', content: html`${boxes}` })
  const body = slip(html`<h1>${language.rich('site.save.title', { name: html`<bdi>${view.name}</bdi>` })}</h1>
${form(page, {
  action: pathTo(page, `${path}/save`),
  content: html`${errorSummary(page, errors)}
${list}
${textField(page, { name: 'name', label: language.t(boxes.length === 0 ? 'site.save.first' : 'site.save.new'), hint: language.t('site.save.hint'), value: typed.name, maxLength: 64, isOptional: boxes.length > 0, errors })}
<button class="main">${icon(page, 'bookmark')}${language.t('site.save')}</button>`,
})}
${
  boxes.length > 0 &&
  html`<p><a href="${pathTo(page, PATHS.dashboardCollections)}">${language.t('site.save.manage')}</a></p>
`
}<p><a href="${pathTo(page, path)}">${language.rich('site.report.back', { name: html`<bdi>${view.name}</bdi>` })}</a></p>`)
  return show({
    title: language.t('site.save.title', { name: view.name }),
    body,
    isUnlisted: true,
    className: 'page account',
    refusal,
  })
}

/** Follows or unfollows a project and leads back to it. Ignores a repeated form. */
export async function followFromPage(
  { deps, viewer, redirect, toSignIn }: PageRequest,
  project: CachedProject,
  isFollowing: boolean,
): Promise<FastifyReply> {
  const { path } = rowOfProject(project)
  if (viewer === null) return toSignIn(path)
  const act = isFollowing ? followProject(deps, viewer, project.id) : unfollowProject(deps, viewer, project.id)
  await act.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.kind !== 'invalid_input') throw error
  })
  return redirect(path, isFollowing ? 'followed' : 'unfollowed')
}
