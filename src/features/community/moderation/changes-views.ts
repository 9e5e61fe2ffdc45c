// Response schemas of the changes of a project since its last approval, and of an item since it was reported.
import Type, { type Static } from 'typebox'
import { type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { SHARED_FILES_MAX } from '#features/catalogue/contents/content-owners.ts'
import type { ImageState, ProjectState, VersionState } from '#features/catalogue/reviews/state.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { CHANGES } from '#lib/text/text-diff.ts'
import { comparableVersion, type SetChange, type StateChange } from './compare-states.ts'

/** Maximum number of versions in each list of a response. */
const VERSIONS_MAX = 200

const ImageView = NamedObject('ReviewedImage', {
  id: Type.String(),
  url: Type.String(),
  name: Nullable(Type.String()),
  description: Nullable(Type.String()),
  featured: Type.Boolean(),
  ordering: Type.Integer(),
  video: Type.Optional(Type.String({ description: 'Page of the video; missing without a video' })),
})

const VersionView = NamedObject('ReviewedVersion', {
  id: Type.String(),
  number: Type.String(),
  name: Type.String(),
  channel: Type.String(),
  status: Type.String(),
  loaders: Type.Array(Type.String()),
  game_versions: Type.Array(Type.String()),
  published: Timestamp,
  files: Type.Array(Type.Object({ id: Type.String(), filename: Type.String(), size: Type.Integer() })),
  compare_with: Nullable(
    Type.String({
      description: 'Newest older version of the earlier state with the same loader, to compare the files with',
    }),
  ),
})

const setOf = <Item extends typeof ImageView | typeof VersionView>(item: Item) =>
  Type.Object({
    added: Type.Array(item),
    removed: Type.Array(item),
    changed: Type.Array(Type.Object({ before: item, after: item })),
  })

const TEXTS = Type.Array(
  Type.Object({
    field: Type.String(),
    changed: Type.Boolean(),
    parts: Type.Array(Type.Object({ change: Type.Enum([...CHANGES]), text: Type.String() }), {
      description: 'Both texts in reading order. A long text that has changed a lot is one removed and one added part',
    }),
  }),
)

const CHANGE = {
  texts: TEXTS,
  lists: Type.Array(
    Type.Object({
      field: Type.String(),
      same: Type.Array(Type.String()),
      added: Type.Array(Type.String()),
      removed: Type.Array(Type.String()),
    }),
  ),
  links: Type.Array(
    Type.Object({
      platform: Type.String(),
      before: Nullable(Type.String()),
      after: Nullable(Type.String()),
      other_projects: Nullable(Type.Integer({ description: 'Number of other projects with a link to the same host' })),
    }),
    { description: 'All links' },
  ),
  icon: Type.Object({ before: Nullable(Type.String()), after: Nullable(Type.String()) }, { description: 'URLs' }),
  gallery: setOf(ImageView),
  versions: Type.Object(
    { ...setOf(VersionView).properties, omitted: Type.Integer() },
    { description: `At most ${VERSIONS_MAX} in each list, newest first; \`omitted\` is the number of others` },
  ),
}

const SharedFileView = NamedObject('SharedFile', {
  filename: Type.String(),
  sha512: Type.String(),
  version_id: Type.String(),
  version_number: Type.String(),
  project: Type.Object({
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    status: Type.String(),
    is_owner: Type.Boolean({ description: 'Whether it submitted or published the content first' }),
  }),
})

const Holder = Type.Object({ id: Type.String(), username: Type.String() })

export const ProjectChangesView = NamedObject('ProjectChanges', {
  seen: Type.String({
    description:
      'The state that the response shows. Send it with the decision, so that the decision applies to this state only',
  }),
  review: Type.Enum(['first', 'repeat'], {
    description: '`first`: the project was never approved, so all of it is in the lists of added items',
  }),
  since: Nullable(
    Type.Object(
      { reason: Type.Enum(['approval', 'message', 'submission']), at: Timestamp },
      { description: 'The earlier state; null if none is known, so everything is new' },
    ),
  ),
  decision: Nullable(
    Type.Object(
      { by: Nullable(Holder), from: Type.String(), to: Type.String(), at: Timestamp, undo_until: Timestamp },
      {
        description:
          'Decision that can still be undone by setting the status `from` without a message. Its members are notified afterwards',
      },
    ),
  ),
  shared_files: Type.Array(SharedFileView, {
    description: `Files that other projects also contain, at most ${SHARED_FILES_MAX}. A project cannot be published with a file that another project published first`,
  }),
  ...CHANGE,
  recent: Nullable(
    Type.Object(CHANGE, {
      description:
        'For a first review: the changes since `since`; null for other reviews, or if no earlier state is known',
    }),
  ),
})

export const ReportChangesView = NamedObject('ReportChanges', {
  item_type: Type.String(),
  known: Type.Boolean({ description: 'Whether the state at the time of the report is stored' }),
  deleted: Type.Boolean({ description: 'Whether the item was deleted' }),
  ...CHANGE,
})

type ChangeView = Pick<Static<typeof ProjectChangesView>, keyof typeof CHANGE>

/**
 * @param hosts number of other projects by host
 * @param states the compared states, if they are those of a project
 */
export function toChangeView(
  config: FilesConfig,
  change: StateChange,
  {
    hosts = new Map(),
    states,
  }: { hosts?: ReadonlyMap<string, number>; states?: { before: ProjectState | null; after: ProjectState } } = {},
): ChangeView {
  const image = (one: ImageState) => ({ ...one, url: imageUrl(config, one.url) ?? '' })
  const existing = new Set(states?.after.versions.map(({ id }) => id))
  const version = (one: VersionState) => ({
    ...one,
    published: new Date(one.published).toISOString(),
    compare_with: comparableVersion(one, states?.before?.versions ?? [], existing),
  })
  const icon = { before: imageUrl(config, change.icon.before), after: imageUrl(config, change.icon.after) }
  const { added, removed, changed } = change.versions
  const longest = [added, removed, changed].map(({ length }) => Math.max(0, length - VERSIONS_MAX))
  return {
    texts: change.texts,
    lists: change.lists,
    links: change.links.map((link) => ({ ...link, other_projects: hosts.get(hostOf(link.after) ?? '') ?? null })),
    icon,
    gallery: mapSet(change.gallery, image),
    versions: {
      ...mapSet(
        {
          added: added.slice(0, VERSIONS_MAX),
          removed: removed.slice(0, VERSIONS_MAX),
          changed: changed.slice(0, VERSIONS_MAX),
        },
        version,
      ),
      omitted: longest.reduce((sum, count) => sum + count, 0),
    },
  }
}

function mapSet<Item, Mapped>({ added, removed, changed }: SetChange<Item>, map: (item: Item) => Mapped) {
  return {
    added: added.map(map),
    removed: removed.map(map),
    changed: changed.map(({ before, after }) => ({ before: map(before), after: map(after) })),
  }
}

/** Returns the host of a link as `link_hosts` in the database does. */
export function hostOf(url: string | null): string | undefined {
  return url === null ? undefined : /^https?:\/\/([^/:?#]+)/.exec(url)?.[1]?.toLowerCase()
}
