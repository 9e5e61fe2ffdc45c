// What a picture is uploaded for: which text of which project, version, report or message. The feature that owns the
// text says whether the caller may put pictures there.

import type { ScopeName } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { IMAGE_CONTEXTS, type ImageContext, type ImageTarget } from './queries.ts'
import type { ImageQuery } from './requests.ts'

/** How one kind of text takes pictures. */
export type ImageOwner = {
  /** A picture is part of writing such a text, and asks for the same scope. */
  scope: ScopeName
  /**
   * The ID of the text that `name` names.
   * @throws ApiError 404 for what the viewer does not see, 403 for what they cannot write in, `invalid_input` for what
   * takes no pictures now.
   */
  resolve(viewer: Viewer, name: string): Promise<string>
}
export type ImageOwners = Readonly<Record<ImageContext, ImageOwner>>

/**
 * The place that a request names; undefined when nothing uses the picture yet.
 * @throws ApiError as the owner of the context does, and `invalid_input` for the ID of another context.
 */
export async function resolveTarget(
  owners: ImageOwners,
  viewer: Viewer,
  query: ImageQuery,
): Promise<ImageTarget | undefined> {
  const { context } = query
  for (const other of IMAGE_CONTEXTS) {
    const key = `${other}_id` as const
    if (other !== context && query[key] !== undefined)
      throw invalidInput(`${key} does not go with the context ${context}`, key)
  }
  const name = query[`${context}_id`]
  return name === undefined ? undefined : { context, id: await owners[context].resolve(viewer, name) }
}
