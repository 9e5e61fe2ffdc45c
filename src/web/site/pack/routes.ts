// The routes of packs: the page that composes one, and the pages and files of saved packs.
import type { FastifyReply } from 'fastify'
import { savePack as saveAgain } from '#features/community/packs/update-pack.ts'
import { COSTS } from '#platform/http/route-config.ts'
import { attempt } from '#web/kit/forms/read-form.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest, WebDeps } from '#web/kit/request.ts'
import { requireToken } from '#web/kit/safety.ts'
import { createPack, showPack, showPackOf } from './pack-page.ts'
import { namingProject, savePack } from './save-form.ts'
import {
  sendLatestMrpack,
  sendNumberedMrpack,
  sendSavedIndex,
  sendSavedMetafile,
  sendSavedPackToml,
  sendServerPack,
} from './saved-files.ts'
import { type SavedPack, showSavedPack, withSavedPack } from './saved-pack.ts'

export function packPages(pages: Pages, { fileRules }: WebDeps['deps']): void {
  pages.open('GET', PATHS.pack, 'sitePack', showPack, {
    cost: COSTS.resolve,
    shows: 'A pack that the visitor composes',
    api: 'resolveItems createLock getLock getLockMrpack getLockPack getLockIndex getLockMetafile downloadLockServer',
  })
  pages.open('POST', PATHS.packFiles, 'siteCreatePack', createPack, {
    cost: COSTS.resolve,
    // Visitors without an account create packs too.
    needsConsent: false,
  })
  pages.open('POST', PATHS.packSave, 'siteSavePack', (request) => savePack(request, showPackOf), {
    cost: COSTS.resolve,
  })
  const path = '/pack/:user/:slug'
  pages.open(
    'GET',
    path,
    'siteSavedPack',
    withSavedPack((request, saved) => showSavedPack(request, saved)),
    {
      cached: 'until-changed',
      shows: 'A pack that a user has saved, with its files',
      api: 'getPack listPackSaves savePack',
    },
  )
  pages.open('POST', `${path}/save`, 'siteSavePackAgain', withSavedPack(saveFromPage), {
    cost: COSTS.resolve,
    checksToken: true,
  })
  const mrpack = fileRules.extensions['mrpack']?.content_type ?? 'application/zip'
  const file = (name: string, below: string, send: (request: PageRequest) => Promise<FastifyReply>, cost: number) =>
    pages.open('GET', `${path}/${below}`, name, send, { shows: false, budget: 'api', cost })
  file('siteLatestMrpack', 'latest.mrpack', sendLatestMrpack(mrpack), COSTS.resolve)
  file('siteNumberedMrpack', ':number.mrpack', sendNumberedMrpack(mrpack), COSTS.resolve)
  file('siteSavedPackToml', 'pack.toml', sendSavedPackToml, COSTS.resolve)
  file('siteSavedIndex', 'index-:number.toml', sendSavedIndex, COSTS.resolve)
  file('siteServerPack', 'server.zip', sendServerPack, 1)
  file('siteSavedMetafile', ':folder/:file', sendSavedMetafile, 1)
}

/** Chooses the newest versions again. */
async function saveFromPage(request: PageRequest, saved: SavedPack): Promise<FastifyReply> {
  const { req, deps, viewer, redirect, toSignIn } = request
  const { pack, path } = saved
  requireToken(req)
  if (viewer === null) return toSignIn(path)
  const setup = { gameVersion: pack.game_version, loader: pack.loader ?? '' }
  const { value, refusal } = await attempt(() => namingProject(request, setup, () => saveAgain(deps, viewer, pack.id)))
  return refusal === undefined
    ? redirect(path, value.isNew ? 'pack-updated' : 'pack-same')
    : showSavedPack(request, saved, refusal)
}
