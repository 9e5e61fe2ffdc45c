// Creates a project with one version from a pack: an .mrpack, or the folder of a packwiz pack.
import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { suggestSlug } from '#features/catalogue/projects/similar/suggest-slug.ts'
import { parseProjectData } from '#features/catalogue/publishing/requests.ts'
import { listEmbedded, readPackIndex } from '#features/catalogue/versions/files/content-pack.ts'
import { listFiles } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { readManifests } from '#features/catalogue/versions/manifests/read-manifests.ts'
import { proposeFields } from '#features/catalogue/versions/proposals/propose.ts'
import { embeddedDependencies, type ResolvedDependency } from '#features/catalogue/versions/publish/dependencies.ts'
import { fileContext, type UploadedPart, withParts } from '#features/catalogue/versions/publish/prepare-files.ts'
import { parseVersionData } from '#features/catalogue/versions/publish/requests.ts'
import { findOwner } from '#features/exchange/import/checks.ts'
import { type MirrorOptions, runMirror } from '#features/exchange/mirror/run-mirror.ts'
import { findProjectsOf } from '#features/exchange/mirror/source/read-objects.ts'
import { openSource } from '#features/exchange/mirror/source/source.ts'
import { createImported } from '#features/exchange/project-folder/import-project.ts'
import { refusing } from '#features/exchange/project-folder/read-folder.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'
import { PACK_FILE, readPackwiz, stagePackwiz } from './packwiz.ts'
import { type PackHash, stagePackFile } from './stage-pack.ts'

export type PackReport = {
  id: string
  slug: string
  version: string
  /** Files that the pack downloads or contains. */
  files: number
  /** Files that no version here contains: they become dependencies by name. */
  unknown: number
  /** Projects that were copied from `projectsFrom`. */
  copied: number
}

export type PackOptions = {
  /** An .mrpack, a folder with pack.toml, or this file. */
  path: string
  /** ID or slug of the organization that owns the project and the copies. */
  owner: string
  /** Address of an instance from which projects that the pack needs are copied. */
  projectsFrom?: string | undefined
} & Pick<MirrorOptions, 'userAgent' | 'warn' | 'signal' | 'pause'>

const CALLER = 'import'
const NAME_LENGTH_MAX = 64
const SUMMARY_LENGTH_MIN = 3
const SUMMARY_LENGTH_MAX = 256
const FIRST_NUMBER = '1.0.0'

/** @throws OperatorError naming the file and what is wrong with it; then no project of the pack exists. */
export async function importPack(given: Deps, options: PackOptions): Promise<PackReport> {
  const deps = allowingSource(given, options)
  const { path, warn } = options
  const owner = await findOwner(deps, options.owner)
  const folder = await packFolder(path)
  const staged: StagedFile[] = []
  try {
    let copied = 0
    if (folder === undefined) staged.push(await stagePackFile(deps, path))
    else {
      const pack = await readPackwiz(folder)
      const downloads = pack.files.map((file) => file.download)
      copied = await copyProjects(deps, options, downloads)
      staged.push(await stagePackwiz(deps, folder, pack))
    }
    const [file] = staged
    if (file === undefined) throw new Error('No file was staged')
    const filename = folder === undefined ? basename(path) : `${basename(resolve(folder)) || 'pack'}.mrpack`
    await requireNew(deps, file, filename)
    const pack = await refusing(path, () => inspectPack(deps, { file, filename }))
    if (folder === undefined)
      copied = await copyProjects(
        deps,
        options,
        pack.index.files.map(({ hashes }) => ({ algorithm: 'sha512', hash: hashes.sha512.toLowerCase() })),
      )
    const dependencies = await embeddedDependencies(deps.db, pack.embedded)
    const parts: UploadedPart[] = [{ name: filename, filename, staged: file }]
    const read = await refusing(path, () => describe(deps, { ...pack, filename, dependencies }))
    const created = await withParts(deps, parts, () => createImported(deps, { place: path, read, parts, owner, warn }))
    const unknown = dependencies.filter(({ version_id }) => version_id === null)
    for (const { file_name } of unknown)
      warn(`No version here contains ${file_name}. The pack names it only as a file.`)
    const version = read.project.versions[0]?.columns.version_number ?? ''
    return { id: created.id, slug: created.slug, version, files: pack.embedded.length, unknown: unknown.length, copied }
  } finally {
    await Promise.allSettled(staged.map((file) => deps.files.discard(file)))
  }
}

/** A pack of the other instance downloads its files from there. */
function allowingSource(deps: Deps, { projectsFrom }: PackOptions): Deps {
  if (projectsFrom === undefined) return deps
  const { content_packs } = deps.fileRules
  const download_hosts = [...content_packs.download_hosts, new URL(projectsFrom).origin]
  return { ...deps, fileRules: { ...deps.fileRules, content_packs: { ...content_packs, download_hosts } } }
}

/** @throws OperatorError naming the project that already contains the pack, also as a draft. */
async function requireNew({ db }: Deps, { sha512 }: StagedFile, filename: string): Promise<void> {
  const known = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select('project.slug')
    .where('file.sha512', '=', sha512)
    .limit(1)
    .executeTakeFirst()
  if (known !== undefined) throw new OperatorError(`The project ${known.slug} already contains ${filename}.`)
}

/** Returns the folder of a packwiz pack, or undefined for another file. */
async function packFolder(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new OperatorError(`There is no file or folder ${path}. Check the name.`)
  if (found.isDirectory()) return path
  return basename(path) === PACK_FILE ? dirname(path) : undefined
}

type InspectedPack = Awaited<ReturnType<typeof inspectPack>>

/** Checks the archive and its index, by the rules for packs that people upload. */
async function inspectPack(deps: Deps, { file, filename }: { file: StagedFile; filename: string }) {
  const archive = await deps.archives.inspect(file.path, { field: filename, caller: CALLER })
  const { ownOrigins } = fileContext(deps, { columns: { loaders: [] }, fields: {} })
  const options = { rules: deps.fileRules.content_packs, ownOrigins, field: filename }
  const index = archive.readable ? await readPackIndex(archive, options) : undefined
  if (!archive.readable || index === undefined)
    throw new OperatorError(
      `${filename} is not a pack: it has no ${options.rules.index_names.join(' or ')}. Check the file.`,
    )
  const manifests = await readManifests(archive)
  return { index, embedded: listEmbedded(archive, index, options), manifests }
}

/** Copies the projects at the other instance that contain files of the pack that no version here contains. */
async function copyProjects(deps: Deps, options: PackOptions, wanted: readonly PackHash[]): Promise<number> {
  const { projectsFrom: address, owner, userAgent, warn, signal, pause } = options
  if (address === undefined) return 0
  const known = new Set(
    (await listFiles(deps.db, null, { hashes: wanted.map(({ hash }) => hash) })).map(({ hash }) => hash),
  )
  const source = openSource({ address, userAgent, rules: deps.config.outgoing, signal, ...(pause && { pause }) })
  const names = new Set<string>()
  for (const algorithm of ['sha1', 'sha512'] as const) {
    const hashes = wanted.filter((one) => one.algorithm === algorithm && !known.has(one.hash)).map(({ hash }) => hash)
    for (const id of (await findProjectsOf(source, hashes, algorithm)).values()) names.add(id)
  }
  if (names.size === 0) return 0
  const report = await runMirror(deps, {
    ...{ address, owner, userAgent, warn, signal, ...(pause && { pause }) },
    ...{ withFiles: true, retries: false, isDryRun: false, acceptsNewKey: false, isAddition: true },
    selection: { kind: 'projects', names: [...names] },
  })
  return report.projects
}

/** Describes the project, which is a draft: a pack states neither its licence nor its description. */
async function describe(
  deps: Deps,
  {
    index,
    manifests,
    filename,
    dependencies,
  }: InspectedPack & { filename: string; dependencies: readonly ResolvedDependency[] },
) {
  const proposals = proposeFields({
    file: { filename, manifests },
    previous: undefined,
    taxonomy: deps.taxonomy,
    now: deps.now(),
  })
  const gameVersions = proposals.game_versions[0]?.value
  if (gameVersions === undefined)
    throw new OperatorError(
      `${filename} is for the game version ${JSON.stringify(index.dependencies['minecraft'] ?? 'none')}, which this instance does not know. Check the pack.`,
    )
  const number = proposals.version_number[0]?.value ?? FIRST_NUMBER
  const version = parseVersionData(
    {
      version_number: number,
      version_title: cut(index.name, NAME_LENGTH_MAX),
      version_body: '',
      release_channel: proposals.version_type[0]?.value ?? 'release',
      loaders: ['mrpack'],
      mrpack_loaders: proposals.mrpack_loaders[0]?.value ?? [],
      game_versions: gameVersions,
      featured: false,
      file_parts: [filename],
      dependencies: dependencies.map((one) => ({ ...one })),
    },
    deps.taxonomy,
  )
  const name = cut(index.name, NAME_LENGTH_MAX)
  const summary = cut(index.summary ?? '', SUMMARY_LENGTH_MAX)
  const refusals = new Refusals()
  const project = parseProjectData(
    {
      name,
      slug: await suggestSlug(deps.db, name),
      summary: summary.length < SUMMARY_LENGTH_MIN ? `The pack ${name}` : summary,
      description: '',
      categories: [],
      license_id: 'arr',
      license_decided: false,
      is_draft: true,
    },
    deps.taxonomy,
    refusals,
  )
  refusals.throwAny()
  const at = new Date(deps.now()).toISOString()
  return {
    project: { ...project, versions: [version] },
    extras: { status: 'draft', published: at, updated: at, gallery_items: [] },
    versionExtras: [{ date_published: at }],
    files: [{ part: filename, filename, maxBytes: 0 }],
  }
}

/** Returns the text without controls and halves of characters, and at most this long. */
function cut(text: string, length: number): string {
  const clean = text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
  return [...clean].slice(0, length).join('').slice(0, length).toWellFormed().trim()
}
