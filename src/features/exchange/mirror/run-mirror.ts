// A run of a mirror: copies what its source has and this instance lacks. A run that was stopped continues where it was.

import { setTimeout as sleep } from 'node:timers/promises'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withConnection } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { findOwner } from '../import/checks.ts'
import type { MirrorReport, MirrorRun } from './copy/context.ts'
import { copyProjects } from './copy/copy-projects.ts'
import { copyMissing } from './copy/copy-removals.ts'
import { resolveOpen } from './copy/resolve-open.ts'
import { followFeed, storeCursor } from './follow-feed.ts'
import { findMirror, listOrigins, listRetries, type MirrorRow, upsertMirror } from './queries.ts'
import { type Selected, type Selection, selectProjects } from './selection.ts'
import { readKeys, readLatest } from './source/read-objects.ts'
import { openSource, SourceUnusable } from './source/source.ts'
import { readingV2 } from './source/v2.ts'

export type MirrorOptions = {
  address: string
  selection: Selection
  /** Whether the run copies the selected projects additionally. The selection and the cursor of the mirror remain. */
  isAddition?: boolean
  /** ID or slug of the organization that owns the copies. */
  owner: string
  /** Starts at this cursor of the source instead of where the last run ended. */
  since?: string | undefined
  withFiles: boolean
  /** Whether objects that earlier runs could not copy are tried again. */
  retries: boolean
  maxBytes?: number | undefined
  isDryRun: boolean
  /** Whether a source with another instance key is accepted. */
  acceptsNewKey: boolean
  userAgent: string
  warn: (message: string) => void
  signal?: AbortSignal | undefined
  /** Waits between requests. Tests replace it. */
  pause?: (ms: number) => Promise<unknown>
}

/** A source without a change feed is compared completely in every tenth run. */
const COMPLETE_EVERY = 10

/** A source with several processes can show older states for this time after a commit that its cursor includes. */
const SETTLE_MS = 3_000

/** Maximum number of times that a run starts again because its cursor has expired. */
const RESTARTS_MAX = 2

/**
 * Copies what changed at the source since the last run, or everything in the first run.
 * @throws OperatorError if another run is in progress, SourceUnusable.
 */
export async function runMirror(deps: Deps, options: MirrorOptions): Promise<MirrorReport> {
  return withLock(deps, options.address, async () => {
    const { address, userAgent, signal, pause = sleep } = options
    const source = readingV2(openSource({ address, userAgent, rules: deps.config.outgoing, signal, pause }))
    const owner = await findOwner(deps, options.owner)
    const keys = await readKeys(source)
    const known = await findMirror(deps.db, address)
    requireSameInstance(known, keys, options)
    const mirror = await openMirror(deps, { options, known, organizationId: owner.organizationId, keys })
    const report: MirrorReport = {
      projects: 0,
      versions: 0,
      files: 0,
      skipped: 0,
      mismatches: 0,
      failed: 0,
      requests: 0,
      cursor: mirror.cursor,
    }
    const { withFiles, isDryRun, warn } = options
    const budget = { bytes: options.maxBytes ?? Number.POSITIVE_INFINITY }
    const run: MirrorRun = { deps, source, mirror, owner, withFiles, budget, isDryRun, report, warn }
    await (options.isAddition === true ? addSelected(run, options) : copyAll(run, options))
    report.requests = source.requests()
    if (!isDryRun) await finish(run)
    return report
  })
}

async function addSelected(run: MirrorRun, { selection }: Pick<MirrorOptions, 'selection'>): Promise<void> {
  await copyProjects(run, { projects: await selectProjects(run, selection, true), isComplete: true })
  if (!run.isDryRun) await resolveOpen(run)
}

async function copyAll(
  run: MirrorRun,
  { selection, retries }: Pick<MirrorOptions, 'selection' | 'retries'>,
  restarts = 0,
): Promise<void> {
  const { mirror, source } = run
  const latest = await firstCursor(run, selection)
  const hasFeed = mirror.cursor !== null || latest !== undefined
  // Tried first, so that what fails in this run is tried in the next one.
  if (retries) await retry(run)
  if (hasFeed && selection.kind === 'all') await walk(run, () => true)
  else {
    const isComplete = mirror.is_comparing || (!hasFeed && mirror.runs % COMPLETE_EVERY === 0)
    if (isComplete && !mirror.is_comparing) await beginComparison(run)
    const selected = await selectProjects(run, selection, isComplete)
    await copyProjects(run, {
      projects: await changedOf(run, selected, isComplete || !hasFeed),
      isComplete: isComplete || !hasFeed,
    })
    if (mirror.cursor === null && latest !== undefined) await storeCursor(run, latest)
    const copied = await copiedIds(run)
    if (hasFeed && !(await isFollowed(run, (id) => selected.has(id) || copied.has(id)))) {
      // The cursor has expired: everything is compared.
      if (restarts === RESTARTS_MAX) throw cursorsExpire(run)
      await beginComparison(run)
      return copyAll(run, { selection, retries: false }, restarts + 1)
    }
  }
  if (run.isDryRun) return
  if (mirror.is_comparing) {
    await copyMissing(run)
    await endComparison(run)
  }
  await resolveOpen(run)
  source.signal?.throwIfAborted()
}

const isFollowed = async (run: MirrorRun, wants: (id: string) => boolean): Promise<boolean> =>
  (await followFeed(run, wants)) === 'done'

/** Follows the whole feed, from its start if the cursor has expired. */
async function walk(run: MirrorRun, wants: (id: string) => boolean): Promise<void> {
  if (run.mirror.cursor === null && !run.mirror.is_comparing) await beginComparison(run)
  for (let restarts = 0; !(await isFollowed(run, wants)); restarts += 1) {
    if (restarts === RESTARTS_MAX) throw cursorsExpire(run)
    await beginComparison(run)
  }
}

const cursorsExpire = ({ source }: MirrorRun): SourceUnusable =>
  new SourceUnusable(`The change feed of ${source.address} does not continue its own cursors. Check the source`)

/**
 * Returns the newest cursor for a run that reads the selected projects first and the changes since then afterwards;
 * undefined if the run has a cursor, or the source no feed.
 */
async function firstCursor(run: MirrorRun, selection: Selection): Promise<string | undefined> {
  if (run.mirror.cursor !== null) return undefined
  const latest = await readLatest(run.source)
  if (latest === undefined || selection.kind === 'all') return latest
  if (!run.mirror.is_comparing) await beginComparison(run)
  await run.source.pause(SETTLE_MS)
  return latest
}

/** Copies again what earlier runs could not copy, and files that they left out. */
async function retry(run: MirrorRun): Promise<void> {
  const retries = await listRetries(run.deps.db, run.mirror.id, run.withFiles)
  if (retries.size === 0) return
  const projects = new Map([...retries.keys()].map((id) => [id, undefined]))
  const versions = new Map([...retries].map(([id, { versions: ids }]) => [id, new Set(ids)]))
  const incomplete = new Set([...retries].flatMap(([id, { isProject }]) => (isProject ? [id] : [])))
  await copyProjects(run, { projects, versions, incomplete })
}

/** Returns the projects that are new or have another revision, unless all are compared. */
async function changedOf(run: MirrorRun, selected: Selected, isComplete: boolean): Promise<Selected> {
  if (isComplete) return selected
  const origins = await listOrigins(run.deps.db, run.mirror.id, 'project', [...selected.keys()])
  return new Map([...selected].filter(([id]) => (origins.get(id)?.remote_revision ?? null) === null))
}

async function copiedIds({ deps, mirror }: MirrorRun): Promise<Set<string>> {
  const rows = await deps.db
    .selectFrom('origin')
    .select('remote_id')
    .where('mirror_id', '=', mirror.id)
    .where('kind', '=', 'project')
    .execute()
  return new Set(rows.map(({ remote_id }) => remote_id))
}

/** Begins a comparison with everything at the source: copies that it no longer has are found at its end. */
async function beginComparison(run: MirrorRun): Promise<void> {
  const { deps, mirror } = run
  Object.assign(mirror, { cursor: null, pass: mirror.pass + 1, is_comparing: true })
  if (run.isDryRun) return
  const { cursor, pass, is_comparing } = mirror
  await deps.db.updateTable('mirror').set({ cursor, pass, is_comparing }).where('id', '=', mirror.id).execute()
}

async function endComparison(run: MirrorRun): Promise<void> {
  run.mirror.is_comparing = false
  if (run.isDryRun) return
  await run.deps.db.updateTable('mirror').set({ is_comparing: false }).where('id', '=', run.mirror.id).execute()
}

/** Runs `act` while no other run of this mirror is in progress. The lock ends with the connection of a killed run. */
async function withLock<T>({ pool }: Pick<Deps, 'pool'>, address: string, act: () => Promise<T>): Promise<T> {
  return withConnection(pool, 'depot-mirror', async (client) => {
    const { rows } = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as is_mine', [
      `depot mirror ${address}`,
    ])
    if (rows[0]?.is_mine !== true) throw new OperatorError(`Another run of the mirror of ${address} is in progress`)
    return act()
  })
}

/** @throws OperatorError if no key of the source is one of those of the last run. */
function requireSameInstance(
  known: MirrorRow | undefined,
  keys: readonly string[],
  { address, acceptsNewKey }: Pick<MirrorOptions, 'address' | 'acceptsNewKey'>,
): void {
  const pinned = known?.instance_keys ?? []
  if (acceptsNewKey || pinned.length === 0 || keys.some((key) => pinned.includes(key))) return
  throw new OperatorError(
    `The source ${address} has become another instance: it has none of the keys that it had at the last run. Check the address; if the change is intended, run the command again with --accept-new-key.`,
  )
}

/** Creates the row of the mirror, or continues with it. Another selection compares everything. */
async function openMirror(
  { db }: Pick<Deps, 'db'>,
  {
    options,
    known,
    organizationId,
    keys,
  }: { options: MirrorOptions; known: MirrorRow | undefined; organizationId: string; keys: string[] },
): Promise<MirrorRow> {
  const { address, since, isDryRun, isAddition } = options
  if (isAddition === true && known !== undefined) return known
  const selection = JSON.stringify(options.selection)
  const mirror =
    isDryRun && known === undefined
      ? newMirror({ address, organizationId })
      : isDryRun && known !== undefined
        ? known
        : await upsertMirror(db, { address, organizationId, selection })
  const isSame = JSON.stringify(sorted(mirror.selection)) === JSON.stringify(sorted(options.selection))
  if (!isSame) Object.assign(mirror, { cursor: null, is_comparing: false })
  if (since !== undefined) Object.assign(mirror, { cursor: since, is_comparing: false })
  if (isDryRun) return mirror
  const { cursor, is_comparing } = mirror
  const columns = { selection, cursor, is_comparing, instance_keys: keys.length === 0 ? mirror.instance_keys : keys }
  await db.updateTable('mirror').set(columns).where('id', '=', mirror.id).execute()
  return mirror
}

/** The row of a mirror that has never run. */
function newMirror({ address, organizationId }: { address: string; organizationId: string }): MirrorRow {
  return {
    id: '',
    address,
    selection: {},
    organization_id: organizationId,
    instance_keys: [],
    cursor: null,
    pass: 0,
    is_comparing: false,
    runs: 0,
    created: new Date(0),
    last_run: null,
  }
}

/** PostgreSQL returns the keys of an object in another order. */
const sorted = (value: unknown): unknown[] => Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))

async function finish({ deps, mirror, report }: MirrorRun): Promise<void> {
  const { db } = deps
  await db
    .updateTable('mirror')
    .set({ runs: mirror.runs + 1, last_run: new Date(deps.now()) })
    .where('id', '=', mirror.id)
    .execute()
  if (report.projects + report.versions === 0) return
  const { projects, versions, files, skipped } = report
  await recordAudit(db, {
    action: 'mirror.run',
    actor: COMMAND,
    details: { address: mirror.address, projects, versions, files, skipped },
  })
}
