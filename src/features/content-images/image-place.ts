// What a picture is uploaded for: which text of which project, version, report or message, and whether the caller may
// put pictures there.
import type { Db, Tx } from '#db/db.ts'
import { forbidden, invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { ScopeName } from '#lib/scopes.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import { isMember, type Membership } from '../projects/policy.ts'
import { getProjectAsMember } from '../projects/project-cache.ts'
import { getVisibleReport } from '../reports/queries.ts'
import { getReadableMessage } from '../threads/queries.ts'
import { getVersionAsMember, type VersionReader } from '../versions/version-cache.ts'
import { IMAGE_CONTEXTS, type ImageContext, type ImagePlace } from './queries.ts'
import type { ImageQuery } from './views.ts'

/** A picture is part of writing such a text, and asks for the same scope. */
export const CONTEXT_SCOPES: Readonly<Record<ImageContext, ScopeName>> = {
  project: 'PROJECT_WRITE',
  version: 'VERSION_WRITE',
  report: 'REPORT_WRITE',
  thread_message: 'THREAD_WRITE',
}

/**
 * The place that a request names; undefined when the picture is to wait until something uses it.
 * @throws ApiError 404 for what the viewer does not see, 403 for what he cannot write in, `invalid_input` for a closed
 * report, a message without text, and the ID of another context.
 */
export async function resolvePlace(
  reader: VersionReader,
  viewer: Viewer,
  query: ImageQuery,
): Promise<ImagePlace | undefined> {
  const { context } = query
  for (const other of IMAGE_CONTEXTS) {
    const key = `${other}_id` as const
    if (other !== context && query[key] !== undefined)
      throw invalidInput(`${key} does not go with the context ${context}`, key)
  }
  const name = query[`${context}_id`]
  if (name === undefined) return undefined
  return { context, id: await resolveName(reader, viewer, { context, name }) }
}

async function resolveName(
  reader: VersionReader,
  viewer: Viewer,
  { context, name }: { context: ImageContext; name: string },
): Promise<string> {
  switch (context) {
    case 'project': {
      const { project, membership } = await getProjectAsMember(reader, viewer, name)
      requireMember(viewer, membership)
      return project.id
    }
    case 'version': {
      const { version, membership } = await getVersionAsMember(reader, viewer, parseId(name, 'version_id'))
      requireMember(viewer, membership)
      return version.id
    }
    case 'report':
    case 'thread_message': {
      const id = parseId(name, `${context}_id`)
      await requireWritable(reader.db, viewer, { context, id })
      return id
    }
  }
}

function requireMember(viewer: Viewer, membership: Membership): void {
  if (!isMember(membership) && !isModerator(viewer)) throw forbidden('You are no member of this project')
}

/** Reports by their reporter while they are open, messages by their author, both by moderators at any time. */
async function requireWritable(
  db: Db,
  viewer: Viewer,
  { context, id }: { context: 'report' | 'thread_message'; id: string },
): Promise<void> {
  if (context === 'report') {
    const report = await getVisibleReport(db, viewer, id)
    if (report.closed && !isModerator(viewer)) throw invalidInput('This report is closed')
    return
  }
  const message = await getReadableMessage(db, viewer, id)
  if (message.author_id !== viewer.id && !isModerator(viewer)) throw forbidden('This is the message of another account')
  if (message.body.type !== 'text') throw invalidInput('This message has no text')
}

/**
 * Makes sure that the place is still there, and keeps it until the transaction ends: it was looked up before the
 * picture arrived, which takes its time.
 */
export async function lockPlace(tx: Tx, { context, id }: ImagePlace): Promise<void> {
  const row = await tx
    .selectFrom(context)
    .select(`${context}.id`)
    .where(`${context}.id`, '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (row === undefined) throw notFound(context)
}
