// The settings of a project with a gallery, its owner, and a member without permissions.
import sharp from 'sharp'
import type { TestApp } from '../app/test-app.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import { makeWebhook } from './webhook-data.ts'
import { LONG_NAME as LONG, type WorkPeople } from './work-pages.ts'

/** Settings of the project whose pages are listed. */
export const SETTINGS = '/mod/lantern-of-the-deep/settings'

export async function makeSettingsPages(t: TestApp, { owner, reader }: WorkPeople): Promise<ShownPage[]> {
  const project = await t.make.project({ owner, slug: 'lantern-of-the-deep', name: 'Lantern of the deep' })
  await t.make.member({ teamId: project.teamId, accountId: reader.id, permissions: 0 })
  const version = await t.make.version({ project, version_number: '1.0.0' })
  await t.make.file({ project, version, bytes: Buffer.from('lantern'), filename: 'lantern-1.0.0.jar' })
  for (const [ordering, red] of [20, 140, 230].entries()) {
    const background = { r: red, g: 120, b: 90 }
    const bytes = await sharp({ create: { width: 480, height: 270, channels: 3, background } })
      .png()
      .toBuffer()
    await t
      .as(owner)
      .post(`/v3/project/${project.id}/gallery`, bytes, {
        query: { ext: 'png', ordering, title: 'A cave', featured: ordering === 0 },
        headers: { 'content-type': 'image/png' },
      })
  }
  for (const workflow of [
    'release.yml',
    'a-workflow-with-a-name-that-does-not-fit-in-one-line-of-a-narrow-window.yml',
  ]) {
    const build = { issuer: 'https://token.actions.githubusercontent.com', repository: 'ida-marsh/reef-lights' }
    const fields = { ...build, workflow, environment: 'release', ref_pattern: 'refs/tags/*' }
    await t.as(owner).post(`/v3/project/${project.id}/trusted-publisher`, fields)
  }
  for (const summary of ['Sends the session of the launcher to another server', `Deletes ${LONG}`]) {
    const body = { project: project.id, versions: [version.id], summary, details: 'Remove **all** files.' }
    const answer = await t.as(owner).post('/v3/advisory', body)
    if (answer.statusCode !== 201) throw new Error(answer.body)
  }
  const { hook, delivery } = await makeWebhook(t, owner, project.id)
  const at = pagesOf(owner)
  return [
    at('general', 'manageGeneral', SETTINGS),
    at('saved', 'manageGeneral', `${SETTINGS}?done=saved`),
    pagesOf(reader)('reader', 'manageGeneral', SETTINGS),
    at('description', 'manageDescription', `${SETTINGS}/description`),
    at('tags', 'manageTags', `${SETTINGS}/tags`),
    at('links', 'manageLinks', `${SETTINGS}/links`),
    at('badges', 'manageBadges', `${SETTINGS}/badges`),
    at('gallery-settings', 'manageGallery', `${SETTINGS}/gallery`),
    at('versions', 'manageVersions', `${SETTINGS}/versions`),
    at('members', 'manageMembers', `${SETTINGS}/members`),
    at('publishing', 'managePublishing', `${SETTINGS}/publishing`),
    at('advisories', 'manageAdvisories', `${SETTINGS}/advisories`),
    at('new-advisory', 'manageNewAdvisory', `${SETTINGS}/advisories/new`),
    at('webhooks', 'manageWebhooks', `${SETTINGS}/webhooks`),
    at('webhook', 'manageWebhooks', `${SETTINGS}/webhooks?webhook=${hook}`),
    at('webhook-delivery', 'manageWebhooks', `${SETTINGS}/webhooks?webhook=${hook}&delivery=${delivery}`),
    at('visibility', 'manageVisibility', `${SETTINGS}/visibility`),
    at('organization-settings', 'manageOrganization', `${SETTINGS}/organization`),
    at('transfer', 'manageTransfer', `${SETTINGS}/transfer`),
    at('deletion', 'manageDeletion', `${SETTINGS}/delete`),
  ]
}
