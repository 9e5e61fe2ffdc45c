// Writes batches of demo projects with everything that belongs to them: first their files, then their rows.

import { bytesOf, demoIcon, demoScenes, hostImage } from '#demo/catalogue/images.ts'
import { REJECTION } from '#demo/catalogue/words.ts'
import { demoId, demoPartId, demoRandom } from '#demo/ids.ts'
import { markItems } from '#demo/items.ts'
import { insertConversations } from '#demo/seed/conversations.ts'
import { freeNames } from '#demo/seed/free-names.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { between, type Indexed, type Names } from '#demo/seed/names.ts'
import { memberRow, ownerRow } from '#demo/seed/people.ts'
import { storeFirst } from '#demo/seed/store-first.ts'
import { insertVersions, prepareVersions } from '#demo/seed/versions.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'

export type SeedDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'fileRules'>

const NO_ADDRESS = { files: { baseUrl: '' } }

type PreparedProject = ReturnType<typeof prepareProject>

/** Time until a scheduled project is published. */
const SCHEDULED_AHEAD_MS = 30 * DAY_MS
/** Largest share of the people who follow a project. */
const FOLLOWING_MAX = 0.9
/** Maximum number of followers per project. */
const FOLLOWERS_MAX = 200
/** Maximum number of images per project. */
const PICTURES_MAX = 8

/** Adds missing projects in one transaction. */
export async function writeProjects(deps: SeedDeps, missing: readonly Indexed[], names: Names): Promise<void> {
  const wanted = missing.map(({ project }) => project.slug)
  const slugs = await freeNames(deps.db, 'project', wanted)
  const prepared = missing.map((indexed) => prepareProject(deps, indexed, names))
  const versions = prepared.flatMap((one) => one.versions)
  const images = prepared.flatMap(({ icon, gallery }) => [
    ...(icon === undefined ? [] : [icon]),
    ...gallery.map(({ image }) => image),
  ])
  await storeFirst(deps, [...versions.map(({ stored }) => stored), ...images.flatMap(bytesOf)], async (tx, changed) => {
    const teams = prepared.map(({ teamId }) => ({ id: teamId }))
    const members = prepared.flatMap((one) => teamRows(one, names))
    const projects = prepared.map((one) => projectRow(one, { names, slugs }))
    const pictures = prepared.flatMap(({ gallery }) => gallery.map(({ row }) => row))
    const follows = prepared.flatMap((one) => one.follows)
    await insertRows(tx, 'team', teams)
    await insertRows(tx, 'team_member', members)
    await insertRows(tx, 'project', projects)
    await insertVersions(tx, versions)
    await insertRows(tx, 'gallery_item', pictures)
    await insertRows(tx, 'follow', follows)
    await insertConversations(tx, missing, names)
    await markItems(tx, 'project', missing)
    changed.add('project', ...missing.map(({ id }) => id))
  })
}

function prepareProject({ fileRules }: SeedDeps, indexed: Indexed, names: Names) {
  const { project, index, id } = indexed
  const icon = project.hasIcon ? demoIcon(demoRandom('icon', index), project.projectType) : undefined
  return {
    ...indexed,
    teamId: demoId('projectTeam', index),
    icon: icon && hostImage(icon.bytes, `${id}-${names.mark}`),
    color: icon?.color ?? null,
    gallery: galleryOf(indexed, names),
    follows: followsOf(indexed, names),
    versions: prepareVersions(fileRules, indexed, names),
  }
}

function galleryOf({ project, index, id: projectId }: Indexed, { mark, until }: Names) {
  const scenes = demoScenes(demoRandom('gallery', index), Math.min(project.gallery, PICTURES_MAX))
  return scenes.map(({ bytes, title, caption }, n) => {
    const id = demoPartId('gallery', index, n)
    const image = hostImage(bytes, `${projectId}-${mark}${id}/images`)
    const row = {
      id,
      project_id: projectId,
      url: image.key,
      raw_url: image.rawKey,
      content_sha1: image.contentSha1,
      width: image.width,
      height: image.height,
      featured: n === 0,
      name: title,
      description: caption === '' ? null : caption,
      ordering: n,
      created: between(project.published, until, n / (2 * PICTURES_MAX)),
    }
    return { image, row }
  })
}

/** Returns follows by some of the demo people, more for popular projects, at times when both exist. */
function followsOf({ project: { follows, published }, index, id }: Indexed, { people, until, peopleFrom }: Names) {
  const random = demoRandom('follow', index)
  const share = Math.min(FOLLOWING_MAX, Math.log10(1 + follows) / 4)
  const count = Math.min(follows, Math.round(share * people.length), FOLLOWERS_MAX)
  return peopleFrom(index * 31, count).map((n) => {
    const from = new Date(Math.max(people[n]?.created.getTime() ?? 0, published.getTime()))
    const created = between(from, until, random.next() ** 1.5)
    return { account_id: demoId('account', n), project_id: id, created }
  })
}

/** The team of a project that belongs to an organization has no owner. */
function teamRows({ project, teamId }: PreparedProject, { accountOf }: Names) {
  const created = project.published
  const others = project.members.map(({ username, role }) =>
    memberRow(teamId, { accountId: accountOf(username), role, created }),
  )
  if (project.organization !== null) return others
  return [ownerRow(teamId, { accountId: accountOf(project.owner), created }), ...others]
}

function projectRow(
  { project, index, id, teamId, icon, color, gallery, follows }: PreparedProject,
  { names, slugs }: { names: Names; slugs: ReadonlyMap<string, string> },
) {
  const { status, published, slug, organization } = project
  const isReviewed = !['draft', 'processing', 'rejected', 'scheduled'].includes(status)
  const first = gallery[0]?.row
  return {
    id,
    slug: slugs.get(slug) ?? slug,
    name: project.name,
    summary: project.summary,
    description: project.description.replace(
      /\{picture\}(\n\n)?/,
      // Without an address, so that the image is shown wherever the instance runs.
      first ? `![${first.name}](${imageUrl(NO_ADDRESS, first.url)})$1` : '',
    ),
    status,
    requested_status: 'approved' as const,
    license: project.licenseId,
    license_url: project.licenseUrl,
    categories: project.categories,
    additional_categories: project.additionalCategories,
    link_urls: project.links,
    downloads: project.downloads,
    public_statistics: project.hasPublicStatistics,
    scheduled_at: status === 'scheduled' ? new Date(names.until.getTime() + SCHEDULED_AHEAD_MS) : null,
    followers: follows.length,
    published,
    updated: project.versions.at(-1)?.published ?? published,
    approved: isReviewed ? new Date(published.getTime() + (index % 24) * (DAY_MS / 24)) : null,
    queued: status === 'draft' ? null : published,
    moderation_message: status === 'rejected' ? REJECTION : null,
    team_id: teamId,
    organization_id: organization === null ? null : names.organizationOf(organization),
    icon_url: icon?.key ?? null,
    raw_icon_url: icon?.rawKey ?? null,
    color,
  }
}
