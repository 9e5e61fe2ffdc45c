// A demo catalogue and every page of the public site over it, for the browser tests.
import { sql } from 'kysely'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import type { TestApp } from '../app/test-app.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'

export type SitePages = { pages: ShownPage[]; project: string; projectId: string }

/** Fills the catalogue and names the pages; the project is the most downloaded mod that others need. */
export async function makeSitePages(t: TestApp, projects = 120): Promise<SitePages> {
  const { db } = t.deps
  await seedCatalogue(t.deps, projects)
  await updateSettings(t.deps, COMMAND, {
    announcement:
      'On Sunday from five to six this service is read-only: files can be downloaded, nothing can be published.',
    about: '## Who we are\n\nPeople who like **lanterns**. [Rules](/rules) apply.',
    rules: '1. Be kind.\n2. Publish what is yours.\n\n> In doubt, ask.',
  })
  await t.searchable()
  const found = await db
    .selectFrom('project')
    .innerJoin('version', 'version.project_id', 'project.id')
    .innerJoin('team_member', 'team_member.team_id', 'project.team_id')
    .innerJoin('account', 'account.id', 'team_member.account_id')
    .select(['project.id', 'project.slug', 'version.id as version_id', 'account.username'])
    .where('project.status', '=', 'approved')
    .where('version.status', '=', 'listed')
    .where('team_member.is_owner', '=', true)
    .where(sql<boolean>`'fabric' = any(version.loaders)`)
    .where((eb) =>
      eb.exists(eb.selectFrom('dependency').select('id').whereRef('dependency.project_id', '=', 'project.id')),
    )
    .orderBy('project.downloads', 'desc')
    .orderBy('version.id')
    .executeTakeFirstOrThrow()
  const organization = await db.selectFrom('organization').select('slug').orderBy('id').executeTakeFirstOrThrow()
  const collection = await db
    .selectFrom('collection')
    .select('id')
    .where('status', '=', 'listed')
    .orderBy('id')
    .executeTakeFirstOrThrow()
  const project = `/mod/${found.slug}`
  const moderator = await t.make.account({ role: 'moderator' })
  const advisory = await t
    .as(moderator)
    .post('/v3/advisory', {
      project: found.id,
      versions: [found.version_id],
      summary: 'Sends the session of the launcher to another server',
      details:
        'Versions of this file read `launcher_accounts.json` and **send it away**.\n\n1. Remove the file.\n2. Sign out.',
      severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
      references: [{ type: 'ARTICLE', url: 'https://example.org/a-long-article-about-the-file' }],
      aliases: ['CVE-2026-12345'],
    })
  if (advisory.statusCode !== 201) throw new Error(advisory.body)
  const at = pagesOf()
  const own = pagesOf(await t.make.account())
  return {
    project,
    projectId: found.id,
    pages: [
      at('home', 'siteHome', '/'),
      at('list', 'siteList', '/mods'),
      at('pictures', 'siteList', '/resourcepacks'),
      at('search', 'siteSearch', '/search?q=a&sort=downloads&c=-magic'),
      at('nothing', 'siteList', '/mods?q=qqqqqqqqqqqqq&c=magic'),
      at('project', 'siteProject', project),
      at('gallery', 'siteGallery', `${project}/gallery`),
      at('versions', 'siteVersions', `${project}/versions`),
      at('version', 'siteVersion', `${project}/version/${found.version_id}`),
      at('version-files', 'siteVersionFiles', `${project}/version/${found.version_id}/files`),
      at('changelog', 'siteChangelog', `${project}/changelog`),
      at('dependencies', 'siteDependencies', `${project}/dependencies`),
      at('used-by', 'siteUsedBy', `${project}/used-by`),
      at('statistics', 'siteStatistics', `${project}/statistics`),
      at('user', 'siteUser', `/user/${found.username}`),
      at('organization', 'siteOrganization', `/organization/${organization.slug}`),
      at('collection', 'siteCollection', `/collection/${collection.id}`),
      // Before the other one: the browser remembers a pack.
      at('pack-empty', 'sitePack', '/pack'),
      at(
        'pack',
        'sitePack',
        `/pack?projects=${found.slug},${found.id},no-such-project&loader=fabric&loader_version=1.0`,
      ),
      at('about', 'siteOperatorText', '/about'),
      at('reference', 'siteReference', '/docs'),
      at('resource', 'siteResource', '/docs/versions?code=python'),
      at('rules', 'siteOperatorText', '/rules'),
      at('advisory', 'siteAdvisory', `/advisory/${advisory.json().id}`),
      at('absent', 'siteAbsent', '/mod/does-not-exist', { status: 404 }),
      own('save', 'siteSave', `${project}/save`),
      own('report', 'siteReport', `/report?item=project&id=${found.id}`),
    ],
  }
}
