// Derives proposals for the fields of a version: from the manifests of its primary file, otherwise from the name of the
// file, otherwise from the previous version. If two sources disagree, both are offered and none is preselected.

import { VERSION_NUMBER } from '#lib/text/text-rules.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { expandGameVersions } from '../manifests/game-versions.ts'
import type { DeclaredDependency, Manifest } from '../manifests/manifest.ts'
import { type Channel, channelIn, mentionsNumber, numberIn } from './file-name.ts'

export type Source =
  | { kind: 'manifest'; file: string; entry: string }
  | { kind: 'file_name'; file: string }
  | { kind: 'previous_version'; version_id: string; version_number: string }

/** `high`: the file states the value. `medium`: the value is derived. `low`: the value is a guess. */
export type Confidence = 'high' | 'medium' | 'low'

export type Proposal<Value> = { value: Value; source: Source; confidence: Confidence }

export type PreviousVersion = {
  id: string
  name: string
  version_number: string
  version_type: Channel
  loaders: string[]
  fields: LoaderFieldValues
}

export type ProposalInput = {
  /** The primary file, if there is one. */
  file: { filename: string; manifests: readonly Manifest[] } | undefined
  previous: PreviousVersion | undefined
  taxonomy: Taxonomy
  now: number
}

export type FieldProposals = {
  version_number: Proposal<string>[]
  name: Proposal<string>[]
  version_type: Proposal<Channel>[]
  loaders: Proposal<string[]>[]
  mrpack_loaders: Proposal<string[]>[]
  game_versions: Proposal<string[]>[]
  environment: Proposal<string>[]
}

/** A dependency that a manifest declares, with its source. */
export type DeclaredWithSource = DeclaredDependency & { source: Source }

const NAME_LENGTH_MAX = 64

/** Returns the proposals of each field, best first; an empty list if there is no source. */
export function proposeFields(input: ProposalInput): FieldProposals {
  const { previous, taxonomy } = input
  const fromManifests = <Value>(read: (manifest: Manifest) => Omit<Proposal<Value>, 'source'> | undefined) =>
    eachManifest(input, read)
  const number = numberProposals(input)
  const preselected = number.length === 1 ? number[0]?.value : undefined
  const environments = taxonomy.fields.get('environment')?.enumValues
  return {
    version_number: number,
    name: titleProposals(input, preselected),
    version_type: channelProposals(input, preselected),
    loaders: orPrevious(
      union(fromManifests(({ loaders }) => known(loaders, taxonomy.loaders))),
      previous,
      (version) => version.loaders,
    ),
    mrpack_loaders: union(
      fromManifests(({ packLoaders = [] }) => known(packLoaders, taxonomy.fields.get('mrpack_loaders')?.enumValues)),
    ),
    game_versions: distinct(fromManifests((manifest) => gameVersionsOf(manifest, input))),
    environment: orPrevious(
      distinct(
        fromManifests(({ environment }) =>
          environment !== undefined && environments?.has(environment)
            ? { value: environment, confidence: 'high' }
            : undefined,
        ),
      ),
      previous,
      ({ fields: { environment } }) =>
        typeof environment === 'string' && environment !== 'unknown' ? environment : undefined,
    ),
  }
}

/** Returns the dependencies of all manifests, by their ID. A required dependency takes precedence. */
export function declaredDependencies({ file }: Pick<ProposalInput, 'file'>): DeclaredWithSource[] {
  if (file === undefined) return []
  const byId = new Map<string, DeclaredWithSource>()
  for (const { entry, dependencies } of file.manifests) {
    for (const dependency of dependencies) {
      const first = byId.get(dependency.id)
      if (first === undefined || (first.type !== 'required' && dependency.type === 'required'))
        byId.set(dependency.id, { ...dependency, source: { kind: 'manifest', file: file.filename, entry } })
    }
  }
  return [...byId.values()]
}

function eachManifest<Value>(
  { file }: Pick<ProposalInput, 'file'>,
  read: (manifest: Manifest) => Omit<Proposal<Value>, 'source'> | undefined,
): Proposal<Value>[] {
  if (file === undefined) return []
  return file.manifests.flatMap((manifest) => {
    const proposal = read(manifest)
    if (proposal === undefined) return []
    return [{ ...proposal, source: { kind: 'manifest' as const, file: file.filename, entry: manifest.entry } }]
  })
}

/** Removes proposals with the same value. */
function distinct<Value>(proposals: Proposal<Value>[]): Proposal<Value>[] {
  return [
    ...new Map(proposals.toReversed().map((proposal) => [JSON.stringify(proposal.value), proposal])).values(),
  ].toReversed()
}

/** Joins lists: an archive with manifests for two loaders is for both. */
function union(proposals: Proposal<string[]>[]): Proposal<string[]>[] {
  const [first] = proposals
  return first === undefined ? [] : [{ ...first, value: [...new Set(proposals.flatMap(({ value }) => value))] }]
}

function known(values: readonly string[], all: ReadonlyMap<string, unknown> | undefined) {
  const value = values.filter((name) => all?.has(name))
  return value.length === 0 ? undefined : { value, confidence: 'high' as const }
}

function orPrevious<Value>(
  proposals: Proposal<Value>[],
  previous: PreviousVersion | undefined,
  read: (version: PreviousVersion) => Value | undefined,
): Proposal<Value>[] {
  const value = previous === undefined ? undefined : read(previous)
  if (proposals.length > 0 || previous === undefined || value === undefined) return proposals
  return [{ value, source: fromPrevious(previous), confidence: 'low' }]
}

function fromPrevious({ id, version_number }: PreviousVersion): Source {
  return { kind: 'previous_version', version_id: id, version_number }
}

function numberProposals({ file, taxonomy, ...input }: ProposalInput): Proposal<string>[] {
  if (file === undefined) return []
  const declared = distinct(
    eachManifest({ ...input, file }, ({ number }) =>
      number !== undefined && VERSION_NUMBER.test(number) ? { value: number, confidence: 'high' } : undefined,
    ),
  )
  const isGameVersion = (text: string) => taxonomy.fields.get('game_versions')?.enumValues?.has(text) === true
  const inName = numberIn(file.filename, isGameVersion)
  const agrees = declared.some(
    ({ value }) =>
      value === inName || mentionsNumber(file.filename, value) || (inName !== undefined && value.startsWith(inName)),
  )
  if (inName === undefined || agrees) return declared
  return [...declared, { value: inName, source: { kind: 'file_name', file: file.filename }, confidence: 'medium' }]
}

/** The title of the previous version with the new number, otherwise the name in the manifest and the number. */
function titleProposals({ file, previous }: ProposalInput, number: string | undefined): Proposal<string>[] {
  if (number === undefined) return []
  if (previous?.name.includes(previous.version_number)) {
    const value = previous.name.replaceAll(previous.version_number, number)
    if (value.length <= NAME_LENGTH_MAX) return [{ value, source: fromPrevious(previous), confidence: 'medium' }]
  }
  const named = eachManifest<string>({ file }, ({ name }) => {
    const value = name === undefined || name.includes(number) ? name : `${name} ${number}`
    return value === undefined || value.length > NAME_LENGTH_MAX ? undefined : { value, confidence: 'medium' }
  })
  return distinct(named)
}

/** The number and the file name mention the channel; a number without a mention is a release. */
function channelProposals({ file, previous }: ProposalInput, number: string | undefined): Proposal<Channel>[] {
  if (file === undefined) return []
  const source: Source = { kind: 'file_name', file: file.filename }
  const mentioned = channelIn(number ?? '') ?? channelIn(file.filename)
  if (mentioned !== undefined) return [{ value: mentioned, source, confidence: 'medium' }]
  if (number === undefined && previous !== undefined)
    return [{ value: previous.version_type, source: fromPrevious(previous), confidence: 'low' }]
  return number === undefined ? [] : [{ value: 'release', source, confidence: 'medium' }]
}

function gameVersionsOf({ gameVersions }: Manifest, { taxonomy, now }: ProposalInput) {
  if (gameVersions === undefined) return undefined
  const { values, isOpen } = expandGameVersions(gameVersions, { taxonomy, now })
  if (values.length === 0) return undefined
  return { value: values, confidence: isOpen ? ('medium' as const) : ('high' as const) }
}
