// Compares two states of a project, a version or a user. A missing state counts as empty, so everything is new.
import type { ItemState } from '#features/catalogue/reviews/report-snapshots.ts'
import type { ImageState, ProjectState, UserState, VersionState } from '#features/catalogue/reviews/state.ts'
import { diffText, type TextPart } from '#lib/text/text-diff.ts'

export type TextChange = { field: string; changed: boolean; parts: TextPart[] }
export type ListChange = { field: string; same: string[]; added: string[]; removed: string[] }
export type LinkChange = { platform: string; before: string | null; after: string | null }
type Pair<Item> = { before: Item; after: Item }
export type SetChange<Item> = { added: Item[]; removed: Item[]; changed: Pair<Item>[] }

export type StateChange = {
  texts: TextChange[]
  lists: ListChange[]
  links: LinkChange[]
  icon: { before: string | null; after: string | null }
  gallery: SetChange<ImageState>
  versions: SetChange<VersionState>
}

const NO_SETS = { links: [], gallery: noChange<ImageState>(), versions: noChange<VersionState>() }

function noChange<Item>(): SetChange<Item> {
  return { added: [], removed: [], changed: [] }
}

const PROJECT_TEXTS = ['name', 'slug', 'summary', 'description', 'license', 'license_url'] as const
const PROJECT_LISTS = ['categories', 'additional_categories', 'other_names'] as const

export function compareProjects(before: ProjectState | null, after: ProjectState | null): StateChange {
  return {
    texts: PROJECT_TEXTS.map((field) => textChange(field, before?.[field], after?.[field])),
    lists: PROJECT_LISTS.map((field) => listChange(field, before?.[field], after?.[field])),
    links: linkChanges(before?.links ?? {}, after?.links ?? {}),
    icon: { before: before?.icon ?? null, after: after?.icon ?? null },
    gallery: setChange(before?.gallery ?? [], after?.gallery ?? []),
    versions: setChange(finished(before), finished(after)),
  }
}

/** Snapshots of former releases contain unfinished uploads, which have no number. */
const finished = (state: ProjectState | null): VersionState[] =>
  state?.versions.filter(({ number }) => number !== '') ?? []

const VERSION_TEXTS = ['number', 'name', 'channel', 'status'] as const
const VERSION_LISTS = ['loaders', 'game_versions'] as const

function compareVersions(before: VersionState | null, after: VersionState | null): StateChange {
  const one = (version: VersionState | null) => (version === null ? [] : [version])
  return {
    ...NO_SETS,
    texts: VERSION_TEXTS.map((field) => textChange(field, before?.[field], after?.[field])),
    lists: VERSION_LISTS.map((field) => listChange(field, before?.[field], after?.[field])),
    icon: { before: null, after: null },
    versions: setChange(one(before), one(after)),
  }
}

function compareUsers(before: UserState | null, after: UserState | null): StateChange {
  return {
    ...NO_SETS,
    texts: (['username', 'bio'] as const).map((field) => textChange(field, before?.[field], after?.[field])),
    lists: [],
    icon: { before: before?.avatar ?? null, after: after?.avatar ?? null },
  }
}

/** Compares two states of a reported item of this type. */
export function compareItems(type: string, before: ItemState | null, after: ItemState | null): StateChange {
  if (type === 'project') return compareProjects(before as ProjectState | null, after as ProjectState | null)
  if (type === 'version') return compareVersions(before as VersionState | null, after as VersionState | null)
  return compareUsers(before as UserState | null, after as UserState | null)
}

function textChange(field: string, before: string | null | undefined, after: string | null | undefined): TextChange {
  const [old, now] = [before ?? '', after ?? '']
  return { field, changed: old !== now, parts: diffText(old, now) }
}

function listChange(field: string, before: readonly string[] = [], after: readonly string[] = []): ListChange {
  const [old, now] = [new Set(before), new Set(after)]
  return {
    field,
    same: after.filter((name) => old.has(name)),
    added: after.filter((name) => !old.has(name)),
    removed: before.filter((name) => !now.has(name)),
  }
}

function linkChanges(before: Record<string, string>, after: Record<string, string>): LinkChange[] {
  const platforms = [...new Set([...Object.keys(after), ...Object.keys(before)])]
  return platforms.map((platform) => ({ platform, before: before[platform] ?? null, after: after[platform] ?? null }))
}

/** Items are the same if they have the same ID. */
function setChange<Item extends { id: string }>(before: readonly Item[], after: readonly Item[]): SetChange<Item> {
  const old = new Map(before.map((item) => [item.id, item]))
  const now = new Set(after.map(({ id }) => id))
  return {
    added: after.filter(({ id }) => !old.has(id)),
    removed: before.filter(({ id }) => !now.has(id)),
    changed: after.flatMap((item) => {
      const previous = old.get(item.id)
      return previous === undefined || JSON.stringify(previous) === JSON.stringify(item)
        ? []
        : [{ before: previous, after: item }]
    }),
  }
}

/** Returns the newest older version of the earlier state that shares a loader and still exists, to compare the files with. */
export function comparableVersion(
  version: VersionState,
  before: readonly VersionState[],
  existing: ReadonlySet<string>,
): string | null {
  const published = Date.parse(version.published)
  const earlier = before.find(
    ({ id, loaders, published: at }) =>
      Date.parse(at) < published && existing.has(id) && loaders.some((loader) => version.loaders.includes(loader)),
  )
  return earlier?.id ?? null
}
