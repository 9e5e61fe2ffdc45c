// Saves the pack that a visitor composes to their account: as a new pack, or as the next save of a pack that they edit.
import type { FastifyReply } from 'fastify'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { createPack } from '#features/community/packs/create-pack.ts'
import { findPack, type PackReadRow } from '#features/community/packs/queries.ts'
import { PackInput } from '#features/community/packs/requests.ts'
import { updatePack } from '#features/community/packs/update-pack.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { attempt, checkValues, errorsOf, type FormRefusal, refusedField } from '#web/kit/forms/read-form.ts'
import { PATHS, savedPackPath, signInPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { errorSummary, form, hiddenField } from '#web/ui/parts/fields.ts'
import { setupName } from '../names.ts'
import { type PackState, packPath, packValues, readPack } from './pack-state.ts'

const LABELS = {
  name: 'The name of the pack',
  projects: 'The list of projects',
  loader: 'The loader',
  loader_version: 'The version of the loader',
  game_version: 'The game version',
}

/** Returns the saved pack that the visitor edits, if it is theirs. */
export async function findEdited({ deps, viewer }: PageRequest, state: PackState): Promise<PackReadRow | undefined> {
  if (state.pack === '' || viewer === null) return undefined
  const pack = await findPack(deps.db, viewer, state.pack)
  return pack?.account_id === viewer.id ? pack : undefined
}

/**
 * Runs a command that chooses versions for a pack.
 * @throws ApiError with a message in the language of the page that names the project without a version
 */
export async function namingProject<T>(
  { deps, language }: PageRequest,
  setup: { gameVersion: string; loader: string },
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ApiError) || typeof error.details?.['project_id'] !== 'string') throw error
    const { project_id, reason } = error.details
    const [project] = await listVisibleProjects(deps, null, [String(project_id)])
    if (project === undefined) throw error
    const { name } = viewOf(project)
    const message =
      reason === 'no_version'
        ? language.t('site.pack.refused.no-version', { name, setup: setupName(language, setup) })
        : `${name}: ${language.t(`site.pack.state.${reason as 'missing' | 'conflict' | 'limit'}`)}`
    throw refusedField('projects', message)
  }
}

type Refused = (request: PageRequest, state: PackState, refusal: FormRefusal) => Promise<FastifyReply>

/** `showRefused` shows the page with the pack again. */
export async function savePack(request: PageRequest, showRefused: Refused): Promise<FastifyReply> {
  const { deps, viewer, field, redirect, toSignIn } = request
  const state = readPack(request, field, () => true)
  if (viewer === null) return toSignIn(packPath(state))
  const edited = await findEdited(request, state)
  const { projects, gameVersion: game_version, loader, loaderVersion, name } = state
  const setup = { loader: loader === '' ? null : loader, loader_version: loaderVersion === '' ? null : loaderVersion }
  const { value: id, refusal } = await attempt(
    () =>
      namingProject(request, { gameVersion: game_version, loader }, async () => {
        const values = checkValues(PackInput, { name, projects, game_version, ...setup })
        if (edited === undefined) return createPack(deps, viewer, values)
        await updatePack(deps, viewer, { id: edited.id, patch: values })
        return edited.id
      }),
    LABELS,
  )
  if (refusal !== undefined) return showRefused(request, state, refusal)
  const saved = await findPack(deps.db, viewer, id)
  const [user] = await listCachedUsers(deps, [viewer.id])
  if (saved === undefined || user === undefined) throw notFound('pack')
  return redirect(savedPackPath(user.username, saved.slug), 'pack-saved')
}

/** Shows the button that saves the pack; visitors without a session are led to the sign-in page and back. */
export function saveForm(
  { page, viewer }: PageRequest,
  state: PackState,
  { edited, refusal }: { edited: PackReadRow | undefined; refusal: FormRefusal | undefined },
): Part {
  const { t } = page.language
  const text = html`<h2>${t('site.pack.save')}</h2>
<p class="soft">${edited === undefined ? t('site.pack.save.text') : t('site.pack.save.next', { number: edited.number + 1 })}</p>`
  if (viewer === null)
    return html`<section class="needed stack">${text}<p><a class="button" href="${pathTo(page, signInPath(packPath(state)))}">${t('site.pack.save.sign-in')}</a></p></section>`
  const fields = Object.entries({ name: '', loader_version: '', ...packValues(state) })
  const label = edited === undefined ? t('site.pack.save.do') : t('site.pack.save.to', { name: edited.name })
  return html`<section class="needed stack" id="save">${text}${errorSummary(page, errorsOf({ refusal }))}
${form(page, {
  action: pathTo(page, PATHS.packSave),
  content: html`${fields.map(([name, value]) => hiddenField(name, value))}<button class="main">${icon(page, 'bookmark')}${label}</button>`,
})}</section>`
}
