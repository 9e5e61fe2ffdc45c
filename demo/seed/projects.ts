// Writes batches of demo projects with everything that belongs to them: first their files, then their rows.

import { setImmediate } from 'node:timers/promises'
import { bytesOf, demoIcon, demoScenes, hostImage } from '#demo/catalogue/images.ts'
import type { SeededProject } from '#demo/catalogue/new-projects.ts'
import type { DemoPerson } from '#demo/catalogue/people.ts'
import { createRandom } from '#demo/catalogue/random.ts'
import { REJECTION } from '#demo/catalogue/words.ts'
import { demoId, galleryId } from '#demo/ids.ts'
import { listPresent, markItems } from '#demo/items.ts'
import { insertConversations } from '#demo/seed/conversations.ts'
import { freeNames } from '#demo/seed/free-names.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { memberRow, ownerRow } from '#demo/seed/people.ts'
import { storeBytes, writeRows } from '#demo/seed/store-first.ts'
import { insertVersions, type PreparedVersion, prepareVersions } from '#demo/seed/versions.ts'
import type { HostedImage } from '#features/basics/images/hosted-image.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type SeedDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'fileRules' | 'config'>

/** Resolves names of the catalogue to rows, with values that all projects share. */
export type Names = {
  seed: number
  /** Latest date. */
  until: Date
  /** Part of the key of every file. */
  mark: string
  people: readonly DemoPerson[]
  accountOf(username: string): string
  /** Returns the organization with its current owner, who can differ from the catalogue. */
  organizationOf(slug: string): { id: string; ownerId: string } | undefined
  projectOf(slug: string): string
  /** Returns different positions in `people`. */
  peopleFrom(start: number, count: number): number[]
}

export type Indexed = { project: SeededProject; index: number }

type GalleryPicture = { picture: HostedImage; name: string; description: string | null }

type PreparedProject = Indexed & {
  id: string
  icon: HostedImage | undefined
  color: number | null
  gallery: GalleryPicture[]
  versions: PreparedVersion[]
}

/** Indexes of the random streams for images; those of projects begin at 0. */
const ICONS = 30_000_000
const GALLERIES = 40_000_000
const FOLLOWS = 60_000_000
/** Maximum number of images per project. */
const PICTURES_MAX = 8

/** Missing projects of a batch with their files, and the number of existing projects. */
export type PreparedBatch = { missing: PreparedProject[]; present: number }

/** Prepares the files of a batch. Yields between projects, so that the previous batch can be written. */
export async function prepareProjects(deps: SeedDeps, batch: readonly Indexed[], names: Names): Promise<PreparedBatch> {
  const ids = batch.map(({ index }) => demoId('project', index))
  const present = await listPresent(deps.db, 'project', ids)
  const missing: Promise<PreparedProject>[] = []
  for (const [i, indexed] of batch.entries()) {
    if (present.has(ids[i] ?? '')) continue
    const project = prepareProject(deps, indexed, names)
    // The promise is awaited later; until then a rejection must not end the process.
    project.catch(() => undefined)
    missing.push(project)
    await setImmediate()
  }
  return { missing: await Promise.all(missing), present: present.size }
}

/** Stores the files of a batch, and returns their keys for `writeProjects`. */
export function storeProjects(deps: SeedDeps, { missing }: PreparedBatch): Promise<string[]> {
  const pictures = missing.flatMap(({ icon, gallery }) =>
    [...(icon === undefined ? [] : [icon]), ...gallery.map(({ picture }) => picture)].flatMap(bytesOf),
  )
  const files = missing.flatMap(({ versions }) =>
    versions.map(({ file }) => ({ key: file.storageKey, bytes: file.bytes, contentType: file.contentType })),
  )
  return storeBytes(deps, [...files, ...pictures])
}

/** Adds the projects of a batch whose files are stored, in one transaction. */
export async function writeProjects(
  deps: SeedDeps,
  { missing, present }: PreparedBatch,
  { keys, names }: { keys: readonly string[]; names: Names },
): Promise<{ added: number; present: number; versions: number }> {
  if (missing.length === 0) return { added: 0, present, versions: 0 }
  const slugs = await freeNames(
    deps.db,
    'project',
    missing.map(({ project }) => project.slug),
    64,
  )
  const versions = missing.flatMap((project) => project.versions)
  await writeRows(deps, keys, async (tx, changed) => {
    await insertProjects(tx, missing, { names, slugs })
    await insertVersions(tx, versions, names)
    await insertGalleries(tx, missing, names)
    await insertFollows(tx, missing, names)
    await insertConversations(
      tx,
      missing.map((prepared) => ({ ...prepared, ownerId: ownerOf(prepared.project, names) })),
      names,
    )
    const made = missing.map(({ id }) => id)
    await markItems(tx, 'project', made)
    changed.add('project', ...made)
  })
  return { added: missing.length, present, versions: versions.length }
}

async function prepareProject(
  { fileRules, config }: SeedDeps,
  { project, index }: Indexed,
  names: Names,
): Promise<PreparedProject> {
  const id = demoId('project', index)
  const icon = project.hasIcon ? demoIcon(createRandom(names.seed, ICONS + index), project.projectType) : undefined
  const scenes = demoScenes(createRandom(names.seed, GALLERIES + index), Math.min(project.gallery, PICTURES_MAX))
  const gallery = scenes.map(({ bytes, title, caption }, n) => ({
    picture: hostImage(config, bytes, `${id}-${names.mark}${galleryId(index, n)}/images`),
    name: title,
    description: caption === '' ? null : caption,
  }))
  return {
    project,
    index,
    id,
    icon: icon === undefined ? undefined : hostImage(config, icon.bytes, `${id}-${names.mark}`),
    color: icon?.color ?? null,
    gallery,
    versions: prepareVersions(fileRules, {
      project,
      index,
      projectId: id,
      authorId: ownerOf(project, names),
      mark: names.mark,
    }),
  }
}

function organizationOf({ organization }: SeededProject, names: Names): ReturnType<Names['organizationOf']> {
  return organization === null ? undefined : names.organizationOf(organization)
}

function ownerOf(project: SeededProject, names: Names): string {
  return organizationOf(project, names)?.ownerId ?? names.accountOf(project.owner)
}

async function insertProjects(
  tx: Tx,
  missing: readonly PreparedProject[],
  { names, slugs }: { names: Names; slugs: ReadonlyMap<string, string> },
): Promise<void> {
  await insertRows(
    tx,
    'team',
    missing.map(({ index }) => ({ id: demoId('projectTeam', index) })),
  )
  await insertRows(
    tx,
    'team_member',
    missing.flatMap(({ project, index }) => teamRows(project, demoId('projectTeam', index), names)),
  )
  await insertRows(
    tx,
    'project',
    missing.map((prepared) => projectRow(prepared, { names, slugs })),
  )
}

/** The team of a project that belongs to an organization has no owner. */
function teamRows(project: SeededProject, teamId: string, names: Names) {
  const owner = ownerOf(project, names)
  const { published } = project
  const others = project.members
    .map(({ username, role }) => memberRow(teamId, { accountId: names.accountOf(username), role, created: published }))
    .filter(({ account_id }) => account_id !== owner)
  return organizationOf(project, names) === undefined
    ? [ownerRow(teamId, { accountId: owner, created: published }), ...others]
    : others
}

function projectRow(
  { project, index, id, icon, color, gallery }: PreparedProject,
  { names, slugs }: { names: Names; slugs: ReadonlyMap<string, string> },
) {
  const { status, published, slug } = project
  const isReviewed = !['draft', 'processing', 'rejected'].includes(status)
  return {
    id,
    slug: slugs.get(slug) ?? slug,
    name: project.name,
    summary: project.summary,
    description: withPicture(project.description, gallery[0]),
    status,
    requested_status: 'approved' as const,
    license: project.licenseId,
    license_url: project.licenseUrl,
    categories: project.categories,
    additional_categories: project.additionalCategories,
    link_urls: project.links,
    downloads: project.downloads,
    followers: countFollowers(project, names),
    published,
    updated: project.versions.at(-1)?.published ?? published,
    approved: isReviewed ? new Date(published.getTime() + (index % 24) * (DAY_MS / 24)) : null,
    queued: status === 'draft' ? null : published,
    moderation_message: status === 'rejected' ? REJECTION : null,
    team_id: demoId('projectTeam', index),
    organization_id: organizationOf(project, names)?.id ?? null,
    icon_url: icon?.url ?? null,
    raw_icon_url: icon?.rawUrl ?? null,
    color,
  }
}

/** Replaces the placeholder in the text by the first gallery image. */
function withPicture(text: string, first: GalleryPicture | undefined): string {
  return text.replace(/\{picture\}(\n\n)?/, first === undefined ? '' : `![${first.name}](${first.picture.url})$1`)
}

async function insertGalleries(tx: Tx, missing: readonly PreparedProject[], { until }: Names): Promise<void> {
  const rows = missing.flatMap(({ project: { published }, index, id, gallery }) =>
    gallery.map(({ picture, name, description }, n) => ({
      id: galleryId(index, n),
      project_id: id,
      url: picture.url,
      raw_url: picture.rawUrl,
      content_sha1: picture.contentSha1,
      width: picture.width,
      height: picture.height,
      featured: n === 0,
      name,
      description,
      ordering: n,
      created: between(published, until, n / (2 * PICTURES_MAX)),
    })),
  )
  await insertRows(tx, 'gallery_item', rows)
}

function latest(a: Date | undefined, b: Date): Date {
  return new Date(Math.max(a?.getTime() ?? 0, b.getTime()))
}

/** Returns the time at `share` of the way between two times. */
function between(from: Date, until: Date, share: number): Date {
  return new Date(Math.floor(from.getTime() + (until.getTime() - from.getTime()) * share))
}

/** Number of follows: limited by the demo people, and higher for popular projects. */
function countFollowers({ follows }: SeededProject, names: Names): number {
  const wanted = Math.min(follows, Math.round(12 * Math.log2(1 + follows)))
  return names.peopleFrom(0, wanted).length
}

/** Returns a time at which both the user and the project exist. */
async function insertFollows(tx: Tx, missing: readonly PreparedProject[], names: Names): Promise<void> {
  const { people, until, seed } = names
  const follows = missing.flatMap(({ project, index, id }) => {
    const random = createRandom(seed, FOLLOWS + index)
    return names.peopleFrom(index * 31, countFollowers(project, names)).map((n) => {
      const from = latest(people[n]?.created, project.published)
      return { account_id: demoId('account', n), project_id: id, created: between(from, until, random.next() ** 1.5) }
    })
  })
  await insertRows(tx, 'follow', follows)
}
